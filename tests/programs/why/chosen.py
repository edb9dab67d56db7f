"""Results of functions of the interpreter with several operands, of which one is the data."""

import random
import re
import struct


def read_sizes(data, count):
    form = ">" + "H" * count
    sizes = struct.unpack(form, data[: 2 * count])
    last = sizes[-1]
    return last


def find_word(text, pattern):
    found = re.search(pattern, text)
    return found.group(1)


def largest(first, second, limit):
    return max(first, second, limit)


def pick(names, generator):
    return generator.choice(names)


def field(line, separator, at):
    return line.split(separator)[at]


packed = bytes([0, 7, 0, 9, 0, 1])
size = read_sizes(packed, 2)
word = find_word("key=left;", "=(.*);")
most = largest(3, 8, 5)
name = pick(["left", "right"], random.Random(4))
part = field("a,bcd,e", ",", 1)
print(size, word, most, name, part)
