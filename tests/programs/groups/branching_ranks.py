"""Ranks that take steps together; one of them takes another branch in one step, and all end."""

import multiprocessing as mp

ODD_RANK = 2
ODD_STEP = 1


def take_step(rank, step, barrier):
    if rank == ODD_RANK and step == ODD_STEP:  # @branch
        value = 0  # @odd
    else:
        value = 1  # @usual
    barrier.wait()
    return value


def work(rank, barrier):
    if rank == 0:  # @task
        print("rank 0 reports", flush=True)
    for step in range(3):
        take_step(rank, step, barrier)


if __name__ == "__main__":
    context = mp.get_context("fork")
    barrier = context.Barrier(4)
    members = [context.Process(target=work, args=(rank, barrier)) for rank in range(4)]
    for one in members:
        one.start()
    for one in members:
        one.join()
