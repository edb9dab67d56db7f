"""Fails the check whose name is given, because one part of a value is wrong."""

import sys


def shout(word, loud):
    if loud:  # @loud
        return f"[{word}!]"  # @shouted
    return f"[{word}]"


def write_words(write, words):
    for word in words:
        write(shout(word, word == "c"))


def joined():
    parts = []
    write_words(parts.append, ["a", "b", "c"])
    got = "|".join(parts)
    assert got == "[a]|[b]|[c]"


def bold(text):
    return "<b>" + text + "</b>"  # @bold


def cut():
    page = "<div> " + bold("x") + " </div>"
    got = page[5:-6].strip()
    expected = "<i>x</i>"
    if got != expected:
        raise ValueError(got)


def sizes():
    for size in (1, 2, 3):
        yield shout("n" * size, size > 2)


def nested():
    got = {"title": "t", "pages": ["p", " ".join(sizes()).replace("nn", "mm")]}
    assert got == {"title": "t", "pages": ["p", "[n] [mm] [mmn]"]}


def squares(numbers):
    return [one * one for one in numbers]


def counted():
    got = squares([1, 2, 4])  # @four
    assert got == [1, 4, 9]


def checked():
    for word in ("a", "b"):
        got = word + word.upper()
        expected = word + "A"
        assert got == expected  # @checked


globals()[sys.argv[1]]()
