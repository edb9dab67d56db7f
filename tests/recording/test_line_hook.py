"""A hook in a line's code is taken exactly where a trace function would have the line's event."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

import debugger.recorders.python as python_recorder
from recording.recorders import PROGRAMS

INSIDE = Path(python_recorder.__file__).parent / "inside"
SOURCE = (PROGRAMS / "line_kinds.py").read_text()


def load_part(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, INSIDE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    part = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(part)
    return part


class CountedHits:
    """An iterator that counts how often one was taken."""

    def __init__(self) -> None:
        self.count = 0

    def __iter__(self) -> Iterator[None]:
        return self

    def __next__(self) -> None:
        self.count += 1


def lines_of(code: CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line}


def add_hooks(code: CodeType, line: int, hits: Any, parts: tuple[Any, Any]) -> CodeType:
    inner = (
        add_hooks(one, line, hits, parts) if isinstance(one, CodeType) else one
        for one in code.co_consts
    )
    made = code.replace(co_consts=tuple(inner))
    numbered_code, bytecode = parts
    if line not in lines_of(code):
        return made
    hooked: CodeType = numbered_code.add_line_hook(made, line, hits, bytecode)
    return hooked


def trace_lines(code: CodeType, names: dict[str, Any]) -> Counter[int]:
    found: Counter[int] = Counter()

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != "sample.py":
            return None
        found[frame.f_lineno] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(code, names)
    finally:
        sys.settrace(before)
    return found


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the bytecode of 3.11")
def test_a_hook_is_taken_wherever_its_line_begins() -> None:
    numbered_code, bytecode = load_part("numbered_code"), load_part("bytecode")
    bytecode.begins_line = load_part("line_edges").begins_line
    parts = (numbered_code, bytecode)
    code = compile(SOURCE, "sample.py", "exec")
    plain: dict[str, Any] = {}
    traced = trace_lines(code, plain)
    taken: Counter[int] = Counter()
    for line in range(1, SOURCE.count("\n") + 1):
        hits, names = CountedHits(), dict[str, Any]()
        exec(add_hooks(code, line, hits, parts), names)
        assert names["found"] == plain["found"]
        taken[line] = hits.count
    assert +taken == +traced
