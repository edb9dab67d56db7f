"""Decodes the records of calls and returns."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from debugger.backends.inprocess.engine.engine_events import FunctionCalled, FunctionReturned

# Ready, function, thread, kind; the time in ns; six words; two halves of vectors; texts.
RECORD: Final = struct.Struct("<4IQ6Q2Q40s")
ENTERED, LEFT, JUMPED, SKIPPED = range(4)
"""Kinds of records; of one SKIPPED the first word is how many calls of the function were, so far.
"""
WORDS, REALS, TEXTS = 5, 11, 13
"""Where in a record the words, the halves of vectors and the texts begin."""


def unpack_records(data: bytes) -> Iterator[FunctionCalled | FunctionReturned]:
    """Give each record of a batch by itself."""
    for _, function, thread, kind, ns, *words, real0, real1, texts in RECORD.iter_unpack(data):
        common = {"function": function, "thread": thread, "time": ns / 1e3}
        reals = (real0, real1)
        if kind == ENTERED:
            yield FunctionCalled(arguments=tuple(words), reals=reals, texts=texts, **common)
        elif kind != SKIPPED:
            yield FunctionReturned(
                value=words[0],
                took=words[1] / 1e3,
                second=words[2],
                reals=reals,
                **common,
            )
