"""Explains an exception by the traceback and the statement that raised it. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote

from msgspec import Struct

from debugger.model.node_report import NODE_ENDS, NODE_PLACE, with_marks
from debugger.model.null_message import is_empty, is_nothing, parse_missing_key, parse_null_message
from debugger.model.slice_bounds import explain_bounds
from debugger.model.statement import MemoryAccess, parts_of
from debugger.model.text_filters import clip_text

_MESSAGE_MAX = 300  # characters
_ZERO = re.compile(r"-?0(?:\.0*)?n?$")
_RANGES = (
    # Go, Ruby, Rust, C++ (at() of vector, of string; std::array), .NET's words are others'.
    re.compile(r"index out of range \[(?P<index>-?\d+)\](?: with length (?P<length>\d+))?"),
    re.compile(r"index (?P<index>-?\d+) outside of array bounds: -?\d+\.\.\.(?P<length>\d+)"),
    re.compile(r"the len is (?P<length>\d+) but the index is (?P<index>\d+)"),
    re.compile(r"__(?:n|pos) \(which is (?P<index>\d+)\) >=? .*?\(which is (?P<length>\d+)\)"),
    re.compile(r"index \(is (?P<index>\d+)\) should be <=? len \(is (?P<length>\d+)\)"),
    re.compile(r"range end index (?P<index>\d+) out of range for slice of length (?P<length>\d+)"),
    re.compile(r"slice bounds out of range \[:?(?P<index>-?\d+):?\](?: with \w+ (?P<length>\d+))?"),
)
# A method of Ruby: `total + 1` calls that of `total`.
_OPERATOR = re.compile(r"[-+*/%<>&|^]{1,2}=?")
_WITH_NESTED = re.compile(r"\Astd::_Nested_exception<(.+?) ?>\Z", re.DOTALL)
_LEFT_RIGHT = re.compile(
    r"assertion (?:`left (?P<how>==|!=) right` failed|failed: `\(left (?P<old>==|!=) right\)`)"
    r"(?P<said>:[^\n]*)?\s*left: (?P<left>.*?)[,\s]\s*right: (?P<right>.*)",
    re.DOTALL,
)
# Rust's message of what was taken out of an option or a result, and the value.
UNWRAPPED = re.compile(
    r"called `(?P<call>Option::unwrap|Result::unwrap|Result::unwrap_err)\(\)` on an? "
    r"`(?P<on>\w+)` value(?:: (?P<value>.*))?",
    re.DOTALL,
)
_TAKING = frozenset(
    {"at", "get", "charAt", "substr", "erase", "insert", "nth", "elementAt", "fetch"}
    | {"remove", "swap_remove", "split_off", "split_at", "replace", "compare"}
)
_WHOLE_NUMBER = re.compile(r"-?\d+")
_CAST = re.compile(r"(?P<name>[\w.]+)\s+as\s+[iu](?:8|16|32|64|128|size)")  # of Rust
# A class in a module of Ruby, whose own name may be `Error`: `JSON::ParserError`, `Date::Error`.
_SCOPED = re.compile(r"[A-Z]\w*(?:::[A-Z]\w*)+")
_CONSTANT = re.compile(r'Undefined constant "(?P<name>\w+)"')  # of PHP
# Methods that look up their argument, and raise where it is no key: of Ruby, and of Python.
_LOOKUPS = frozenset({"fetch", "pop"})
# The environment, which may hold secrets: of Ruby, Python, JavaScript and PHP.
ENVIRONMENTS = frozenset({"ENV", "os.environ", "environ", "process.env", "$_ENV", "$_SERVER"})
_UNWRAPPED_MAX = 2  # values: what was unwrapped is in a line with many
_NO_ENTRY = "no entry found for key"  # of Rust's maps
_DIVIDES = frozenset({"ZeroDivisionError", "DivisionByZeroError"})  # of Python and Ruby; of PHP
_OWN_WORDS = frozenset({"ArithmeticException", "RangeError"})
_DIVISIONS = (
    "divide by zero",
    "division by zero",
    "modulo by zero",
    "remainder with a divisor of zero",
)


class ExceptionCause(Struct, frozen=True):
    """A kind, an explanation, and the expressions whose values belong to it."""

    kind: str
    text: str
    names: tuple[str, ...] = ()
    # The expression whose value is wrong, if one is known.
    culprit: str = ""


def short_type(name: str) -> str:
    """Return an exception type's name without its scope: `Error<a::B>` of `x::Error<a::B>`.

    A C++ exception with a nested one has a library type around the thrown type.
    """
    name = _WITH_NESTED.sub(r"\1", name)
    head, mark, arguments = name.partition("<")
    short = head.rpartition(".")[2].rpartition("::")[2]
    return short + mark + arguments if short else name


def explain_exception(
    exception: str,
    message: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],
) -> ExceptionCause:
    """Explain an exception."""
    text = message.strip()
    short = short_type(exception)
    for reader in (
        _explain_assertion,
        _explain_range,
        _explain_key,
        _explain_null,
        _explain_division,
        _explain_unwrap,
    ):
        found = reader(short, text, accesses, operands, values)
        if found is not None:
            return found
    constant = _CONSTANT.search(text)
    joined = [one for one in accesses if one.how == "." and one.base.startswith("$")]
    if constant and (one := next((e for e in joined if e.inner == constant["name"]), None)):
        text += f": `.` joins two texts, {one.base}->{one.inner} reads a property"
    if _SCOPED.fullmatch(exception):
        short = exception
    kind = "panic" if short == "panic" else "exception"
    if "deadlock" in text:
        kind = "deadlock"
    first = clip_text(" ".join(text.split()), _MESSAGE_MAX)
    if text.startswith(f"{short}:") or not first:
        return ExceptionCause(kind, first or short)
    return ExceptionCause(kind, f"{short}: {first}")


def _explain_assertion(
    short: str,
    text: str,
    accesses: Sequence[MemoryAccess],  # noqa: ARG001 - the readers' one signature
    operands: Sequence[str],
    values: Mapping[str, str],
) -> ExceptionCause | None:
    known = [one for one in operands if one in values]
    nothing = next((one for one in known if is_nothing(values[one])), "")
    culprit = nothing or next(iter(known), "")
    both = _LEFT_RIGHT.search(text)
    if both:
        how = both["how"] or both["old"]
        message = clip_text((both["said"] or "").lstrip(": "), 100)
        reason = f" ({message})" if message else ""
        left, right = clip_text(both["left"].strip(), 80), clip_text(both["right"].strip(), 80)
        message = f"assertion failed: left {how} right{reason}, left={left} right={right}"
        return ExceptionCause("assertion", message, culprit=culprit)
    if short == "AssertionError" or text.startswith("assertion failed"):
        words = clip_text(text.removeprefix("assertion failed").lstrip(": "), _MESSAGE_MAX)
        message = f"assertion failed: {words}" if words else "assertion failed"
        return ExceptionCause("assertion", message, tuple(operands), culprit)
    return None


def _explain_range(
    short: str,
    text: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],
) -> ExceptionCause | None:
    named = f" ({short})" if short not in {"panic", "boundsError", "Error"} else ""
    bounds = explain_bounds(text, accesses, operands, values)
    if bounds is not None:
        return ExceptionCause("index_out_of_range", bounds.text, bounds.names, bounds.culprit)
    for pattern in _RANGES:
        found = pattern.search(text)
        if found:
            index, length = found["index"], found["length"]
            what, by = _index_access(index, accesses, operands, values)
            has = f", {what} has {length}" if length is not None else ""
            return ExceptionCause(
                "index_out_of_range",
                f"index {index} out of range{has}{named}",
                by,
                # A constant index is right, and the list is not.
                _uncast(next(iter(by), ""))
                or _part_of_index(what, accesses, operands, values)
                or (what if what in values else ""),
            )
    if short == "IndexError":
        for one in accesses:
            if one.how != "[]":
                continue
            length, index = values.get(f"len({one.base})"), values.get(one.inner, one.inner)
            if length is not None and _is_outside(index, length):
                by = () if _is_literal(one.inner) else (one.inner,)
                message = f"index {index} out of range, {one.base} has {length}{named}"
                culprit = next(iter(by), one.base)  # a constant index is right, and the list is not
                return ExceptionCause("index_out_of_range", message, by, culprit)
        return ExceptionCause("index_out_of_range", f"{text}{named}")
    return None


def _index_access(
    index: str, accesses: Sequence[MemoryAccess], operands: Sequence[str], values: Mapping[str, str]
) -> tuple[str, tuple[str, ...]]:
    """Return the indexed expression, and the name of the index."""
    indexed = [one for one in accesses if one.how == "[]"]
    fitting = [one for one in indexed if values.get(one.inner) == index] or indexed
    if len(fitting) == 1:
        one = fitting[0]
        return one.base, () if _is_literal(one.inner) else (one.inner,)
    called = next((one for one in accesses if one.inner in _TAKING), None)
    name = next((one for one in operands if values.get(one) == index), None)
    return (called.base if called is not None else "it"), ((name,) if name is not None else ())


def _uncast(index: str) -> str:
    """Return the variable that a conversion of Rust makes an index of: its origin is known."""
    found = _CAST.fullmatch(index)
    return found["name"] if found is not None else index


def _part_of_index(
    what: str, accesses: Sequence[MemoryAccess], operands: Sequence[str], values: Mapping[str, str]
) -> str:
    """Return the greatest number of which a method's index is computed, as of `v.at(page * 2)`."""
    if not any(one.base == what and one.inner in _TAKING for one in accesses):
        return ""
    others = [one for one in operands if one != what]
    return next(iter(order_numbers(others, values)), "")


