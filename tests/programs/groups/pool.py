"""Workers of a pool, of which one fails: pool.py segv | exit | killed | raise | task | none."""

import concurrent.futures
import ctypes
import multiprocessing
import os
import signal
import sys
import time


def work(item):
    time.sleep(0.5)  # until all have begun
    if item == 2 and sys.argv[1] == "segv":
        ctypes.string_at(0)
    if item == 2 and sys.argv[1] == "exit":
        os._exit(3)  # @exit
    if item == 2 and sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)  # @killed
    if item == 2 and sys.argv[1] in {"raise", "task"}:
        raise ValueError("bad item")  # @raise
    time.sleep(0.5 if sys.argv[1] in {"none", "task"} else 20)
    return item


def run_processes():
    started = [multiprocessing.Process(target=work, args=(item,)) for item in range(4)]
    for one in started:
        one.start()
    started[2].join()
    for one in started:
        one.terminate()
        one.join()
    sys.exit(started[2].exitcode)


if __name__ == "__main__":
    if sys.argv[1] == "raise":
        run_processes()
    # What is spawned begins as `python -c`.
    how = multiprocessing.get_context("spawn" if sys.argv[1] == "killed" else "fork")
    all_begun = how.Barrier(4)
    with concurrent.futures.ProcessPoolExecutor(4, how, all_begun.wait) as pool:
        # The executor (Python 3.11) awaits the workers that there were at the last result.
        list(pool.map(int, range(4)))
        print(list(pool.map(work, range(4))))  # @map
