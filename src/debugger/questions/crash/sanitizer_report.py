"""Parses the reports of sanitizers in a program's output. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct

from debugger.model.location import plain_function
from debugger.model.text_filters import without_colour

_ADDRESS = re.compile(r"ERROR: (?P<tool>\w+Sanitizer): (?P<what>[\w-]+(?: [a-z-]+)?)(?P<rest>.*)")
_ACCESS = re.compile(r"^\s*(READ|WRITE) of size (\d+)")
_REGION = re.compile(
    r"is located (\d+) bytes (\S+(?: of)?|to the \w+ of|inside of) (\d+)-byte region"
)
_UNDEFINED = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: runtime error: (?P<what>.*)")
_FRAME = re.compile(
    r"^\s*#\d+ (?:0x[0-9a-f]+ in )?(?P<function>.+) "
    r"(?P<file>[^\s:]+):(?P<line>\d+)(?::\d+)?(?: \(.*\))?\s*$"
)
_FRAMES_MAX = 40  # lines of a report's stack
_TOUCHED = re.compile(r"\b0x([0-9a-f]+)")
_LEAK = re.compile(r"SUMMARY: \w+Sanitizer: (\d+ byte\(s\) leaked in \d+ allocation\(s\))")
_RACE = re.compile(r"WARNING: ThreadSanitizer: (?P<what>[\w -]+)")
_SUMMARY = re.compile(
    r"SUMMARY: \w+Sanitizer: .*? (?P<file>/\S+):(?P<line>\d+)(?::\d+)? in (?P<in>.+)"
)
_RACING = re.compile(
    r"^\s*(?:Previous )?(?P<how>(?:atomic )?(?:read|write)) of size \d+ at \w+ by (?P<who>[\w ]+)",
    re.IGNORECASE,
)
_RACED_FOR = re.compile(r"^\s*Location is (?P<what>.*?)(?: at 0x.*| \(.*)?$")
_RUNTIME = ("/sanitizer_common/", "/libsanitizer/", "asan_", "interceptor", "__libc", "_start")
_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/local/include/")
_KINDS = {
    "heap-use-after-free": ("use_after_free", "use after free"),
    "stack-use-after-return": ("use_after_return", "use of a local after its function returned"),
    "stack-use-after-scope": ("use_after_scope", "use of a local after its scope"),
    "heap-buffer-overflow": ("buffer_overflow", "heap buffer overflow"),
    "stack-buffer-overflow": ("buffer_overflow", "stack buffer overflow"),
    "global-buffer-overflow": ("buffer_overflow", "global buffer overflow"),
    "dynamic-stack-buffer-overflow": ("buffer_overflow", "stack buffer overflow"),
    "container-overflow": ("buffer_overflow", "container overflow"),
    "attempting double-free": ("double_free", "double free"),
    "attempting free": ("bad_free", "free of what malloc did not give"),
    "stack-overflow": ("stack_overflow", "stack overflow"),
}
# What UBSan's handlers are called, until the report itself is written.
_HANDLERS = {
    "out_of_bounds": "index out of bounds",
    "divrem_overflow": "division by zero or overflow",
    "type_mismatch": "null or misaligned pointer",
    "add_overflow": "integer overflow in an addition",
    "sub_overflow": "integer overflow in a subtraction",
    "mul_overflow": "integer overflow in a multiplication",
    "negate_overflow": "integer overflow in a negation",
    "shift_out_of_bounds": "shift out of bounds",
    "pointer_overflow": "pointer overflow",
    "nonnull_arg": "null where it may not be",
    "vla_bound_not_positive": "array of no positive size",
    "load_invalid_value": "a value that its type does not have",
    "builtin_unreachable": "unreachable code was reached",
    "missing_return": "a function returned nothing",
}


class SanitizerReport(Struct, frozen=True):
    """One sanitizer report: its kind, a short description, and the memory's origin."""

    kind: str
    text: str
    notes: tuple[str, ...] = ()
    address: int | None = None


def parse_sanitizer_report(
    lines: Sequence[str], functions: Sequence[str] = ()
) -> SanitizerReport | None:
    """Parse the first sanitizer report in a program's output; `functions` are its callers."""
    lines = [without_colour(line) for line in lines]
    for at, line in enumerate(lines):
        found = _ADDRESS.search(line)
        if found:
            return _parse_address_report(found, lines[at + 1 :])
        race = _RACE.search(line)
        if race:
            return _parse_race(race["what"].strip(), lines[at + 1 :])
    return parse_undefined(lines) or _handler_report(functions)


