"""Counts what a generator yields of a ring; no text of a node comes to its end."""


class Node:
    def __init__(self, name):
        self.name = name
        self.next = None

    def __repr__(self):
        return f"{self.name} {self.next!r}" if self.next is None else self.walk()

    def walk(self):
        node = self
        while node is not None:
            node = node.next
        return self.name


def chain(node):
    while node is not None:
        after = node.next
        yield node
        node = after


def count(node):
    total = 0
    for one in chain(node):
        total += 1
    return total


first, second = Node("a"), Node("b")
first.next = second
second.next = first
count(first)
