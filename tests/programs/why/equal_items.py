"""Items that are equal: two sevens in a queue, of which the first is taken first."""

from collections import deque


def first() -> int:
    return 7


def second() -> int:
    return 7


waiting = deque([1])
waiting.append(first())
waiting.append(second())
waiting.popleft()
earlier = waiting.popleft()
later = waiting.popleft()
assert earlier != later