def order_numbers(operands: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the operands whose values are whole numbers, the one farthest from zero first."""
    numbers = {
        one: abs(int(values[one]))
        for one in operands
        if _WHOLE_NUMBER.fullmatch(values.get(one, "").strip())
    }
    return tuple(sorted(numbers, key=lambda one: -numbers[one]))


def _is_outside(index: str, length: str) -> bool:
    try:
        return not -int(length) <= int(index) < int(length)
    except ValueError:
        return False


def _is_literal(text: str) -> bool:
    return text[:1].isdigit() or text[:1] in {'"', "'", "-"}


def _explain_key(
    short: str,
    text: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],
) -> ExceptionCause | None:
    key = parse_missing_key(short, text)
    if key:
        for one in accesses:
            is_it = one.how == "[]" and key in {
                one.inner,
                values.get(one.inner),
                _string_literal_text(one.inner),
            }
            if is_it:
                by = () if _is_literal(one.inner) else (one.inner,)
                message = f"key {key} is not in {one.base} ({short})"
                shown = () if one.base in ENVIRONMENTS else (one.base,)
                names = (*by, *shown)
                return ExceptionCause("missing_key", message, names, "".join(names[:1]))
        given = tuple(one for one in operands if values.get(one) == key)[:1]
        return _explain_looked_up(f"{short}: {text}", key, accesses, given, values)
    if text == _NO_ENTRY:
        return _explain_rust_key(accesses, values)
    if "assignment to entry in nil map" in text:
        sets = [one for one in accesses if one.how == "[]"]
        # A map of maps gives nil for a key that it does not have, which delve does not read.
        nested = [one for one in sets if one.base.endswith("]") and one.base not in values]
        set_ = next((one for one in sets if _is_nothing(one, values)), None)
        set_ = set_ or (nested[0] if len(nested) == 1 else None)
        what = f": {set_.whole} is set, {set_.base} is nil" if set_ is not None else ""
        by = (set_.inner,) if set_ is not None and not _is_literal(set_.inner) else ()
        culprit = set_.base if set_ is not None else ""
        return ExceptionCause("nil_map", f"write to a nil map{what}", by, culprit)
    return None


def _explain_looked_up(
    message: str,
    key: str,
    accesses: Sequence[MemoryAccess],
    by: tuple[str, ...],
    values: Mapping[str, str],
) -> ExceptionCause:
    """Explain a missing key that a method looked up: `prices.fetch(name)`; `by` names the key."""
    called = [one.base for one in accesses if one.inner in _LOOKUPS]
    if len(called) != 1:
        return ExceptionCause("missing_key", message, by, "".join(by))
    (base,) = called
    short, is_shown = message.partition(":")[0], base in values and base not in ENVIRONMENTS
    culprit = next(iter(by), base if is_shown else "")
    return ExceptionCause(
        "missing_key",
        f"key {key} is not in {base} ({short})",
        (*by, base) if is_shown else by,
        culprit,
    )


def _explain_rust_key(
    accesses: Sequence[MemoryAccess], values: Mapping[str, str]
) -> ExceptionCause | None:
    """Name the key of the statement's only lookup in a map of Rust, as in `rates[&key]`."""
    found = [one for one in accesses if one.how == "[]" and one.inner[:1] in {"&", '"'}]
    if len(found) != 1:
        return None
    key, base = found[0].inner.lstrip("&* "), found[0].base
    is_named = not _is_literal(key)
    shown = values.get(key, "" if is_named else key)
    message = f"key {shown or key} is not in {base}"
    return ExceptionCause("missing_key", message, (key,) if is_named else (), key * is_named)


def _string_literal_text(literal: str) -> str:
    """Return a string literal as Python would print it."""
    try:
        return repr(ast.literal_eval(literal))
    except (ValueError, SyntaxError):
        return literal


def _is_nothing(one: MemoryAccess, values: Mapping[str, str]) -> bool:
    return is_nothing(values.get(one.base, ""))


def _explain_null(
    short: str,
    text: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],
) -> ExceptionCause | None:
    null = parse_null_message(text)
    if null is None:
        return None
    empty = [one for one in accesses if _is_nothing(one, values)]
    named = [one for one in empty if null.bare_name in {"", one.inner, one.how}]
    # An index is written in another way than its value, which the message names.
    indexed = [one for one in empty if one.how == "[]"]
    one = next(iter(named or indexed), None)
    is_pointer = "nil pointer" in text
    kind = "null_pointer" if is_pointer else "nothing"
    label = "nil pointer" if is_pointer else null.what
    error = "" if is_pointer else f" ({short})"
    nothing = [each for each in operands if is_nothing(values.get(each, ""))]
    if one is None and len(nothing) == 1 and _OPERATOR.fullmatch(null.name):
        message = f"{label}: {nothing[0]} is {null.what}, {null.name} of it is called{error}"
        return ExceptionCause(kind, message, culprit=nothing[0])
    if one is None:
        message = text.partition("runtime error: ")[2] or text
        begin = "nil pointer: " if is_pointer else ""
        return ExceptionCause(kind, f"{begin}{message}{error}")
    mark = "->" if one.how == "->" else "."
    member = null.name if one.inner and one.inner == null.bare_name else one.inner
    inner = f"[{one.inner}]" if one.how == "[]" else f"{mark}{member}" if member else ""
    part = f"{inner} of it" if inner else "what it points to"
    message = f"{label}: {one.base} is {null.what}, {part} is {null.verb}{error}"
    return ExceptionCause(kind, message, culprit=one.base)


