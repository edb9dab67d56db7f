"""A job of two ranks a host: all meet at one place, and rank 2 takes another branch."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading

RANKS = 2
ODD = 2


def all_reduce(step: int, port: int) -> int:
    # The other side takes the connection, and never answers.
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.recv(1)  # @meet
    return step


def save(step: int) -> None:
    print(f"saving {step}", flush=True)
    threading.Event().wait()  # @odd


def work(rank: int, port: int) -> None:
    step = 120 if rank != ODD else 119
    is_odd = rank == ODD  # @branch
    if is_odd:
        save(step)
    all_reduce(step, port)


def launch(port: int) -> int:
    index = int(os.environ["DEBUGGER_HOST_INDEX"])
    ranks = [
        subprocess.Popen(
            [sys.executable, __file__, str(port)],
            env={**os.environ, "RANK": str(RANKS * index + number)},
        )
        for number in range(RANKS)
    ]
    return max(one.wait() for one in ranks)  # @launcher


if __name__ == "__main__":
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), int(sys.argv[1]))
    else:
        sys.exit(launch(int(sys.argv[1])))
