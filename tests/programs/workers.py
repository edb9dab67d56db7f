"""Starts workers: fork, spawn, forkserver, os.fork, pool, subprocess, shell, or lasting ones."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

KINDS = ("fork", "spawn", "forkserver")


def work(number: int) -> int:
    twice = number * 2
    return twice  # @work


def count(name: str, until: str) -> None:
    turns = 0
    while not Path(until).exists():
        turns += 1  # @turn
    print(f"{name} counted", flush=True)  # @counted


def started(kind: str, target: object, arguments: list[tuple[object, ...]]) -> list[int | None]:
    made = multiprocessing.get_context(kind)
    processes = [made.Process(target=target, args=each) for each in arguments]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    return [one.exitcode for one in processes]


def forked() -> int:
    child = os.fork()
    if not child:
        work(3)
        os._exit(4)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(kind: str, *more: str) -> None:
    if kind in KINDS:
        print("ended", started(kind, work, [(1,), (2,)]), flush=True)
    elif kind == "os.fork":
        print("ended", forked(), flush=True)
    elif kind == "pool":
        with ProcessPoolExecutor(2) as pool:
            print("ended", list(pool.map(work, [1, 2, 3])), flush=True)
    elif kind == "subprocess":
        subprocess.run([sys.executable, __file__, "one"], check=True)
    elif kind == "shell":
        subprocess.run(f"{sys.executable} {__file__} one; cat", shell=True, check=True)
    elif kind == "lasting":
        print("ended", started("fork", count, [("a", more[0]), ("b", more[0])]), flush=True)
    elif kind == "behind":
        subprocess.Popen([sys.executable, __file__, "alone", more[0]])
        print("parent ends", flush=True)
    elif kind == "alone":
        count("child", more[0])
    else:
        print(work(7), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