def _explain_division(
    short: str,
    text: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],
) -> ExceptionCause | None:
    # The JVM's and V8's own words are as good, as long as no divisor is known.
    is_named = short in _OWN_WORDS and text.lower() in {"/ by zero", "division by zero"}
    is_it = short in _DIVIDES or is_named or any(one in text for one in _DIVISIONS)
    if not is_it:
        return None
    named = f" ({short})" if short in _DIVIDES or is_named else ""
    empty = find_empty_divisor(accesses, values)
    if empty is not None:
        text = f"division by zero: {empty.whole} is 0{named}"
        return ExceptionCause("division_by_zero", text, (empty.base,), empty.base)
    divisors = [one.base for one in accesses if one.how == "/"]
    zero = next(
        (one for one in divisors if _ZERO.match(values.get(one, "").strip().strip("'"))), None
    )
    # PHP divides by null as by 0.
    null = next((one for one in divisors if values.get(one) == "null"), None)
    if zero is None and null is not None:
        return ExceptionCause(
            "division_by_zero", f"division by zero: {null} is null{named}", (), null
        )
    if zero is None:
        plain = ExceptionCause("division_by_zero", f"division by zero{named}", tuple(divisors))
        return None if is_named else plain
    parts = parts_of(zero, operands)
    message = f"division by zero: {zero} is 0{named}"
    return ExceptionCause("division_by_zero", message, parts, zero)


