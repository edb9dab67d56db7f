"""Values that are written to a buffer in memory, and read again."""

import copy
import io
import struct


def save(rows, buffer):
    head = struct.pack(">H", len(rows))
    buffer.write(head)
    numbers = []
    for name, size in rows:
        numbers.extend([size, len(name)])
    body = struct.pack(">" + "H" * len(numbers), *numbers)
    body = body + b"\0"
    buffer.write(body)


def load(buffer):
    (count,) = struct.unpack(">H", buffer.read(2))
    data = buffer.read(4 * count)
    numbers = struct.unpack(">" + "H" * 2 * count, data)
    return list(zip(numbers[::2], numbers[1::2]))


def last_of(rows, count):
    some = rows[1:count]
    return some[-1]


saved = io.BytesIO()
save([("a", 300), ("bc", 417)], saved)
again = io.BytesIO(saved.getvalue())
pairs = load(again)
size, length = pairs[1]
text = io.StringIO()
text.write("first line\n")
word = "second"
text.write(word)
text.seek(11)
part = text.read(3)
place = "left of the door"
notes = io.StringIO()
notes.write(place)
same = copy.copy(notes)
same.seek(0)
words = same.read()
rows = [["a", 1], ["b", 2], ["c", 3]]
name, number = last_of(rows, 2)
print(size, length, part, name, number, words)
