"""Filters text: cuts long values, removes colours, finds stack traces in output. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from debugger.model.answers.stops import OutputLine
from debugger.model.location import is_library

# "Select graphic rendition", ECMA-48 8.3.117.
SGR = re.compile("(\x1b\\[[0-9;:]{0,60}m)")


def without_colour(text: str) -> str:
    """Remove colour escape sequences from a text."""
    return SGR.sub("", text)


GAP = " … "
_LENGTH = re.compile(r" \((?P<count>[\d,]+) (?P<unit>characters|bytes)\)\Z")
# Delve 1.25, and our adapters of Ruby and PHP, cut a text behind its beginning, before its quote
# or behind it.
_BEGINNING = re.compile(
    r"""["']? ?… \((?P<count>[\d,]+) (?P<unit>characters|(?:more )?bytes)\)\Z"""
    r"""|\.\.\.\+(?P<more>\d+) more"\Z"""
)


class Clipped(Struct, frozen=True):
    """A text that may have been cut before: what is left of it, and how long it is."""

    text: str
    count: int
    unit: str = "characters"
    has_end: bool = True


def clip_text(text: str, most: int) -> str:
    """Cut the middle out of a text over `most` characters, and state its full length."""
    if len(text) <= most:
        return text
    known = parse_clipped(text)
    length_note = f" ({known.count:,} {known.unit})"
    half = max((most - len(GAP) - len(length_note)) // 2, 1)
    if not known.has_end:
        return f"{known.text[: 2 * half]} …{length_note}"
    return f"{known.text[:half]}{GAP}{known.text[-half:]}{length_note}"


def parse_clipped(text: str) -> Clipped:
    """Return what an earlier cut of ours or of an adapter has left, and the full length."""
    start = _BEGINNING.search(text)
    match = start or _LENGTH.search(text)
    if match is None or (start is None and GAP not in text):
        return Clipped(text, len(text))
    body = text[: match.start()]
    if start is not None and start["more"]:
        return Clipped(body, int(start["more"]), "more bytes", has_end=False)
    count = int(match["count"].replace(",", ""))
    return Clipped(body, count, match["unit"], has_end=start is None)


_BEGINS = re.compile(
    r"Traceback \(most recent call last\)|stack backtrace:|goroutine \d+.*\[[\w ,.()]+\]:?$"
    r"|Fatal Python error|Current thread 0x"
    r'|\s+File "[^"]+", line \d+'  # of a traceback whose first lines were not kept
)
_GOES_ON = re.compile(
    r"\s+\S|\s*$|\s*\d+: |note: |\S+\(.*\)$|created by |exit status \d|goroutine |Thread 0x"
    r"|Current thread|Extension modules|\[signal SIG"
)
_REPORT = re.compile(
    r".*ERROR: \w+Sanitizer: |\w+Sanitizer:DEADLYSIGNAL|={40,}$|WARNING: ThreadSanitizer: "
)
_REPORT_ENDS = re.compile(r"==\d+==ABORTING|SUMMARY: ThreadSanitizer")
_ALONE = re.compile(
    r"\s+at \S.*[:(]|The above exception was the|During handling of the above|Node\.js v\d"
    r"|node:internal/|\s*\^+\s*$|\s+\.\.\. \d+ lines matching|\s+triggerUncaughtException"
    r"|note: (?:run with `RUST_BACKTRACE|Some details are omitted)"
    r"|-{5} (?:Native|JavaScript) stack trace -{5}|\s*\d+: 0x[0-9a-f]+ .*\[.*\]$"
    r"|<--- (?:Last few GCs|JS stacktrace) --->|\[\d+:0x[0-9a-f]+\]\s+\d+ ms: "
    r"|[\w.]*RemoteTraceback: ?$|\"{3}$"  # around a worker's traceback, of multiprocessing
    # Of Abseil's handler of signals, which Ray's workers have.
    r"|(?:\[[^\]]*\] \S+: )?(?:\*\*\* SIG\w+ received at |PC: @ |\s+@\s+0x)"
    r"|Stack \(most recent call first\):$"
    r"|={18}$|ThreadSanitizer: reported \d+ warnings|AddressSanitizer report breakpoint hit\."
)
# Of Node's report: the place above the line that threw, the marks below it, the error's properties.
_PLACE = re.compile(r"\S+:\d+$")
_MARKS = re.compile(r"\s*\^+\s*$")
_PROPERTIES = re.compile(r"\s+at .*\{$")
# Of a report's two lines the one above that which says what was wrong; its words before that.
_FILE = re.compile(r'\s+File "')  # of pydevd, where its own tracing of the program raised
_NODE_PLACE = re.compile(r"(?:file://)?/\S+\.[cm]?[jt]sx?:\d+$")
_NODE_ENDS = re.compile(r"Node\.js v\d")
_HERALD = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at .*:$|terminate called after throwing ")
_WHAT = re.compile(r"\s*what\(\):\s+")
_CODE = re.compile(r" \[\w+\](?=: )")
# What Ray, Open MPI and torch's elastic agent put before each line of a worker.
_WORKER = re.compile(
    r"(?P<name>\([^()]{1,80} pid=\d+[^()]{0,40}\)|\[\d+,\d+\]<std(?:err|out)>:"
    r"|\[(?:rank|default)\d+\]:) ?"
)


def without_traces(
    lines: Sequence[OutputLine], repeated: Collection[str] = ()
) -> tuple[tuple[OutputLine, ...], int]:
    """Remove stack traces and sanitizer dumps from an output; count their lines.

    `repeated` are lines that the answer shows elsewhere, such as the last line of a traceback.
    """
    # The traces of several workers may be printed at the same time, line by line.
    workers: dict[str, list[int]] = {}
    texts = [without_colour(line.text) for line in lines]
    for at, text in enumerate(texts):
        worker = _WORKER.match(text)
        workers.setdefault(worker["name"] if worker is not None else "", []).append(at)
        texts[at] = text[worker.end() :] if worker is not None else text
    remaining = sorted(
        numbers[one]
        for numbers in workers.values()
        for one in _outside_traces([texts[at] for at in numbers], repeated)
    )
    return tuple(lines[at] for at in remaining), len(lines) - len(remaining)


def _outside_traces(texts: Sequence[str], repeated: Collection[str]) -> list[int]:
    """Return the numbers of the lines that belong to no trace, of one process."""
    repeats = [_CODE.sub("", _WHAT.sub("", text).strip()) in repeated for text in texts]
    remaining: list[int] = []
    in_trace = in_report = in_properties = is_debuggers = False
    for at, text in enumerate(texts[: _cut_report(texts)]):
        in_report = in_report or _REPORT.match(text) is not None
        begins = _BEGINS.match(text) is not None
        in_trace = begins or (in_trace and _GOES_ON.match(text) is not None)
        is_repeated = repeats[at] or (
            _HERALD.match(text) is not None and any(repeats[at + 1 : at + 2])
        )
        if in_trace and _FILE.match(text):
            is_debuggers = "pydevd" in text
        elif is_debuggers and not in_trace:  # the exception's own line ends the trace
            is_repeated, is_debuggers = True, False
        if _MARKS.match(text) and at > 1 and _PLACE.match(texts[at - 2]):
            remaining = [one for one in remaining if one not in {at - 2, at - 1}]
        if not (in_report or in_trace or in_properties or is_repeated or _ALONE.match(text)):
            remaining.append(at)
        if in_report and _REPORT_ENDS.match(text):
            in_report = False
        in_properties = _PROPERTIES.match(text) is not None or (in_properties and text != "}")
    return remaining


def _cut_report(texts: Sequence[str]) -> int:
    """Return the start of a Node report whose long source line is cut; else the end."""
    begins = [at for at, text in enumerate(texts) if _NODE_PLACE.match(text)]
    if not begins or any(_NODE_ENDS.match(text) or _MARKS.match(text) for text in texts):
        return len(texts)
    return begins[-1]


_FRAME_FILE = re.compile(r'\s+File "(?P<file>[^"]+)", line \d+')
_PACKAGE = re.compile(r"/(?:site-packages|dist-packages|lib/python\d[\d.]*)/(?P<name>[^/.]+)")


def fold_libraries(lines: Sequence[str], cwd: str) -> list[str]:
    """Replace library frames in a Python traceback with their count.

    The innermost frame stays, as the frame of the error.
    """
    frames: list[list[str]] = [[]]
    for line in lines:
        if _FRAME_FILE.match(line) or (line and not line[0].isspace()):
            frames.append([])
        frames[-1].append(line)
    last = max(
        (at for at, one in enumerate(frames) if one and _FRAME_FILE.match(one[0])), default=0
    )
    folded: list[str] = []
    run: list[str] = []
    for at, one in enumerate(frames):
        found = _FRAME_FILE.match(one[0]) if one else None
        if (
            found is not None
            and (at != last or "pydevd" in found["file"])
            and is_library(found["file"], cwd)
        ):
            package = _PACKAGE.search(found["file"])
            run.append(package["name"] if package else found["file"])
            continue
        if run:
            noun = "frame" if len(run) == 1 else "frames"
            folded.append(f"  … {len(run)} {noun} of {', '.join(dict.fromkeys(run))}")
            run = []
        folded += one
    return folded