def find_empty_divisor(
    accesses: Sequence[MemoryAccess], values: Mapping[str, str]
) -> MemoryAccess | None:
    """Return the division by the length of an empty container; None if there is none."""
    lengths = [one for one in accesses if one.how == "/" and one.inner]
    return next((one for one in lengths if is_empty(values.get(one.base, ""))), None)


def _explain_unwrap(
    short: str,  # noqa: ARG001
    text: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],  # noqa: ARG001
) -> ExceptionCause | None:
    found = UNWRAPPED.search(text)
    if found is None:
        return None
    value = f": {clip_text(' '.join(found['value'].split()), 150)}" if found["value"] else ""
    call = found["call"].rpartition("::")[2]
    names = dict.fromkeys([*operands, *(one.base for one in accesses)])
    own_names = [one for one in names if one not in {"self", "this"}]
    return ExceptionCause(
        "unwrap",
        f"{call}() of {found['on']}{value}",
        tuple(own_names[:_UNWRAPPED_MAX]),
        own_names[0] if len(own_names) == 1 else "",
    )


def parse_uncaught(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the type and message of a C++ exception, from its runtime's report."""
    for at, line in enumerate(lines):
        match = re.match(r"terminate called after throwing an instance of '(.*)'", line)
        if match:
            after = lines[at + 1] if at + 1 < len(lines) else ""
            message = re.match(r"\s*what\(\):\s*(.*)", after)
            return match[1], message[1] if message else ""
    return None


_BEGINS = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s+File "(?P<file>[^"]+)", line (?P<line>\d+),? in (?P<function>\S+)')
_UNREADABLE = re.compile(
    r'\s+File "(?P<file>[^"]+)", line (?P<line>\d+)$'
)  # what cannot be compiled
_SYNTAX = {"SyntaxError", "IndentationError", "TabError"}
_REPEATED = re.compile(r"\s+\[Previous line repeated (\d+) more times?\]")
_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
_CURRENT = "Current thread 0x"  # the others stand before it
_FATAL = re.compile(r"Fatal Python error: (?P<what>.*)")

