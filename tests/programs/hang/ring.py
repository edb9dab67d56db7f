"""Counts the nodes of a list that a wrong insertion has made a ring."""


class Node:
    def __init__(self, name):
        self.name = name
        self.next = None


def append(last, node):
    last.next = node
    return node


def insert_before(node, new):
    new.next = node
    node.next = new


def count(node):
    total = 0
    while True:
        total += 1
        if node.next is None:
            break
        node = node.next
    return total


def main():
    first = Node("a")
    second = append(first, Node("b"))
    append(append(first, Node("c")), Node("d"))
    print(count(first))
    insert_before(second, Node("e"))
    print(count(second))


main()
