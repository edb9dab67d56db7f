"""Starts one worker; both wait until they are ended."""

import multiprocessing as mp
import threading


def work():
    number = 1  # @meet
    threading.Event().wait(number * 1000)


if __name__ == "__main__":
    worker = mp.get_context("fork").Process(target=work)
    worker.start()
    worker.join()
