class Box:
    def __init__(self, content):
        self.content = content


def read_limit():
    return 41


def wrap(value):
    box = Box(value)
    return box


def unwrap(box):
    return box.content


def main():
    limits = [read_limit()]
    table = {"limit": limits[0]}
    box = wrap(table["limit"])
    pair = (unwrap(box), "unused")
    first, _ = pair
    print(first)


main()
