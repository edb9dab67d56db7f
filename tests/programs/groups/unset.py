"""Workers wait for an event that a thread of the program would set: it raises before."""

import multiprocessing
import threading


def coordinate(ready, table):
    if table["workers"]:  # @raise
        ready.set()


def work(ready):
    ready.wait()


if __name__ == "__main__":
    ready = multiprocessing.Event()
    threading.Thread(target=coordinate, args=(ready, {"worker": 2})).start()
    workers = [multiprocessing.Process(target=work, args=(ready,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
