"""A sum is changed in a generator, in a thread and in a child process."""

import os
import threading


class Sum:
    def __init__(self):
        self.n = 0

    def up(self, by):
        self.n += by


def steps(one):
    for _ in range(5):
        one.up(1)
        yield one.n


one = Sum()
list(steps(one))
thread = threading.Thread(target=one.up, args=(5,))
thread.start()
thread.join()
if os.fork() == 0:
    one.up(100)
    os._exit(0)
os.wait()
