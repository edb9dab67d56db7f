"""Looks values up in a table, to which its test adds a thousand rows."""


def pick(n):
    table = {
        # rows
    }
    found = []
    for one in range(n):
        try:
            if one % 2:
                found.append(table[one])
            elif one > 4_000:
                found.append("large")
            else:
                found.append(table[-one])
        except KeyError:
            continue
        while len(found) > 2:
            found.pop()
    return [
        one
        for one in found
        if one
    ]  # fmt: skip


if __name__ == "__main__":
    print(len(pick(9)))
