"""Places counters in Go sources, and reads from them the functions and lines that ran.

Counters live in files mapped into memory, so counts survive a panic, a signal and a deadlock. At
the start and at the end of a recording window all counter files are copied, once in the life of a
process. Packages that contain such a location need not know of each other, because the files alone
hold the window's state.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from debugger.recorders.counted_recording import CoveredFunction, only_known
from debugger.recorders.model import BranchCount, FunctionPlace, RecordingWindow, SourcePart

FOLDER = "DEBUGGER_COUNTED"
_BEGIN, _END, _EDGES = "begin", "end", "edges"
_DONE = 2
_HALF = 1 << 31
_TEXT = """package {package}

import (
\t"os"
\t"strconv"
\t"strings"
\t"sync/atomic"
\t"syscall"
\t"unsafe"
)

type debuggerCounts struct{{ Count []uint32 }}

var debuggerFolder = os.Getenv("{folder}")
var debuggerEdges = debuggerCounted("{edges}", 2).Count

func debuggerCounted(number string, parts int) debuggerCounts {{
\tif held := debuggerMapped(number, parts); held != nil {{
\t\treturn debuggerCounts{{held}}
\t}}
\treturn debuggerCounts{{make([]uint32, parts)}}
}}

func debuggerMapped(number string, parts int) []uint32 {{
\tif debuggerFolder == "" || parts == 0 {{
\t\treturn nil
\t}}
\tname := debuggerFolder + "/" + strconv.Itoa(os.Getpid()) + "-" + number
\tfile, failed := syscall.Open(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC, 0600)
\tif failed != nil {{
\t\treturn nil
\t}}
\tdefer syscall.Close(file)
\tif syscall.Ftruncate(file, int64(4*parts)) != nil {{
\t\treturn nil
\t}}
\tshared := syscall.PROT_READ | syscall.PROT_WRITE
\theld, failed := syscall.Mmap(file, 0, 4*parts, shared, syscall.MAP_SHARED)
\tif failed != nil {{
\t\treturn nil
\t}}
\treturn (*[1 << 26]uint32)(unsafe.Pointer(&held[0]))[:parts:parts]
}}

// A place is passed where the counting ends (2), or begins (1). isAhead: its block is yet to be
// counted, and is to be with what ends there.
func debuggerPassed(edges uint32, count *uint32, isAhead bool) {{
\tfirst, last := debuggerEdges[0], debuggerEdges[1]
\tif edges&1 != 0 && first == 0 || edges&2 != 0 && first == {done} && last == 0 {{
\t\tdebuggerMet(edges, count, isAhead)
\t}}
}}

func debuggerMet(edges uint32, count *uint32, isAhead bool) {{
\theld := debuggerEdges
\tif edges&2 != 0 && atomic.LoadUint32(&held[0]) == {done} {{
\t\tif atomic.CompareAndSwapUint32(&held[1], 0, 1) {{
\t\t\tif isAhead {{
\t\t\t\t*count++
\t\t\t}}
\t\t\tif debuggerCopied("{end}") {{
\t\t\t\tatomic.StoreUint32(&held[1], {done})
\t\t\t}}
\t\t\tif isAhead {{
\t\t\t\t*count--
\t\t\t}}
\t\t}}
\t}}
\tif edges&1 != 0 && atomic.CompareAndSwapUint32(&held[0], 0, 1) {{
\t\tif debuggerCopied("{begin}") {{
\t\t\tatomic.StoreUint32(&held[0], {done})
\t\t}}
\t}}
}}

