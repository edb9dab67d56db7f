"""Decodes the records that machine code writes at a logpoint."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from debugger.backends.inprocess.engine.engine_events import RecordLogged

WORDS: Final = 12
"""How many values there is room for."""
# Ready, point, thread; the time in ns, which hit it is; the values.
RECORD: Final = struct.Struct(f"<III4xQQ{WORDS}Q")


def unpack_records(data: bytes, names: Sequence[str], first: int) -> Iterator[RecordLogged]:
    """Give each record of a batch by itself; `first` is the number of the first in the sequence.

    `names` are those of the points, by the numbers that the records have.
    """
    rows = enumerate(RECORD.iter_unpack(data), first)
    for sequence, (_, point, thread, ns, hits, *words) in rows:
        yield RecordLogged(
            point=names[point],
            thread=thread,
            hits=hits,
            values=tuple(words),
            time=ns / 1e3,
            sequence=sequence,
        )
