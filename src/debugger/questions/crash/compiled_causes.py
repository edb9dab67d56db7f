"""Explains what C++ leaves to the reader: empty containers, iterators, abstract calls. Pure."""

from __future__ import annotations

import re

from debugger.model.exception_cause import short_type
from debugger.questions.crash.complained_operand import only_one
from debugger.questions.crash.crash_facts import Cause, CrashFacts

# Methods of a container that must have an element.
_OF_ELEMENT = frozenset({"back", "front", "top", "pop", "pop_back", "pop_front"})
_SIZE = re.compile(r"size=(?P<size>\d+)\b")  # as a container is shown
_WHOLE_NUMBER = re.compile(r"-?\d+")
_ITERATOR = re.compile(r"\{.*[_:]iterator", re.DOTALL | re.IGNORECASE)
_PURE = "pure virtual method called"
_NO_EXCEPTION = "terminate called without an active exception"
_CONVERTS = re.compile(r"sto(?:i|l|ll|ul|ull|f|d|ld)\Z")  # libstdc++'s whole message
_NEAR = 0x10000
_MEMORY = frozenset({"SIGSEGV", "SIGBUS"})


def explain_compiled(facts: CrashFacts) -> Cause | None:
    """Explain a fault or an abort of C++ by what its standard library says nothing of."""
    if facts.signal == "SIGABRT":
        return _converted_cause(facts) or _ended_cause(facts)
    if facts.signal not in _MEMORY:
        return None
    return _element_cause(facts) or _iterator_cause(facts)


def _element_cause(facts: CrashFacts) -> Cause | None:
    """Name the container without the element that a statement reads."""
    for one in facts.accesses:
        known = _SIZE.match(facts.values.get(one.base, ""))
        if known is None:
            continue
        size = int(known["size"])
        if one.how in {".", "->"} and one.inner in _OF_ELEMENT and not size:
            text = f"empty: {one.base}, {one.inner}() of it is called"
            return Cause("nothing", text, culprit=one.base)
        index = facts.values.get(one.inner, one.inner) if one.how == "[]" else ""
        if _WHOLE_NUMBER.fullmatch(index) and not 0 <= int(index) < size:
            is_named = not _WHOLE_NUMBER.fullmatch(one.inner)
            shown = f"{one.inner}={index}" if is_named else index
            culprit = one.inner if is_named and size else one.base
            text = f"index {shown} out of range, {one.base} has {size}"
            return Cause("index_out_of_range", text, culprit=culprit)
    return None


def _iterator_cause(facts: CrashFacts) -> Cause | None:
    """Name the iterator through which a statement read near null: a container's end, mostly."""
    if facts.address is None or facts.address >= _NEAR:
        return None
    through = [one for one in facts.accesses if one.how in {"->", "*"}]
    found = [one for one in through if _ITERATOR.match(facts.values.get(one.base, ""))]
    if len({one.base for one in found}) != 1:
        return None
    text = f"null pointer: {found[0].whole}, {found[0].base} is an iterator of no element"
    return Cause("null_pointer", f"{text}, as the end", culprit=found[0].base)


def _converted_cause(facts: CrashFacts) -> Cause | None:
    """Name the only text that `std::stoi` and its like could not convert."""
    short = short_type(facts.exception or "")
    if short not in {"invalid_argument", "out_of_range"} or not _CONVERTS.match(facts.message):
        return None
    texts = [one for one in facts.operands if '"' in facts.values.get(one, "")]
    if len(texts) != 1:
        return None
    why = "is no number" if short == "invalid_argument" else "is out of the type's range"
    text = f"{short}: {facts.message} of {texts[0]}={facts.values[texts[0]]}, which {why}"
    return Cause("exception", text, culprit=texts[0])


def _ended_cause(facts: CrashFacts) -> Cause | None:
    """Explain an abort by the runtime of C++ that no exception has caused."""
    if any(_PURE in one for one in facts.said[-4:]):
        own = re.split(r"::|\(", facts.function.partition("(")[0])[-1]  # of one line
        called = only_one([one for one in facts.called if re.fullmatch(r"\w+", one) and one != own])
        what = f"the pure virtual {called}()" if called else "a pure virtual function"
        when = "while its object is built or destroyed"
        return Cause("abort", f"call of {what} {when}")
    is_plain = any(_NO_EXCEPTION in one for one in facts.said[-2:])
    threads = [one for one in facts.runtime if re.match(r"std::thread::(?:~thread|operator)", one)]
    if is_plain and threads:
        text = "terminate: a std::thread was destroyed or assigned to, and was not joined"
        return Cause("abort", text)
    return None