func debuggerCopied(edge string) bool {{
\tfound, failed := os.ReadDir(debuggerFolder)
\tif failed != nil {{
\t\treturn false
\t}}
\town := strconv.Itoa(os.Getpid()) + "-"
\tfor _, one := range found {{
\t\tif !strings.HasPrefix(one.Name(), own) {{
\t\t\tcontinue
\t\t}}
\t\theld, failed := os.ReadFile(debuggerFolder + "/" + one.Name())
\t\tif failed != nil {{
\t\t\treturn false
\t\t}}
\t\tcopied := debuggerFolder + "/" + edge + "-" + one.Name()
\t\tif os.WriteFile(copied, held, 0600) != nil {{
\t\t\treturn false
\t\t}}
\t}}
\treturn true
}}
"""


class CounterFiles(Struct):
    """The counter files of one process.

    Only `find_counter_files` changes an instance.
    """

    has_begun: bool = False
    has_ended: bool = False
    # By window edge and source number; the edge "" has the final counts.
    files: dict[str, dict[int, Path]] = field(default_factory=dict)

    def read_counts(self, number: int) -> array[int] | None:
        """Return the count of each block of a source: in total, or within the window."""
        last = self._read_counter(_END if self.has_ended else "", number)
        before = self._read_counter(_BEGIN, number) if self.has_begun else None
        if last is None or before is None:
            return last
        # Threads that count at the same moment may set a counter back.
        some = [(new - old) % (2 * _HALF) for new, old in zip(last, before, strict=False)]
        return array("I", [one if one < _HALF else 0 for one in some])

    def _read_counter(self, edge: str, number: int) -> array[int] | None:
        path = self.files.get(edge, {}).get(number)
        return _read_numbers(path) if path is not None else None


def text_of(package: str) -> str:
    """Return the Go source that creates the counters of a package."""
    return _TEXT.format(
        package=package, folder=FOLDER, edges=_EDGES, done=_DONE, begin=_BEGIN, end=_END
    )


def find_counter_files(folder: Path) -> Mapping[int, CounterFiles]:
    """Return the counter files of each process in the folder."""
    found: dict[int, CounterFiles] = {}
    for path in sorted(folder.iterdir()):
        *edge, process, number = ["", *path.name.split("-")]
        if not process.isdigit():
            continue
        one = found.setdefault(int(process), CounterFiles())
        if number.isdigit():
            one.files.setdefault(edge[-1], {})[int(number)] = path
        elif number == _EDGES and not edge[-1]:
            begun, ended, *_ = [
                *_read_numbers(path),
                0,
                0,
            ]  # it was ended before it had made the file
            one.has_begun, one.has_ended = begun == _DONE, ended == _DONE
    return found


def _read_numbers(path: Path) -> array[int]:
    times = array("I")
    content = path.read_bytes()
    times.frombytes(content[: len(content) // times.itemsize * times.itemsize])
    return times


_PLACES = re.compile(r"(\d+), (\d+), 0x([0-9a-f]+), // \[\d+\]")
_HEADER = re.compile(
    r"func\s+(?:\(\s*(?:\w+\s+)?\*?\s*(?P<of>\w+)(?:\[[^\]]*\])?\s*\)\s*)?(?P<name>\w+)"
)
_NOTHING = re.compile(r"[\s{}()\[\];,]*\Z")
_COMMENT = ("//", "/*")
_COLUMN = 0xFFFF
_IF = re.compile(r"\s*(?:\}\s*else\s+)?if\b")
_OTHER_HEAD = re.compile(r"\s*(?:for|switch|select|case|default|func|\w+:)\b")


class CoverBlock(NamedTuple):
    """Statements that ran equally often, from one line and byte column to another."""

    start: tuple[int, int]
    end: tuple[int, int]
    times: int = 0


def with_counters(text: str, name: str, made_by: str) -> tuple[str, tuple[CoverBlock, ...]]:
    """Return a source with counters from a Go expression, and its blocks.

    `text` is the cover tool's output with the tool's own counters, which are lost at a crash.
    """
    before, declared, after = text.rpartition(f"\nvar {name} = struct {{")
    if not declared:
        return text, ()
    places = [
        CoverBlock((int(first), int(word, 16) & _COLUMN), (int(last), int(word, 16) >> 16))
        for first, last, word in _PLACES.findall(after)
    ]
    return f"{before}\nvar {name} = {made_by}\n", tuple(places)


def read_covered(
    file: str, blocks: Sequence[CoverBlock], text: Sequence[str]
) -> list[CoveredFunction]:
    """Return the executed functions of a file in the order of the source."""
    known = function_headers(text)
    begins = [number for number, _ in known]
    groups: dict[int, list[CoverBlock]] = {}
    for block in sorted(blocks):
        groups.setdefault(bisect_right(begins, block.start[0]) - 1, []).append(block)
    return [
        only_known(
            CoveredFunction(
                known[at][1],
                file,
                known[at][0],
                some[0].times,
                _count_parts(some, text),
                branches=tuple(_count_conditions(some, text)),
            )
        )
        for at, some in groups.items()
        if at >= 0 and any(one.times for one in some)
    ]


def function_headers(text: Sequence[str]) -> list[tuple[int, str]]:
    """Return the line and the name of each function of a file; of a method, with its type."""
    return [
        (number, f"{one['of']}.{one['name']}" if one["of"] else one["name"])
        for number, line in enumerate(text, 1)
        if (one := _HEADER.match(line)) is not None
    ]


def _count_parts(known: Sequence[CoverBlock], text: Sequence[str]) -> tuple[SourcePart, ...]:
    """Count each line by the block at its first character, the last that begins there."""
    times: dict[int, int] = {}
    for block in known:
        for number in range(block.start[0], min(block.end[0], len(text)) + 1):
            line = text[number - 1]
            stripped = line.strip()
            if _NOTHING.match(stripped) or stripped.startswith(_COMMENT):
                continue
            first = (number, len(line) - len(line.lstrip()) + 1)
            if block.start <= first < block.end:
                times[number] = block.times
    return tuple(SourcePart(line, times=count) for line, count in sorted(times.items()))


def _count_conditions(known: Sequence[CoverBlock], text: Sequence[str]) -> Iterator[BranchCount]:
    """Yield each `if` with how often it was true and false.

    The block with its condition ends at the brace where the block begins that runs if it is true.
    """
    headers = {block.end: block for block in known}
    numbers: dict[int, int] = {}
    for body in known:
        header = headers.get(body.start)
        if header is None or not header.times or header.times < body.times:
            continue
        line = _condition_line(header, text)
        if line:
            number = numbers[line] = numbers.get(line, 0) + 1
            times = (body.times, header.times - body.times)
            yield BranchCount(line, number, (body.start[0] + 1, 0), times, is_condition=True)


def _condition_line(header: CoverBlock, text: Sequence[str]) -> int:
    """Return the line of the `if` at the end of a block; 0: it ends in something else."""
    for line in range(min(header.end[0], len(text)), header.start[0] - 1, -1):
        if _IF.match(text[line - 1]):
            return line
        if _OTHER_HEAD.match(text[line - 1]):
            return 0
    return 0


BEGIN, END = 1, 2
_RECEIVER = re.compile(r"\(\*?(\w+)\)")
_QUOTED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|`[^`]*(?:`|\Z)", re.DOTALL
)
# After these a line's end is a statement's (The Go Programming Language Specification, Semicolons).
_COMPLETE = re.compile(r"(?:[\w)\]}\"]|\+\+|--)\Z")


class GoMark(NamedTuple):
    """A window edge in a block: at its first statement, or at the statement in `line`.

    `edges` is BEGIN, END or both.
    """

    block: int
    line: int
    edges: int


def find_marks(
    window: RecordingWindow,
    file: str,
    package: str,
    blocks: Sequence[CoverBlock],
    text: Sequence[str],
) -> list[GoMark]:
    """Return the locations in a source at which the counting begins and ends."""
    found: dict[tuple[int, int], int] = {}
    for place, edge in ((window.start, BEGIN), (window.to, END)):
        if line := window.has_line(place, file):
            where = [_block_of_line(line, blocks, text)]
        else:
            where = list(_blocks_of_name(window, place, package, blocks, text))
        for one in where:
            if one is not None:
                found[one] = found.get(one, 0) | edge
    return [GoMark(block, line, edges) for (block, line), edges in sorted(found.items())]


def with_marks(written: str, name: str, some: Sequence[GoMark]) -> str:
    """Insert calls of `debuggerPassed` into a source with counters, shifted by one line."""
    for one in some:
        count = f"{name}.Count[{one.block}]"
        if not one.line:
            passed = f"debuggerPassed({one.edges}, &{count}, true); "
            written = written.replace(f"{count}++", f"{passed}{count}++")
            continue
        lines = written.split("\n")
        line = lines[one.line]
        blank = line[: len(line) - len(line.lstrip())]
        passed = f"debuggerPassed({one.edges}, &{count}, false); "
        lines[one.line] = f"{blank}{passed}{line.lstrip()}"
        written = "\n".join(lines)
    return written


def _blocks_of_name(
    window: RecordingWindow,
    place: FunctionPlace,
    package: str,
    blocks: Sequence[CoverBlock],
    text: Sequence[str],
) -> Iterator[tuple[int, int] | None]:
    """Return the first block of each function of a name, in Go's or its debugger's format."""
    plain = FunctionPlace(name=_RECEIVER.sub(r"\1", place.name))
    for line, name in function_headers(text):
        if window.has_name(plain, name, f"{package}.{name}"):
            yield _first_block(line, blocks, text)


def _first_block(
    header: int, blocks: Sequence[CoverBlock], text: Sequence[str]
) -> tuple[int, int] | None:
    """Return the first block of the function with a header line."""
    begins = [number for number, _ in function_headers(text)]
    own = [
        (block.start, number)
        for number, block in enumerate(blocks)
        if begins[bisect_right(begins, block.start[0]) - 1] == header <= block.start[0]
    ]
    return (min(own)[1], 0) if own else None


def _block_of_line(
    line: int, blocks: Sequence[CoverBlock], text: Sequence[str]
) -> tuple[int, int] | None:
    """Return the block of a line; else one that begins in it, or its function's first."""
    if not 0 < line <= len(text):
        return None
    first = (line, len(text[line - 1]) - len(text[line - 1].lstrip()) + 1)
    enclosing = [
        (block.start, number)
        for number, block in enumerate(blocks)
        if block.start <= first < block.end
    ]
    if enclosing and not text[line - 1].lstrip().startswith("}"):
        start, number = max(enclosing)
        return number, _statement_line(start, line, text)
    here = [(one.start, number) for number, one in enumerate(blocks) if one.start[0] == line]
    if here:
        return min(here)[1], 0
    begins = [number for number, _ in function_headers(text)]
    at = bisect_right(begins, line) - 1
    return _first_block(begins[at], blocks, text) if at >= 0 else None


