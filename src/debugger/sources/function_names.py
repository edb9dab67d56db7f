"""Compares the name that a user gives a function with the names that languages give it. Pure.

Python says `outer.<locals>.inner`, C++ `a::(anonymous namespace)::f<int>`, Rust
`<shop::Cart as shop::Priced>::total`, Go `shop/util.(*Tree).Add`, V8 `get total`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TypeVar

_Item = TypeVar("_Item")
# Parts without a name of their own: nobody types them.
_NAMELESS = re.compile(r"\(anonymous[^()]*\)|\{impl#\d+\}|<anonymous>|<locals>")
_CLOSURE = re.compile(r"\{\{closure\}\}|\{closure(?:#\d+|_env#\d+)?\}")
_ACCESSOR = re.compile(r"\A(?:get|set|static|async)\s+")
_TRAIT = re.compile(r"\A<(?P<type>.+?)(?:\s+as\s+.+)?>\Z", re.DOTALL)
# The trait of `<A as B<C>>::f`.
_AS_TRAIT = re.compile(r"<.+?\sas\s(?P<trait>.+)>(?=::)", re.DOTALL)
_OPEN, _CLOSE = "<({[", ">)}]"
_SCOPE_MARK = re.compile(r"[<({\[>)}\].]|::")
_EXACT, _LOOSE = 0, 1


def split_name(name: str) -> tuple[str, ...]:
    """Split a function's name into its parts, without what nobody types.

    Template arguments, receivers' stars, anonymous namespaces and numbers of closures are dropped.
    """
    name = _undo_mangling(name)
    folder, slash, tail = name.rpartition("/")
    parts = []
    for part in _split_scopes(tail if slash and "(" not in folder else name):
        plain = _plain_part(part)
        if plain:
            parts.append(plain)
    return tuple(parts)


def _undo_mangling(name: str) -> str:
    """Decode what rustc's legacy mangling leaves of `<A as B>::f`, as gdb 16 shows it."""
    if "$LT$" not in name:
        return name
    for code, text in (("_$LT$", "<"), ("$LT$", "<"), ("$GT$", ">"), ("$u20$", " "), ("..", "::")):
        name = name.replace(code, text)
    return name


def _split_scopes(name: str) -> Iterable[str]:
    """Split at each `.` and `::` outside of brackets."""
    depth = start = 0
    for found in _SCOPE_MARK.finditer(name):
        at, mark = found.start(), found[0]
        if mark in _OPEN or mark in _CLOSE:
            is_operator = name.endswith(("operator", "operator<", "operator>", "-", "="), start, at)
            if not is_operator:
                depth += 1 if mark in _OPEN else -1
        elif depth <= 0:
            yield name[start:at]
            start = found.end()
    yield name[start:]


def _plain_part(part: str) -> str:
    text = part.strip()
    if _NAMELESS.fullmatch(text):
        return ""
    if _CLOSURE.fullmatch(text):
        return "{closure}"
    if text.startswith("operator"):
        return text
    receiver = re.fullmatch(r"\(\*?([^()]+)\)", text)  # of Go
    if receiver is not None:
        return receiver[1].partition("[")[0]
    trait = _TRAIT.match(text)
    if trait is not None and not text.startswith(("<lambda", "<module")):
        inner = split_name(trait["type"].lstrip("&"))
        return inner[-1] if inner else ""
    text = _ACCESSOR.sub("", text).removeprefix("#")
    return re.split(r"[<(\[]", text, maxsplit=1)[0] if text[:1] not in "<([{" else text


def rank_match(requested: str, name: str, file: str = "") -> int | None:
    """Return how a function's name fits: 0 by its last parts, 1 with parts left out; None: not.

    The file's path counts as names around the function: `shop.cart.total` is `total` of
    shop/cart.py. A `*` in the wanted name stands for anything.
    """
    parts = split_name(name)
    if not parts:
        return None
    if "*" in re.sub(r"\(\*", "(", requested):
        plain = ".".join(parts)
        pattern = requested.replace("::", ".")
        return _EXACT if fnmatchcase(plain, pattern) or fnmatchcase(name, requested) else None
    requested_parts = split_name(requested)
    if not requested_parts or requested_parts[-1] != parts[-1]:
        return None
    if requested_parts in (parts[-len(requested_parts) :], _trait_parts(name, requested_parts)):
        return _EXACT
    path = PurePath(file)
    folders = path.parts[:-1] if path.stem == "__init__" else (*path.parts[:-1], path.stem)
    full_name = (*folders, *parts)
    if file and full_name[-len(requested_parts) :] == requested_parts:
        return _EXACT
    return _LOOSE if _is_within(requested_parts, full_name if file else parts) else None


def _trait_parts(name: str, requested: Sequence[str]) -> tuple[str, ...]:
    """Return the last parts of a Rust method's name with its trait in the place of its type."""
    plain = _undo_mangling(name)
    found = _AS_TRAIT.search(plain)
    if found is None:
        return ()
    return split_name(f"{found['trait']}{plain[found.end() :]}")[-len(requested) :]


def _is_within(some: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether parts occur in their order, with others between them."""
    rest = iter(parts)
    return all(one in rest for one in some)


def choose_matches(
    pattern: str, some: Iterable[_Item], describe: Callable[[_Item], tuple[str, str]]
) -> list[_Item]:
    """Return what a name means: those that fit by their last parts, or else those that fit at all.

    `describe` returns an item's name and file.
    """
    ranked: dict[int, list[_Item]] = {}
    for one in some:
        rank = rank_match(pattern, *describe(one))
        if rank is not None:
            ranked.setdefault(rank, []).append(one)
    return ranked[min(ranked)] if ranked else []


def last_part(name: str) -> str:
    """Return the name without its scopes."""
    parts = split_name(name)
    return parts[-1] if parts else name
