"""Finds what a PHP program waits for: the system call, and the call in its source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from debugger.questions.hang.thread_sampling import (
    ProcessWatch,
    SampledFrame,
    SampledThread,
    StackSample,
)
from debugger.session import source_files

# Read by the adapter: calls of the system are interrupted, too, and not begun again. The program
# is ended by the question, so that it does not matter what it does with the interrupted call.
_VARIABLE = "DEBUGGER_PHP_INTERRUPTS"
_ABOVE = 12  # lines
# PHP's functions that wait so.
_WAITING = {
    "file lock": "flock",
    "sleep": "sleep|usleep|time_nanosleep|time_sleep_until",
    "child": r"pcntl_wait\w*|proc_close|pclose|exec|shell_exec|system|passthru",
    "io": r"fgets|fgetc|fread|fwrite|file_get_contents|stream_\w+|socket_\w+|curl_\w+|readline",
}


def with_interrupts(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which PHP can be stopped while it waits in the system."""
    return {**env, _VARIABLE: "1"}


def merge_php_samples(stacks: Sequence[StackSample], outside: ProcessWatch) -> list[SampledThread]:
    """Merge the samples of PHP's one thread, and add its wait."""
    computes = outside.is_computing(outside.pid)
    wait = None if computes else outside.waits.get(outside.pid)
    found = []
    for one in stacks[-1].threads:
        places = [each.places[one.id] for each in stacks if one.id in each.places]
        if wait is not None:
            places = [_find_call(place, wait.kind) for place in places]
        found.append(
            SampledThread(
                key=str(outside.pid),
                name="the main thread",
                stacks=tuple(places),
                wait=wait,
                cpu=outside.cpu_of(outside.pid),
                computes=computes,
            )
        )
    return found


def _find_call(stack: tuple[SampledFrame, ...], kind: str) -> tuple[SampledFrame, ...]:
    """Put the innermost frame at the call that waited: PHP stands at the statement behind it."""
    top = stack[0] if stack else None
    names = _WAITING.get(kind)
    if top is None or names is None or not top.file or not top.line:
        return stack
    lines = source_files.read_source(top.file) or ()
    calls = re.compile(rf"(?<![\w>:$])(?:{names})\s*\(")
    for line in range(min(top.line, len(lines)), max(0, top.line - _ABOVE), -1):
        text = lines[line - 1]
        if calls.search(text):
            return (msgspec.structs.replace(top, line=line), *stack[1:])
        if line < top.line and re.search(r"\bfunction\b", text):
            break
    return stack