def _parse_race(what: str, rest: Sequence[str]) -> SanitizerReport:
    both = [(at, found) for at, line in enumerate(rest) if (found := _RACING.match(line))][:2]
    parts = [f"{what} (TSan)"]
    notes = []
    match both:
        case [(_, one), (at, other)]:
            how = other["how"].lower()
            parts.append(f"{one['how'].lower()} by {one['who']} after {how} by {other['who']}")
            own = _innermost_user_function(rest[at + 1 :])
            notes += [f"the {how} before was in {own}"] if own else []
    memory = next((found["what"] for line in rest if (found := _RACED_FOR.match(line))), None)
    notes += [f"the memory is {memory}"] if memory else []
    return SanitizerReport("data_race", ", ".join(parts), tuple(notes))


def summed_up(lines: Sequence[str]) -> tuple[str, str, int] | None:
    """Return the function, file and line in a report's own last line."""
    plain = map(without_colour, lines)
    found = next((match for line in plain if (match := _SUMMARY.search(line))), None)
    return (found["in"], found["file"], int(found["line"])) if found else None


def parse_undefined(lines: Sequence[str]) -> SanitizerReport | None:
    """Parse the first report of UBSan."""
    found = next((match for line in lines if (match := _UNDEFINED.match(line))), None)
    return SanitizerReport("undefined_behaviour", f"{found['what']} (UBSan)") if found else None


def _handler_report(functions: Sequence[str]) -> SanitizerReport | None:
    for function in functions:
        _, is_handler, name = function.partition("__ubsan_handle_")
        if is_handler:
            name = name.removesuffix("_abort").removesuffix("_v1").removesuffix("_minimal")
            words = _HANDLERS.get(name, name.replace("_", " "))
            return SanitizerReport("undefined_behaviour", f"{words} (UBSan)")
    return None


def _parse_address_report(found: re.Match[str], rest: Sequence[str]) -> SanitizerReport:
    tool = found["tool"]
    short = {"AddressSanitizer": "ASan", "LeakSanitizer": "LSan"}.get(tool, tool)
    if tool == "LeakSanitizer":
        leaked = next((match[1] for line in rest if (match := _LEAK.search(line))), "memory leaked")
        return SanitizerReport(
            "leak", f"{leaked} (LSan)", tuple(_allocation_histories(rest, "leak of", "leaked"))
        )
    what = found["what"]
    kind, words = next(
        ((kind, words) for key, (kind, words) in _KINDS.items() if what.startswith(key)),
        ("sanitizer", what.removesuffix(" on")),
    )
    access = next((match for line in rest[:3] if (match := _ACCESS.match(line))), None)
    parts = [f"{words} ({short})"]
    if access:
        parts.append(f"{'read' if access[1] == 'READ' else 'write'} of {access[2]} bytes")
    region = next((match for line in rest if (match := _REGION.search(line))), None)
    if region:
        where = region[2].removeprefix("to the ").removesuffix(" of")
        side = {"right": "after", "left": "before", "inside": "into"}.get(where, where)
        parts.append(f"{region[1]} bytes {side} a block of {region[3]}")
    notes = [
        *_allocation_histories(rest, "freed by", "freed"),
        *_allocation_histories(rest, "allocated by", "allocated"),
    ]
    touched = _TOUCHED.search(found["rest"])
    address = int(touched[1], 16) if touched else None
    return SanitizerReport(kind, ", ".join(parts), tuple(notes), address)


def _allocation_histories(lines: Sequence[str], heading: str, word: str) -> list[str]:
    """Describe which user functions allocated or freed the memory."""
    for at, line in enumerate(lines):
        if heading in line.lower():
            own = _innermost_user_function(lines[at + 1 :])
            return [f"{word} in {own}"] if own else []
    return []


def _innermost_user_function(lines: Sequence[str]) -> str | None:
    """Return the innermost user function of the stack at the beginning of lines.

    If all of them are library functions, return the innermost of these.
    """
    frames = takewhile(lambda one: one is not None, map(_FRAME.match, lines[:_FRAMES_MAX]))
    own_frames = [one for one in frames if one and not any(name in one[0] for name in _RUNTIME)]
    own = next((one for one in own_frames if not one["file"].startswith(_SYSTEM)), None)
    one = own or next(iter(own_frames), None)
    if one is None:
        return None
    return f"{plain_function(one['function'])} {one['file'].rpartition('/')[2]}:{one['line']}"