_NODE_POINTS = re.compile(r"\s*\^+\s*$")  # below the statement, or below what ended the program
_NODE_RAISED = re.compile(
    r"(?:Uncaught )?(?P<type>[A-Za-z_$][\w$.]*)(?: \[\w+\])?(?:: (?P<message>.*))?$"
)
_NODE_FRAME = re.compile(
    r"\s+at (?:(?:async |new )*(?P<function>[^()]+?)(?: \[as [^]]+\])? \()?"
    r"(?:async )?(?P<file>[^()]+):(?P<line>\d+):\d+\)?(?: \{)?$"
)
_NODE_URL = "file://"


class TracebackFrame(Struct, frozen=True):
    """A frame of a traceback."""

    function: str
    file: str
    line: int


class Traceback(Struct, frozen=True):
    """A parsed traceback, innermost frame first; `depth` includes the frames it omitted."""

    type: str
    message: str
    frames: tuple[TracebackFrame, ...]
    depth: int
    is_fatal: bool = False


def parse_traceback(lines: Sequence[str]) -> Traceback | None:
    """Parse the last traceback of an output, or the report of Python's fault handler."""
    if any(NODE_ENDS.match(line) for line in lines):
        return _parse_node(lines)
    fatal = next((at for at, line in enumerate(lines) if _FATAL.match(line)), None)
    if fatal is not None:
        return _parse_fault_handler(lines[fatal:])
    begins = [at for at, line in enumerate(lines) if line.strip().endswith(_BEGINS)]
    # Of the program's own file Python reports no more than the place and the error.
    begins = begins or [at - 1 for at, line in enumerate(lines) if _UNREADABLE.match(line)]
    return _parse_python(lines[begins[-1] + 1 :]) if begins else None


