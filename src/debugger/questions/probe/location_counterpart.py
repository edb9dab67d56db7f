"""Finds the location in another run's sources that corresponds to the requested one.

A place is given once. Of a file that lies below both programs' folders each run has its own; a
line is that of the first run, or of the saved one, and is found in the other's text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from debugger.model import answers
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.recordings import function_lookup
from debugger.recorders import source_counterparts


def counterpart_file(file: str, roots: Sequence[str], others: Sequence[str]) -> str:
    """Return the file that lies below the other's roots where this one lies below its own."""
    fitting = [root for root in roots if file.startswith(root.rstrip("/") + "/")]
    if not fitting:
        return file
    root = max(fitting, key=len)
    if root in others:
        return file
    inside = os.path.relpath(file, root)
    found = (str(Path(one, inside)) for one in others if one not in roots)
    return next((one for one in found if Path(one).is_file()), file)


def counterpart_points(
    wanted: Sequence[ProbePoint],
    first: Sequence[answers.ProbePlace],
    roots: Sequence[str],
    others: Sequence[str],
) -> tuple[list[ProbePoint], list[str]]:
    """Return the places of the other run, and what to say of those whose line it does not have.

    `first` are those of the run that is known already, below `roots`.
    """
    found, notes = [], []
    for one, known in zip(wanted, first, strict=True):
        file, line = one.spec.file, one.spec.line
        if file is None or line is None or known.file is None or known.line is None:
            found.append(one)
            continue
        file = counterpart_file(file, roots, others) if file == known.file else file
        there = _counterpart_line(known.file, known.line, file)
        if there is None:
            notes.append(f"{one.asked}: that line is not in the other source, whose line is taken")
        spec = structs.replace(one.spec, file=file, line=there or line)
        found.append(structs.replace(one, spec=spec))
    return found, notes


def _counterpart_line(file: str, line: int, other: str) -> int | None:
    text, there = function_lookup.lines_of(file), function_lookup.lines_of(other)
    if file == other or text == there or not text or not there:
        return line
    return source_counterparts.match_lines(text, there).get(line)
