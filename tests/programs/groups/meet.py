"""Workers of multiprocessing that add up, and meet at a barrier; one of them is slow."""

import multiprocessing
import sys
import threading


def add(worker, rounds, gate):
    total = 0
    for i in range(rounds):
        total += i * worker  # @add
        if worker == 3 and i == 1:
            gate.wait()  # @slow
    return total  # @total


def work(worker, barrier, gate):
    result = add(worker, 3, gate)
    barrier.wait()  # @meet
    print(f"worker {worker}: {result}", flush=True)


if __name__ == "__main__":
    count = int(sys.argv[1])
    context = multiprocessing.get_context("fork")
    barrier, gate = context.Barrier(count), context.Event()
    workers = [context.Process(target=work, args=(n, barrier, gate)) for n in range(count)]
    for one in workers:
        one.start()
    threading.Thread(target=lambda: sys.stdin.readline() and gate.set()).start()
    for one in workers:
        one.join()
