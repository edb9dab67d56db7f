import collections, datetime, decimal, enum, fractions, pathlib, types
from unittest import mock


class Own:
    __slots__ = ()

    def __repr__(self):
        raise SystemExit("is not to be called")


class Decimal(decimal.Decimal):
    def __repr__(self):
        raise SystemExit("is not to be called")


class Money(float):
    pass


class Color(enum.Enum):
    RED = 1


send = mock.Mock(name="send", return_value=3)
send(1, to="x")


def take(value):
    pass


for value in [
    decimal.Decimal("1.10"), fractions.Fraction(1, 3), datetime.date(2024, 1, 2),
    datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), pathlib.PurePosixPath("/x"),
    collections.deque([1, 2]), collections.Counter("aab"), bytearray(b"ab"), Color.RED,
    types.SimpleNamespace(a=1), send, Money(1.5), Own(), Decimal("2"),
]:
    take(value)
