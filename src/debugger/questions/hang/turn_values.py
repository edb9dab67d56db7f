"""Reads the identities of a loop's objects, and finds a cycle of them. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence

from msgspec import Struct

from debugger.model.debugger_words import Runtime

_PERIOD_MAX = 8
_PLAIN = "(int,float,complex,bool,str,bytes,type(None))"
_SIZED = "(list,tuple,dict,set,frozenset)"
# The parameters hide nothing of the program: the value is evaluated outside of the function.
_PYTHON = (
    "(lambda v,t: ('' if t in {plain} else str(id(v)))+'|'"
    "+(repr(v)[:60] if t in {plain} else t.__name__+(' of %d'%len(v) if t in {sized} else '')))"
    "(*(lambda v:(v,type(v)))({name}))"
)
_NODE = (
    "((v)=>{{const k=Symbol.for('debugger.turns'),g=globalThis[k]??={{m:new WeakMap(),n:0}};"
    "const o=(typeof v==='object'&&v!==null)||typeof v==='function';"
    "if(o&&!g.m.has(v))g.m.set(v,++g.n);"
    "return (o?g.m.get(v):'')+'|'+(o?(v.constructor?.name||'Object')+"
    "(Array.isArray(v)?' of '+v.length:''):String(v).slice(0,60))}})({name})"
)
_POINTER = re.compile(r"\s*(?:\([^()]*\)\s*)?(0x[0-9a-fA-F]+)\b")
_NULL = re.compile(r"0x0+\Z")


class ObservedValue(Struct, frozen=True):
    """A value at one turn: its text, and of an object its identity."""

    text: str
    identity: str = ""


def identity_expression(name: str, runtime: Runtime) -> str:
    """Return an expression of a value's identity and text; of native code the value itself."""
    if runtime is Runtime.PYTHON:
        return _PYTHON.format(plain=_PLAIN, sized=_SIZED, name=name)
    if runtime is Runtime.NODE:
        return _NODE.format(name=name)
    return name


def parse_value(value: str, kind: str, runtime: Runtime) -> ObservedValue | None:
    """Parse the value of an identity expression; None if there is none."""
    if runtime in {Runtime.PYTHON, Runtime.NODE}:
        text = _unquote(value)
        identity, bar, rest = text.partition("|")
        if not bar or (identity and not identity.isdecimal()):
            return None
        return ObservedValue(rest, identity)
    pointer = _POINTER.match(value)
    is_pointer = kind.rstrip().endswith("*") or kind.lstrip().startswith(("*", "&"))
    if pointer is not None and is_pointer:
        identity = "" if _NULL.match(pointer[1]) else pointer[1].lower()
        return ObservedValue(value.strip(), identity)
    return ObservedValue(value.strip())


def _unquote(value: str) -> str:
    try:
        read = ast.literal_eval(value) if value[:1] == "'" else json.loads(value)
    except (ValueError, SyntaxError):
        return value
    return read if isinstance(read, str) else value


def find_cycle(values: Sequence[ObservedValue]) -> int:
    """Return how many objects the values go round; 0 where they are not the same ones again."""
    if not values or any(not one.identity for one in values):
        return 0
    seen = [one.identity for one in values]
    for period in range(1, min(_PERIOD_MAX, len(seen) // 2) + 1):
        if all(one == seen[at - period] for at, one in enumerate(seen) if at >= period):
            return period
    return 0


def number_objects(values: Sequence[ObservedValue]) -> list[str]:
    """Return the values with each object's number, in the order of their appearance."""
    numbers: dict[str, int] = {}
    texts = []
    for one in values:
        if not one.identity:
            texts.append(one.text)
            continue
        number = numbers.setdefault(one.identity, len(numbers) + 1)
        texts.append(f"#{number}")
    return texts
