"""Ranks that compute without an end, and a program that waits for them."""

import multiprocessing as mp
import sys


def work(rank):
    while True:
        rank += 1


if __name__ == "__main__":
    context = mp.get_context("fork")
    members = [context.Process(target=work, args=(rank,)) for rank in range(int(sys.argv[1]))]
    for one in members:
        one.start()
    for one in members:
        one.join()
