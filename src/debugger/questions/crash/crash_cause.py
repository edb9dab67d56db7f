"""Explains a crash in one line, from the inspected stop or a sanitizer's report. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from debugger.model.exception_cause import (
    UNWRAPPED,
    ExceptionCause,
    explain_exception,
    find_empty_divisor,
    short_type,
)
from debugger.model.null_message import parse_missing_key
from debugger.model.statement import parts_of
from debugger.model.text_filters import clip_text, without_colour
from debugger.questions.crash.closed_channel import find_channel
from debugger.questions.crash.compiled_causes import explain_compiled
from debugger.questions.crash.complained_operand import (
    find_complained_operand,
    find_emptied,
    find_holder,
    find_overflowed,
)
from debugger.questions.crash.crash_facts import (
    VALUE_MAX,
    Cause,
    CrashFacts,
    format_values,
    is_null,
    is_zero,
    with_values,
)
from debugger.questions.crash.memory_fault import (
    choose_access,
    explain_memory_fault,
    find_wrong_part,
)
from debugger.questions.crash.sanitizer_report import parse_sanitizer_report
from debugger.sources.condition_text import split_arguments
from debugger.sources.nothing_calls import (
    describe_nothing_call,
    find_lookup_key,
    is_plain_path,
)

_PLAIN = re.compile(r"\"|-?\d+\Z")  # a text or a number
_ASSERTION = re.compile(
    r"Assertion [`'](?P<what>.*?)'? failed\.?\s*$|assertion failed: (?P<other>.*)"
)
_ABORTS = re.compile(
    r"^(?:.*: )?(?:free\(\)|malloc\(\)|realloc\(\)|corrupted |double free|munmap_chunk\(\)|"
    r"\*\*\* |terminate called|pure virtual method|fatal error|malloc: |corrupted size|"
    r"munmap_chunk|stack smashing)"
)
# What is no report of the heap.
_ENDED = re.compile(r"(?:.*: )?(?:terminate called|pure virtual method|fatal error)")
# What libstdc++ and libc++ say of a key that `at` does not find.
_MAP_AT = re.compile(r"(?:\w*map|_Map_base)::at\b")
_ADDRESS = re.compile(r"^0x[0-9a-f]+ (?=\")")
_BORROWED = re.compile(r"\A(?:RefCell )?already (?:mutably )?borrowed\b")  # Rust's
# Zig's runtime; its report goes on with source lines.
_PANIC = re.compile(r"(?:thread \d+ )?panic: (.+)")
# The object of a method, through which C++ reads members that are written without it.
OUT_OF_MEMORY = "OutOfMemory"  # V8's heap, for which it has no exception
# CRuby's words of an operand that its own methods refuse.
_REFUSED = re.compile(
    r"\Acomparison of .+ with .+ failed\Z|can't be coerced into|\Ano implicit conversion of "
    r"|\Adivided by 0\Z",
    re.DOTALL,
)
_OF_METHODS = ("undefined method ", "Call to a member function ")  # that nothing does not have
_ON_OTHER = re.compile(r"Call to a member function (?P<name>\w+)\(\) on (?P<type>\w+)\Z")  # PHP's
_UNWRAPPED_MAX = 2  # values of the call whose result was unwrapped
_ARITHMETIC = "SIGFPE"
_MEMORY = frozenset({"SIGSEGV", "SIGBUS"})
_OF_CHECKS = frozenset({"assertion", "panic", "abort", "exception"})  # kinds of a failed check
_WORDS = {
    "SIGILL": "illegal instruction",
    "SIGTRAP": "trap: a breakpoint instruction, or __builtin_trap",
    "SIGSYS": "forbidden system call",
    "SIGFPE": "arithmetic fault",
}
# Kinds of exceptions of whose culprit the syntax of what failed tells more than the message.
_BY_SYNTAX = frozenset({"exception", "nothing", "division_by_zero"})


def explain_crash(facts: CrashFacts) -> Cause:
    """Explain a crash; without better facts, by its signal or exception."""
    found = (
        _sanitizer_cause(facts)
        or _recursion_cause(facts)
        or _borrowed_cause(facts)
        or _unwrapped_call_cause(facts)
        or _nothing_call_cause(facts)
        or _empty_object_cause(facts)
        or _missing_key_cause(facts)
        or explain_compiled(facts)
        or _channel_cause(facts)
        or _exception_cause(facts)
        or _abort_cause(facts)
        or _signal_cause(facts)
        or Cause("unknown", facts.message or facts.exception or facts.signal or "unknown")
    )
    if found.kind in _OF_CHECKS and facts.compared and not is_null(_value_of(found, facts)):
        found = msgspec.structs.replace(found, culprit=facts.compared[0])
    where = f", in {facts.function}" if facts.function else ", at" if facts.place else ""
    where += f" {facts.place}" if facts.place else ""
    return msgspec.structs.replace(found, text=f"{found.text}{where}")


def _value_of(cause: Cause, facts: CrashFacts) -> str:
    return facts.values.get(cause.culprit, "")


def _sanitizer_cause(facts: CrashFacts) -> Cause | None:
    found = parse_sanitizer_report(facts.said, facts.runtime)
    if found is None or facts.signal is not None:  # a fault is told better than by its report
        return None
    through = [one for one in facts.accesses if one.how in {"->", "[]", "*", "."}]
    one = choose_access(msgspec.structs.replace(facts, address=found.address), through)
    if one is None or found.address is None:
        return Cause(found.kind, with_values(found.text, facts, facts.operands), found.notes)
    names = [one.base, *([one.inner] if one.how == "[]" else [])]
    text = f"{found.text}: {one.whole}, {format_values(facts, names)}"
    return Cause(found.kind, text, found.notes, find_wrong_part(one, facts))


def _recursion_cause(facts: CrashFacts) -> Cause | None:
    is_deep = facts.address_kind == "stack_overflow" or facts.exception in {
        "RecursionError",
        "RangeError",
    }
    text = facts.message.lower()
    is_overflow_text = (
        "maximum call stack" in text or "maximum recursion" in text or "stack overflow" in text
    )
    if not (is_deep and (facts.signal or is_overflow_text)) and not is_overflow_text:
        return None
    if facts.recursion is None:
        return Cause("stack_overflow", "stack overflow")
    function, count = facts.recursion
    # V8 keeps only the innermost frames.
    is_cut = facts.is_recursion_cut or facts.exception == "RangeError"
    least = "at least " if is_cut else ""
    return Cause("stack_overflow", f"stack overflow: {least}{count:,} frames of {function}")


def _exception_cause(facts: CrashFacts) -> Cause | None:
    if facts.exception is None and not facts.is_panic:
        return None
    if facts.exception == OUT_OF_MEMORY:
        return Cause("out_of_memory", f"out of memory: {facts.message}")
    found = explain_exception(
        facts.exception or "panic", facts.message, facts.accesses, facts.operands, facts.values
    )
    is_plain = found.kind == "exception" and facts.fields
    text = f"{found.text} {facts.fields}" if is_plain else found.text
    suspected = _suspected_cause(found, facts)
    if suspected is not None:
        return suspected
    culprit = _checked_operand(found, facts)
    if found.kind in {"exception", "panic"} and not culprit:
        culprit = facts.replaced or choose_operand(facts.reported, facts.values)
    if not culprit:
        culprit = _complained(found.kind, facts)
    names = found.names
    emptied = _find_emptied(found, facts)
    if emptied:
        culprit, names = emptied, (emptied,)
    if facts.is_panic and not culprit:
        names = find_overflowed(facts.message, facts.operands, facts.values) or names
        culprit = names[0] if names != found.names else ""
    known = tuple(one for one in facts.reported if one in facts.values)
    if facts.compared_calls and not is_null(facts.values.get(culprit, "")):
        culprit, known = facts.compared_calls[0], facts.compared_calls
    return Cause(
        found.kind,
        with_values(text, facts, names),
        culprit=culprit,
        compared_with=_compared_with(culprit, known),
    )


def _checked_operand(found: ExceptionCause, facts: CrashFacts) -> str:
    """Return the culprit of an exception; of a failed check the operand that decided."""
    culprit = found.culprit
    if found.kind == "assertion" and facts.guilty:
        culprit = choose_operand(facts.guilty, facts.values) or culprit
    if found.kind == "panic" and not culprit:  # an assertion with a message of its own
        culprit = choose_operand(facts.guilty or facts.asserted, facts.values)
    return culprit


def _suspected_cause(found: ExceptionCause, facts: CrashFacts) -> Cause | None:
    """Name what an error of Ruby or PHP is about, where its words alone do not."""
    called = _ON_OTHER.match(facts.message)
    if not facts.suspect or found.culprit:
        return None
    if called is not None:
        return _no_object_cause(found, facts, called)
    if found.kind == "missing_key":
        return _taken_apart_cause(facts)
    return _refused_cause(found, facts) if _REFUSED.search(facts.message) else None


def _refused_cause(found: ExceptionCause, facts: CrashFacts) -> Cause:
    """Name the operand that a method of Ruby's own refused; a block's result is not followed."""
    shown = clip_text(facts.suspect, VALUE_MAX)
    text = f"{found.text}: {shown}"
    if found.kind == "division_by_zero":
        text = f"division by zero: {shown} is 0 (ZeroDivisionError)"
    is_followed = is_plain_path(facts.suspect) or facts.suspect.endswith(")")
    return Cause(found.kind, text, culprit=facts.suspect if is_followed else "")


def _no_object_cause(found: ExceptionCause, facts: CrashFacts, called: re.Match[str]) -> Cause:
    """Name what a method was called of in PHP that is no object, as `false`."""
    value = clip_text(facts.values.get(facts.suspect, called["type"]), VALUE_MAX)
    is_plain = is_plain_path(facts.suspect)
    what = f"{facts.suspect} {'is' if is_plain else 'returned'} {value}"
    text = f"{what}, ->{called['name']}() of it is called ({facts.exception})"
    is_followed = is_plain or facts.suspect.endswith(")")
    return Cause(found.kind, text, culprit=facts.suspect if is_followed else "")


def _taken_apart_cause(facts: CrashFacts) -> Cause:
    """Name the array of PHP that has too few elements for what it is assigned to."""
    key = parse_missing_key(facts.exception or "", facts.message)
    text = f"key {key} is not in {clip_text(facts.suspect, VALUE_MAX)} ({facts.exception})"
    begin = facts.suspect.find("(") + 1
    parts = split_arguments(facts.suspect[begin:]) if begin else [facts.suspect]
    names = [one for one in parts if one.startswith("$") and is_plain_path(one)]
    culprit = names[0] if len(names) == 1 else ""
    return Cause(
        "missing_key", with_values(text, facts, names[:1] * bool(culprit)), culprit=culprit
    )


def _complained(kind: str, facts: CrashFacts) -> str:
    """Return what an exception is about, by the syntax of what failed, or else by its message."""
    if kind in _BY_SYNTAX and facts.suspect:
        return facts.suspect
    if kind not in {"exception", "nothing"}:
        return ""
    return find_holder(facts.message, facts.accesses, facts.values) or find_complained_operand(
        facts.exception or "", facts.message, facts.operands, facts.called, facts.values
    )


def _empty_object_cause(facts: CrashFacts) -> Cause | None:
    """Name the object of C++ that an exception of the standard library says is empty."""
    short = short_type(facts.exception or "")
    found: Sequence[str] = ()
    if short == "bad_optional_access":
        found = [one.base for one in facts.accesses if one.inner == "value"]
    elif short == "bad_function_call":
        own = re.split(r"::|\(", facts.function.partition("(")[0])[-1]
        found = [one for one in facts.called if one != own]  # a definition of one line
    if len(set(found)) != 1:
        return None
    use = "its value is read" if short == "bad_optional_access" else "it is called"
    return Cause("nothing", f"empty: {found[0]}, {use} ({short})", culprit=found[0])


def _missing_key_cause(facts: CrashFacts) -> Cause | None:
    """Name the key that `at` of a map of C++ did not find: the exception does not."""
    if short_type(facts.exception or "") != "out_of_range" or not _MAP_AT.match(facts.message):
        return None
    maps = [one.base for one in facts.accesses if one.inner == "at"]
    keys = [one for one in facts.operands if one not in maps and one in facts.values]
    if len(maps) != 1:
        return None
    key = keys[0] if len(keys) == 1 else ""
    # A reference is shown with its address.
    value = clip_text(_ADDRESS.sub("", facts.values.get(key, "")), VALUE_MAX)
    shown = f"key {key}={value}" if key else "the key"
    return Cause("missing_key", f"{shown} is not in {maps[0]} (out_of_range)", culprit=key)


def _channel_cause(facts: CrashFacts) -> Cause | None:
    """Name the channel of Go that was closed, or nil, when it was sent to or closed."""
    channel = find_channel(facts.message, facts.operands, facts.values)
    text = f"{facts.message.strip()}: {channel}"
    return Cause("closed_channel", text, culprit=channel) if channel else None


def _unwrapped_call_cause(facts: CrashFacts) -> Cause | None:
    """Say of a panic of Rust which call or variable gave the value that it is about."""
    if not facts.is_panic or not facts.nothing_call:
        return None
    found = explain_exception("panic", facts.message, (), (), {})
    by = f", returned by {facts.nothing_call}" if facts.nothing_call.endswith(")") else ""
    text = f"{found.text}{by}"
    key = find_lookup_key(facts.nothing_call)
    given = UNWRAPPED.search(facts.message) if not key else None
    value = ""
    if given is not None:
        inner = " ".join((given["value"] or "").split())
        value = f"{given['on']}({inner})" if inner else given["on"]
    names = [one for one in facts.operands if one not in {"self", *facts.called}]
    # What a text or a number was asked for: `value` of `value.parse::<i32>()`.
    bases = dict.fromkeys(one.base for one in facts.accesses if one.base not in names)
    names += [one for one in bases if _PLAIN.match(facts.values.get(one, ""))]
    return Cause(
        found.kind,
        with_values(text, facts, names[:_UNWRAPPED_MAX]),
        culprit=key or facts.nothing_call,
        culprit_value=clip_text(value, VALUE_MAX),
    )


def _borrowed_cause(facts: CrashFacts) -> Cause | None:
    """Name the cell of Rust that is borrowed already: its flag was set by the first borrow."""
    if not facts.is_panic or not _BORROWED.search(facts.message):
        return None
    cells = {one.base for one in facts.accesses if one.inner in {"borrow", "borrow_mut"}}
    if len(cells) != 1:
        return None
    (cell,) = cells
    return Cause("panic", f"panic: {facts.message.strip()}: {cell}", culprit=f"{cell}.borrow")


def _nothing_call_cause(facts: CrashFacts) -> Cause | None:
    """Say of an exception that a call returned nothing, where no variable of the statement is."""
    bases = (one.base for one in facts.accesses)
    is_known = any(is_null(facts.values.get(one, "")) for one in bases)
    # Of several that are nothing the messages of Ruby and PHP tell which one it is.
    is_known = is_known and not (facts.message.startswith(_OF_METHODS) and facts.suspect)
    if facts.exception is None or not facts.nothing_call or is_known:
        return None
    short = short_type(facts.exception or "")
    text = describe_nothing_call(facts.nothing_call, facts.message, short)
    is_followed = facts.is_nothing_followed or is_plain_path(facts.nothing_call)
    return Cause("nothing", text, culprit=facts.nothing_call if is_followed else "")


def _find_emptied(found: ExceptionCause, facts: CrashFacts) -> str:
    """Return the empty container that an exception complains about, of which it names no value."""
    if found.kind not in {"exception", "index_out_of_range", "missing_key"} or found.culprit:
        return ""
    short = short_type(facts.exception or "")
    return find_emptied(short, facts.message, facts.accesses, facts.operands, facts.values)


def _compared_with(culprit: str, known: Sequence[str]) -> str:
    """Return the other value of a comparison: no part of the first, and no constant by its name."""
    for one in known:
        is_part = culprit.startswith(one) or one.startswith(culprit)
        if culprit and not is_part and not one.rpartition(".")[2].isupper():
            return one
    return ""


def parse_assertion(line: str) -> str | None:
    """Return the condition in an assertion's message."""
    match = _ASSERTION.search(line)
    return (match["what"] or match["other"]) if match else None


