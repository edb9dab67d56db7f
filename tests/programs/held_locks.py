"""Functions that call `look` with a lock, or with none."""

import threading

LOCK, OTHER, THIRD = threading.Lock(), threading.Lock(), threading.Lock()


def plain(function):
    return function


class Store:
    @plain
    def save(self, look):
        text = """
at the margin"""
        with LOCK:
            return look(
                text
            )

    def load(self, look):
        return look()


@plain
def take(look):
    def inside():
        return look()

    OTHER.acquire()
    return inside(), look()


def free(look):
    THIRD.acquire()
    THIRD.release()
    return look()


def ask(look):
    with LOCK: return [look() for _ in range(1)]  # fmt: skip