def _parse_python(lines: Sequence[str]) -> Traceback | None:
    frames: list[TracebackFrame] = []
    unreadable: list[TracebackFrame] = []
    depth = 0
    for line in lines:
        frame, repeated = _FRAME.match(line), _REPEATED.match(line)
        place = _UNREADABLE.match(line)
        if frame:
            frames.append(TracebackFrame(frame["function"], frame["file"], int(frame["line"])))
            depth += 1
        elif place:
            unreadable = [TracebackFrame("", place["file"], int(place["line"]))]
        elif repeated:
            depth += int(repeated[1])
        elif line and not line[0].isspace():
            raised = _RAISED.match(line)
            if raised is not None and raised["type"] in _SYNTAX:
                frames, depth = frames + unreadable, depth + len(unreadable)
            if raised is None or not frames:
                return None
            return Traceback(raised["type"], raised["message"] or "", tuple(frames[::-1]), depth)
    return None


def _parse_fault_handler(lines: Sequence[str]) -> Traceback | None:
    match = _FATAL.match(lines[0])
    frames: list[TracebackFrame] = []
    current = next((at for at, line in enumerate(lines) if line.startswith(_CURRENT)), 0)
    for line in lines[current + 1 :]:
        frame = _FRAME.match(line)
        if frame:
            frames.append(TracebackFrame(frame["function"], frame["file"], int(frame["line"])))
        elif frames:
            break
    if match is None or not frames:
        return None
    return Traceback("", match["what"], tuple(frames), len(frames), is_fatal=True)


def _parse_node(lines: Sequence[str]) -> Traceback | None:
    lines = with_marks(lines)
    points = [at for at, line in enumerate(lines) if _NODE_POINTS.match(line)]
    after = [line for line in lines[points[-1] + 1 :] if line.strip()] if points else []
    raised = _NODE_RAISED.match(after[0]) if after else None
    if raised is None:
        return None
    frames: list[TracebackFrame] = []
    for line in after[1:]:
        frame = _NODE_FRAME.match(line)
        if frame:
            file = frame["file"]
            path = unquote(file.removeprefix(_NODE_URL)) if file.startswith(_NODE_URL) else file
            frames.append(
                TracebackFrame(frame["function"] or "<anonymous>", path, int(frame["line"]))
            )
        elif frames:
            break
    if not frames:
        return None
    return Traceback(raised["type"], raised["message"] or "", tuple(frames), len(frames))


def is_cut(lines: Sequence[str]) -> bool:
    """Return whether a Node error report begins in an output, and does not end.

    Node writes the whole source line first; of the text that a process writes into a pipe at its
    end, Node loses all but 64 KB.
    """
    begins = any(NODE_PLACE.match(line) for line in lines)
    return begins and not any(NODE_ENDS.match(line) for line in lines)


def innermost_user_frame(found: Traceback, is_library: Callable[[str], bool]) -> TracebackFrame:
    """Return the innermost user frame; the innermost of all if there is none."""
    return next((one for one in found.frames if not is_library(one.file)), found.frames[0])