def _abort_cause(facts: CrashFacts) -> Cause | None:
    if facts.signal != "SIGABRT":
        return None
    for line in reversed(facts.said):
        what = parse_assertion(line)
        if what is not None:
            text = with_values(f"assertion failed: {what}", facts, facts.operands)
            culprit = choose_operand(facts.guilty or facts.operands, facts.values)
            if facts.compared_calls and not is_null(facts.values.get(culprit, "")):
                culprit = facts.compared_calls[0]
            return Cause("assertion", text, culprit=culprit)
    abort_text = next((one for one in reversed(facts.said) if _ABORTS.match(one)), None)
    if abort_text is not None:
        kind = "double_free" if "double free" in abort_text else "heap_corruption"
        kind = "stack_smashing" if "stack smashing" in abort_text else kind
        kind = "abort" if _ENDED.match(abort_text) else kind
        return Cause(kind, with_values(f"abort: {abort_text.strip()}", facts, facts.operands))
    plain = (without_colour(one) for one in reversed(facts.said))
    panic = next((one for one in map(_PANIC.match, plain) if one is not None), None)
    if panic is not None:
        return Cause("panic", with_values(f"panic: {panic[1]}", facts, facts.operands))
    last = next((one.strip() for one in reversed(facts.said) if one.strip()), "")
    text = f"abort: after printing {clip_text(last, 100)!r}" if last else "abort"
    culprit = choose_operand(facts.reported, facts.values)
    return Cause("abort", with_values(text, facts, [culprit]), culprit=culprit)


