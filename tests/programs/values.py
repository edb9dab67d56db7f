"""Values of many shapes and sizes, all of them locals at the marker."""

from __future__ import annotations

from dataclasses import dataclass, field


class Item:
    def __init__(self, number: int) -> None:
        self.number = number
        self.name = f"item {number}"


class Hostile:
    def __repr__(self) -> str:
        message = "no text for you"
        raise RuntimeError(message)


@dataclass
class Order:
    number: int
    items: list[str] = field(default_factory=list)
    note: str | None = None


def main() -> None:
    items = [Item(number) for number in range(200)]
    nested = {"user": {"name": "ada", "tags": ["x", "y"]}, 7: (1, 2), (1, 2): {"deep": {"er": 1}}}
    many = list(range(100_000))
    table = {f"key {number}": number for number in range(100_000)}
    itself: list[object] = [1, 2]
    itself.append(itself)
    big = "x" * 100_000_000
    hostile = Hostile()
    order = Order(1, ["apple", "pear"])
    pair = ("left", 2.5)
    primes = {2, 3, 5, 7}
    raw = b"\x00\xffbytes"
    text = "tab\tnewline\nquote' snowman \u2603"
    nothing = None
    empty: list[int] = []
    print(len(items), len(nested), len(many), len(table), len(itself), len(big))  # @ready
    print(type(hostile).__name__, order, pair, sorted(primes), raw, len(text), nothing, empty)


if __name__ == "__main__":
    main()
