"""Builds the `data` object of `--json`, and shortens one that exceeds the budget."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from typing import Any

from debugger.model.answers import Answer, Children, VariableView
from debugger.output.page import CHARACTERS_A_TOKEN

_UNSET = VariableView(name="", value="").ref  # only core may know what its values are made of
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEAVES = frozenset({bool, float, int, str})
_FOR_TEXT_ONLY = frozenset({"noun", "show_type", "stack_own", "usual_exit"})
_SHORTEST = 20  # characters of a string, before whole keys are left out
_MAIN_KEYS = frozenset({"cause", "exception"})
_MAIN = 160  # of the strings that say what an answer is about
_ITEM = 20  # characters of a string are cut for each item of a list
_PATHS = 10  # truncated keys that are named
_TOGETHER = 50  # items of a list that are measured at once


def to_data(answer: Answer, *, budget: int | None) -> dict[str, Any]:
    """Build the object that `--json` puts under `data`, as plain values.

    With a `budget` (tokens of four characters) the longest lists lose their tails and the longest
    strings their ends until the JSON fits; `truncated` names them.
    """
    whole = _to_plain(answer)
    if not isinstance(whole, dict):
        raise TypeError(f"not an answer: {type(answer).__name__}")
    if budget is None:
        return whole
    limit = CHARACTERS_A_TOKEN * budget
    return whole if _fits_limit(whole, limit) else _shrink_data(whole, budget, limit)


def to_json(answer: Answer, *, budget: int | None) -> str:
    """Encode `to_data` as one line of JSON."""
    return _encode_json(to_data(answer, budget=budget))


def _encode_json(value: object) -> str:
    return _ENCODER.encode(value)


def _fits_limit(value: Mapping[str, Any], limit: int) -> bool:
    # In parts, so that what is far too long is not written to its end.
    size = len("{}") + max(len(value) - 1, 0)
    for key, inner in value.items():
        is_long = isinstance(inner, list) and len(inner) > _TOGETHER
        for start in range(0, len(inner), _TOGETHER) if is_long else ():
            # Of each part the brackets are left out, and the comma after it is put in.
            size += len(_encode_json(inner[start : start + _TOGETHER])) - len("[]") + len(",")
            if size > limit + len(","):
                return False
        around = len("{}") + (len(",") if is_long else 0)
        size += len(_encode_json({key: [] if is_long else inner})) - around
        if size > limit:
            return False
    return size <= limit


def _to_plain(value: Any) -> Any:
    # Most values are these; asking them for their protocols takes longer than all the rest.
    kind = type(value)
    if value is None or kind is bool or kind is int or (kind is str and value.isascii()):
        return value
    if kind in _LEAVES:
        return _plain_leaf(value)
    if isinstance(value, Children):
        value = value.to_keys()
    elif hasattr(value, "__struct_fields__"):
        value = dict(_shown_fields(value))
    if isinstance(value, Mapping):
        return {_plain_leaf(str(key)): _to_plain(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list, set, frozenset)):
        return [_to_plain(inner) for inner in value]
    return _plain_leaf(value)


def _plain_leaf(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # What a program prints need not be Unicode; what we send must.
    text = str(value)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _shown_fields(value: Any) -> Iterable[tuple[str, Any]]:
    kind: Any = type(value)
    for name in _field_names(kind):
        inner = getattr(value, name)
        if inner is not _UNSET:
            yield name, inner


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in _FOR_TEXT_ONLY)


def _shrink_data(whole: dict[str, Any], budget: int, limit: int) -> dict[str, Any]:
    low, high = _SHORTEST, max(limit, _SHORTEST)
    # The least cap, in case nothing fits.
    best = _cap_values(whole, low, budget)
    # A binary search for the largest cap that fits, since the size grows with the cap.
    while low < high:
        middle = (low + high + 1) // 2
        tried = _cap_values(whole, middle, budget)
        if _fits_limit(tried, limit):
            low, best = middle, tried
        else:
            high = middle - 1
    return best if _fits_limit(best, limit) else _drop_keys(best, budget, limit)


def _cap_values(whole: dict[str, Any], cap: int, budget: int) -> dict[str, Any]:
    cut: dict[str, None] = {}
    most = 0 if cap == _SHORTEST else cap // _ITEM
    data = {
        key: _cap_value(value, max(cap, _MAIN) if key in _MAIN_KEYS else cap, most, key, cut)
        for key, value in whole.items()
    }
    return {**data, "truncated": {"budget": budget, "cut": _cut_paths(cut)}}


def _cap_value(value: Any, cap: int, most: int, path: str, cut: dict[str, None]) -> Any:
    if isinstance(value, str) and len(value) > cap:
        cut[path] = None
        return value[: cap - 1] + "…"
    if isinstance(value, list):
        if len(value) > most:
            cut[f"{path}[{most}:]"] = None
        return [_cap_value(inner, cap, most, f"{path}[]", cut) for inner in value[:most]]
    if isinstance(value, dict):
        return {
            key: _cap_value(inner, cap, most, f"{path}.{key}", cut) for key, inner in value.items()
        }
    return value


def _cut_paths(cut: Iterable[str]) -> list[str]:
    paths = [path if len(path) <= _SHORTEST * 2 else path[: _SHORTEST * 2] + "…" for path in cut]
    more = len(paths) - _PATHS
    return [*paths[:_PATHS], f"… {more} more"] if more > 0 else paths


def _drop_keys(data: dict[str, Any], budget: int, limit: int) -> dict[str, Any]:
    """Drop whole keys: first empty ones, then the longest."""
    kept = {key: value for key, value in data.items() if key != "truncated"}
    order = sorted(kept, key=lambda key: (bool(kept[key]), -len(_encode_json(kept[key]))))
    for at, key in enumerate(order, 1):
        del kept[key]
        said = order[:1] if at == 1 else [order[0], f"… {at - 1} more"]
        less = {**kept, "truncated": {"budget": budget, "cut": said}}
        if _fits_limit(less, limit):
            return less
    return {"truncated": {"budget": budget, "cut": ["…"]}}