def _signal_cause(facts: CrashFacts) -> Cause | None:
    if facts.signal == _ARITHMETIC:
        empty = find_empty_divisor(facts.accesses, facts.values)
        if empty is not None:
            text = f"division by zero: {empty.whole} is 0 with {format_values(facts, [empty.base])}"
            return Cause("division_by_zero", text, culprit=empty.base)
        divisors = [one.base for one in facts.accesses if one.how == "/"]
        zero = next((one for one in divisors if is_zero(facts.values.get(one, ""))), None)
        if zero is not None:
            shown = format_values(facts, [zero, *parts_of(zero, facts.operands)])
            text = f"division by zero: {shown}"
            return Cause("division_by_zero", text, culprit=zero)
        return Cause(
            "division_by_zero", with_values("division by zero, or overflow", facts, divisors)
        )
    if facts.signal in _MEMORY:
        return explain_memory_fault(facts)
    if facts.signal is None:
        return None
    words = _WORDS.get(facts.signal, facts.signal)
    return Cause("signal", f"{words} ({facts.signal})" if words != facts.signal else words)


def choose_operand(operands: Sequence[str], values: Mapping[str, str]) -> str:
    """Choose the operand of an assertion that is nothing, or else the first with a value."""
    known = [one for one in operands if one in values]
    return next((one for one in known if is_null(values[one])), next(iter(known), ""))
