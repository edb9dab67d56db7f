import struct
import sys


def read_record(file):
    head = file.read(4)
    body = file.read(8)
    return head, body


def decode(body):
    flags = body[2]
    size = struct.unpack("<H", body[4:6])[0]
    return flags, size


def main(path):
    with open(path, "rb") as file:
        for _ in range(2):
            head, body = read_record(file)
        flags, size = decode(body)
        print(head, flags, size)


main(sys.argv[1])
