"""Which lines of a program's output are stack traces, which an answer tells better? Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.core.answers.stops import OutputLine

_BEGINS = re.compile(
    r"Traceback \(most recent call last\)|stack backtrace:|goroutine \d+.*\[[\w ,.()]+\]:?$"
    r"|Fatal Python error|Current thread 0x"
)
_GOES_ON = re.compile(
    r"\s+\S|\s*$|\s*\d+: |note: |\S+\(.*\)$|created by |exit status \d|goroutine |Thread 0x"
    r"|Current thread|Extension modules|\[signal SIG"
)
_REPORT = re.compile(r".*ERROR: \w+Sanitizer: |\w+Sanitizer:DEADLYSIGNAL|={40,}$")
_REPORT_ENDS = re.compile(r"==\d+==ABORTING|SUMMARY: ThreadSanitizer")
_ALONE = re.compile(
    r"\s+at \S.*[:(]|The above exception was the|During handling of the above|Node\.js v\d"
    r"|node:internal/|\s+\^+\s*$|\s+\.\.\. \d+ lines matching|\s+triggerUncaughtException"
    r"|note: (?:run with `RUST_BACKTRACE|Some details are omitted)"
)


def without_traces(
    lines: Sequence[OutputLine], repeated: str = ""
) -> tuple[tuple[OutputLine, ...], int]:
    """Leave the stack traces, and the sanitizers' dumps, out of an output; count their lines.

    `repeated` is the last line of a traceback, where it is told besides.
    """
    kept: list[OutputLine] = []
    in_trace = in_report = False
    for line in lines:
        in_report = in_report or _REPORT.match(line.text) is not None
        begins = _BEGINS.match(line.text) is not None
        in_trace = begins or (in_trace and _GOES_ON.match(line.text) is not None)
        is_repeated = bool(repeated) and line.text.strip() == repeated
        if not (in_report or in_trace or is_repeated or _ALONE.match(line.text)):
            kept.append(line)
        if in_report and _REPORT_ENDS.match(line.text):
            in_report = False
    return tuple(kept), len(lines) - len(kept)
