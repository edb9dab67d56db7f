"""Members that wait for each other in threads other than their main ones.

waits.py threads FILE: each comes to a barrier but 2 and 4, which join a thread: the one waits for
FILE's lock, which a thread of 3 holds, the other for a message. waits.py feeder: the program joins
processes whose queue it does not read. waits.py held FILE: waits for FILE's lock alone.
"""

import fcntl
import multiprocessing
import socket
import sys
import threading


def hold(file, ready):
    fcntl.flock(file, fcntl.LOCK_EX)
    ready.set()
    threading.Event().wait()  # @holds


def load(path, ready):
    ready.wait()
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # @loads


def receive(connection, _other_end):
    connection.recv(1)  # @receives


def work(rank, barrier, target, words):
    if target is not None:
        thread = threading.Thread(target=target, args=words, name=target.__name__)
        thread.start()
        if target is not hold:
            thread.join()  # @joins
    barrier.wait()  # @meet


def fill(queue):
    for _ in range(100):
        queue.put(b"x" * 10_000)


def run_threads(context, path):
    ready, ends, file = context.Event(), socket.socketpair(), open(path, "w")
    tasks = [(None, ()), (load, (path, ready)), (hold, (file, ready)), (receive, ends)]
    barrier = context.Barrier(len(tasks))
    return [
        context.Process(target=work, args=(rank, barrier, *task)) for rank, task in enumerate(tasks)
    ]


def main(mode, path="", context=multiprocessing.get_context("fork")):
    if mode == "held":
        return load(path, threading.Barrier(1))
    queue = context.Queue()
    if mode == "feeder":
        members = [context.Process(target=fill, args=(queue,)) for _ in range(2)]
    else:
        members = run_threads(context, path)
    for one in members:
        one.start()
    print("all started", flush=True)
    for one in members:
        one.join()  # @ends


if __name__ == "__main__":
    main(*sys.argv[1:])
