"""Defines the budget of an answer, and builds and shortens the `data` object of `--json`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from debugger.model.answers import Answer, Children, VariableView

CHARACTERS_A_TOKEN = 4


class OutputStyle(Enum):
    """The reader of a text: compact for a program, or a terminal's colour and tables."""

    PLAIN = "plain"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class RenderPage:
    """The space for a text: `width` in columns, `limit` in characters in all."""

    style: OutputStyle
    width: int
    limit: int
    # The reader's folder: paths of files below it are relative to it.
    folder: str = ""

    @property
    def is_terminal(self) -> bool:
        """Whether the reader is a person at a terminal."""
        return self.style is OutputStyle.TERMINAL


def width_option(lines: Iterable[str]) -> str:
    """Return the option that would show all of these lines."""
    characters = sum(len(line) + 1 for line in lines)
    return f"--budget {(characters // CHARACTERS_A_TOKEN // 1000 + 1) * 1000}"


_CUT = frozenset({-1})
_PARTIAL_COLOUR = re.compile(r"\x1b(\[[0-9;:]*)?\Z")  # a colour of the program's, cut in two


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section of an answer, of `count` items (lines, values, characters)."""

    # `fit_text(n)` formats n items, at least a character each, and names the command for the
    # omitted ones.
    fit_text: Callable[[int], str]
    count: int = 0
    # The section with the highest rank is truncated first; all are truncated to their `floor`
    # before any is truncated further.
    rank: int = 0
    floor: int = 0


def fixed_section(text: str, rank: int = 0) -> TextSection:
    """Build a section that is shown whole or not at all."""
    return TextSection(lambda _: text, rank=rank)


def fit_sections(sections: Sequence[TextSection], limit: int) -> str:
    """Format sections, one below the other, in at most `limit` characters.

    If a section is omitted, the last line names it.
    """
    text, missing = _fit_text(sections, limit)
    if not missing or missing == _CUT:
        return text
    for mark in ("… more with a larger --budget", "…"):
        shorter, still_missing = _fit_text(sections, limit - len(mark) - 1)
        if still_missing == missing:
            return f"{shorter}\n{mark}"
    return text


def _fit_text(sections: Sequence[TextSection], limit: int) -> tuple[str, AbstractSet[int]]:
    """Return the text, and the indices of omitted sections; -1: the text itself is cut."""
    if limit <= 0:
        return "", set()
    texts = [section.fit_text(min(section.count, limit)) for section in sections]
    joined = _join_texts(texts)
    if len(joined) <= limit:
        return joined, set()
    filled = [at for at, text in enumerate(texts) if text]
    # The least important first; among equals the last one.
    order = sorted(filled, key=lambda at: (sections[at].rank, at), reverse=True)
    # Two rounds: every section to its floor, and only then below it.
    for to_floor in (True, False):
        for at in order:
            over = _text_length(texts) - limit
            if over <= 0:
                return _join_texts(texts), {one for one in filled if not texts[one]}
            section = sections[at]
            least = min(section.count, section.floor) if to_floor else 0
            texts[at] = _cut_section(section, texts[at], room=len(texts[at]) - over, least=least)
    for at in order[:-1]:
        if _text_length(texts) <= limit:
            break
        texts[at] = ""
    text, missing = _join_texts(texts), {at for at in filled if not texts[at]}
    if len(text) > limit:
        return _PARTIAL_COLOUR.sub("", text[: limit - 1]) + "…", _CUT
    return text, missing


def _cut_section(section: TextSection, now: str, *, room: int, least: int) -> str:
    low, high = least, min(section.count, max(room, least))
    best = section.fit_text(least)
    while low < high:
        middle = (low + high + 1) // 2
        text = section.fit_text(middle)
        if len(text) <= room:
            low, best = middle, text
        else:
            high = middle - 1
    # A note that something was cut may be longer than the thing itself.
    return best if len(best) < len(now) else now


def _join_texts(texts: Sequence[str]) -> str:
    return "\n".join(text for text in texts if text)


def _text_length(texts: Sequence[str]) -> int:
    return sum(len(text) + 1 for text in texts if text) - 1


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
    data = _to_plain(answer)
    if not isinstance(data, dict):
        raise TypeError(f"not an answer: {type(answer).__name__}")
    if budget is None:
        return data
    limit = CHARACTERS_A_TOKEN * budget
    return data if _fits_limit(data, limit) else _shrink_data(data, budget, limit)


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
        overhead = len("{}") + (len(",") if is_long else 0)
        size += len(_encode_json({key: [] if is_long else inner})) - overhead
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


def _shrink_data(data: dict[str, Any], budget: int, limit: int) -> dict[str, Any]:
    low, high = _SHORTEST, max(limit, _SHORTEST)
    # The least cap, in case nothing fits.
    best = _cap_values(data, low, budget)
    # A binary search for the largest cap that fits, since the size grows with the cap.
    while low < high:
        middle = (low + high + 1) // 2
        tried = _cap_values(data, middle, budget)
        if _fits_limit(tried, limit):
            low, best = middle, tried
        else:
            high = middle - 1
    return best if _fits_limit(best, limit) else _drop_keys(best, budget, limit)


def _cap_values(full: dict[str, Any], cap: int, budget: int) -> dict[str, Any]:
    cut: dict[str, None] = {}
    most = 0 if cap == _SHORTEST else cap // _ITEM
    data = {
        key: _cap_value(value, max(cap, _MAIN) if key in _MAIN_KEYS else cap, most, key, cut)
        for key, value in full.items()
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
    fields = {key: value for key, value in data.items() if key != "truncated"}
    order = sorted(fields, key=lambda key: (bool(fields[key]), -len(_encode_json(fields[key]))))
    for at, key in enumerate(order, 1):
        del fields[key]
        names = order[:1] if at == 1 else [order[0], f"… {at - 1} more"]
        less = {**fields, "truncated": {"budget": budget, "cut": names}}
        if _fits_limit(less, limit):
            return less
    return {"truncated": {"budget": budget, "cut": ["…"]}}
