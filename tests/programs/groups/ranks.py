"""Ranks meet at a barrier in each step; one of them takes another branch, and waits for a queue."""

import multiprocessing as mp
import sys
import time

ODD_RANK = 2
ODD_STEP = 1


def take_step(rank, step, barrier, queue):
    if rank == ODD_RANK and step == ODD_STEP:
        queue.get()  # @odd
    barrier.wait()  # @meet
    time.sleep(0.01)


def work(rank, barrier, queue):
    for step in range(3):
        take_step(rank, step, barrier, queue)


if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    count = int(sys.argv[2])
    barrier, queue = context.Barrier(count), context.Queue()
    members = [context.Process(target=work, args=(rank, barrier, queue)) for rank in range(count)]
    for one in members:
        one.start()
    print("all started", flush=True)
    for one in members:
        one.join()  # @join
