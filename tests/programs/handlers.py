"""Handles exceptions in except, with and finally, and lets one out of a function."""

import contextlib


def parse(text):
    return int(text)


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def main():
    try:
        parse("a")  # @first
    except ValueError:
        pass
    with Swallows():
        parse("b")
    try:
        parse("c")
    finally:
        print("at last")


with contextlib.suppress(ValueError):
    main()
print("end")
