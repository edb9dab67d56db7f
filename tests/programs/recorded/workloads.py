"""Kinds of programs whose recordings cost differently; each runs about half a second alone."""

import asyncio
import json
import queue
import sys
import threading


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def loops(n):
    total = 0
    for number in range(n):
        square = number * number
        if square % 7 == 3:
            total += square
        else:
            total -= number
        if total == -1:
            print("never")
    return total


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def add(self, other):
        return Point(self.x + other.x, self.y + other.y)


def allocate(n):
    point, step, kept = Point(0, 0), Point(1, 2), []
    for number in range(n):
        point = point.add(step)
        if number % 10 == 0:
            kept.append({"number": number, "point": point, "row": [number] * 5})
    return len(kept), point.x


def split_words(text):
    words, word = [], ""
    for letter in text:
        if letter.isalnum():
            word += letter
        else:
            if word:
                words.append(word)
            word = ""
    return words


def classify(word):
    if word.isdigit():
        return "number"
    if word[0].isupper():
        return "name"
    if word.startswith("~"):
        return "never"
    return "word"


def parse(n):
    counts = {}
    for _ in range(n):
        for word in split_words("The quick brown 123 fox jumps Over 45 lazy dogs now"):
            kind = classify(word)
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def library(n):
    value = {"a": [1, 2, {"b": 3}] * 5}
    return sum(len(json.dumps(json.loads(json.dumps(value, indent=1)))) for _ in range(n))


def count_up(n):
    for number in range(n):
        yield number


def shift(numbers):
    for number in numbers:
        yield number + 1


def generate(n):
    return sum(sum(shift(shift(count_up(20)))) for _ in range(n))


def convert(word):
    if word == "x":
        raise ValueError(word)
    return int(word)


def convert_or_none(word):
    try:
        return convert(word)
    except ValueError:
        return None


def fail_often(n):
    return sum(convert_or_none(word) is None for _ in range(n) for word in "1x2x")


async def read_number(number):
    if number % 10 == 0:
        await asyncio.sleep(0)
    return number


async def add_up(n):
    return sum([await read_number(number) + 1 for number in range(n)])


def wait_often(n):
    return asyncio.run(add_up(n))


def answer_all(requests, answers):
    while (number := requests.get()) is not None:
        answers.append(fib(number))


def share(n):
    requests, answers = queue.Queue(), []
    workers = [threading.Thread(target=answer_all, args=(requests, answers)) for _ in range(4)]
    for number in (*[12] * n, *[None] * len(workers)):
        requests.put(number)
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(answers)


KINDS = {
    "recursion": (fib, 32),
    "loops": (loops, 5_000_000),
    "objects": (allocate, 1_200_000),
    "parser": (parse, 90_000),
    "library": (library, 15_000),
    "generators": (generate, 60_000),
    "exceptions": (fail_often, 250_000),
    "coroutines": (wait_often, 300_000),
    "threads": (share, 7_000),
}
run, size = KINDS[sys.argv[1]]
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
    print(run(size))