def _statement_line(start: tuple[int, int], line: int, text: Sequence[str]) -> int:
    """Return the first line of the statement around a line of a block.

    For the block's first statement it is 0: that runs where the block begins.
    """
    some = range(line, start[0], -1)
    return next((one for one in some if _is_statement(start, one, text)), 0)


def _is_statement(start: tuple[int, int], line: int, text: Sequence[str]) -> bool:
    """Return whether a line begins another statement of a block; a body begins with `{`."""
    opening = text[start[0] - 1].encode()[start[1] - 1 :].decode(errors="replace")
    lines = [opening.removeprefix("{"), *text[start[0] : line - 1]]
    before = _QUOTED.sub(_plain_name, "\n".join(lines)).strip()
    opened = sum(before.count(one) for one in "([{") - sum(before.count(one) for one in ")]}")
    return not opened and bool(_COMPLETE.search(before)) and not _is_nothing(text[line - 1])


def _is_nothing(line: str) -> bool:
    stripped = line.strip()
    return not stripped or stripped.startswith(("//", "/*", ")", "]"))


def _plain_name(found: re.Match[str]) -> str:
    quoted = found[0]
    if quoted.startswith("/"):
        return ""
    # What is open at the end is a text that goes on in the line.
    return '"' if len(quoted) > 1 and quoted[-1] == quoted[0] else "("
