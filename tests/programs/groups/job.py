"""A job of two ranks a host: all meet at one place, and rank 2 takes another branch, or fails.

job.py PORT [fail]; then rank 2 fails when the one who listens at PORT says so.
"""

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


def fail(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"2")
        connection.recv(1)
    raise ValueError("no luck")  # @fail


def work(rank: int, port: int) -> None:
    step = 120 if rank != ODD else 119
    is_odd = rank == ODD  # @branch
    if is_odd and "fail" in sys.argv:
        fail(port)
    if is_odd:
        save(step)
    all_reduce(step, port)


def launch(port: int) -> int:
    index = int(os.environ["DEBUGGER_HOST_INDEX"])
    ranks = [
        subprocess.Popen(
            [sys.executable, __file__, str(port), *sys.argv[2:]],
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
