"""Rewrites V8's previews of values as a reader wants them: without noise, with what they hold.

Pure. Facts are of js-debug 1.112 with Node 20.20.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.model.program import Variable

_SHORT = 100
_KIND_ALONE = re.compile(r"[\w$]+\Z")
_ABBREVIATED = re.compile(
    r"\{…\}|\bArray\(\d+\)|\b(?:Map|Set)\([1-9]\d*\)(?! [{\[])|"
    r"(?<=[\[ ])(?!NaN|Infinity)[A-Z_$][\w$]*(?=[,\]}])"
)
_LENGTH = re.compile(r"\((\d+)\) \[")
_HEAD = re.compile(r"([\w$]*\((\d+)\)) ?")
# js-debug writes a line break as it is, or as `\n` where an expression was evaluated.
FRAME = re.compile(r"(?:\n|\\n)\s+at ")
# A frame of a stack, up to its position, or to where V8 cut the text: at its end or in its middle.
_FRAME_TEXT = re.compile(
    FRAME.pattern + r"(?:(?!\n|\\n).)*?(?:\d+:\d+|…[\d:]*|<anonymous>|native|index \d+)\)*"
    r"(?=\n|\\n|, (?!<anonymous>:)| \{|[\]}']|\Z)"
)
_ERROR = re.compile(r"[\w$.]+(?:: |\n|\\n)")
# What V8 lists of an error that its first line says already.
_STACK_FIELDS = re.compile(r"(?<=[{ ])(?:stack|message): '.*?'(?:, |(?=\}))", re.DOTALL)
_BYTES = re.compile(
    r"(?:, |(?<=\[))buffer: (?:Shared)?ArrayBuffer\(\d+\), byteLength: \d+, byteOffset: \d+, "
    r"length: \d+(?:, Symbol\(Symbol\.toStringTag\): '\w+')?(?=[,\]])"
)
_ASYNC_IDS = re.compile(r", Symbol\((?:trigger_)?async_id_symbol\): \d+")
_SIZE = re.compile(r"\A((?:[\w$]+)\(\d+\) \{)size: \d+(?:, )?")


def plain_preview(value: str) -> str:
    """Leave out the stack of an Error, and what all typed arrays, promises and collections have."""
    if FRAME.search(value):
        value = _FRAME_TEXT.sub("", value)
        if _ERROR.match(value):
            value = _STACK_FIELDS.sub("", value).replace(", }", "}").removesuffix(" {}")
        first, *cut = FRAME.split(value, maxsplit=1)
        value = f"{first}…" if cut else first
    for noise in (_BYTES, _ASYNC_IDS):
        value = noise.sub("", value)
    return _SIZE.sub(r"\1", value)


def is_abbreviated(value: str) -> bool:
    """Tell whether a preview says only of which kind something is that it holds."""
    return bool(_ABBREVIATED.search(value))


def array_preview(value: str, elements: Sequence[Variable], count: int) -> str:
    """Write the first elements of an array; what is missing between them are holes."""
    length = _LENGTH.match(value)
    if length is None or not elements:
        return value
    size = int(length[1])
    found = {int(one.name): one.value for one in elements}
    shown = [found.get(at, "<empty>") for at in range(min(size, count))]
    more = ", …" if size > count else ""
    return f"({size}) [{', '.join(shown)}{more}]"


def entry_count(value: str) -> int | None:
    """Read how many entries a Map or a Set has."""
    head = _HEAD.match(value)
    return int(head[2]) if head is not None else None


def collection_preview(value: str, entries: Sequence[str]) -> str:
    """Write the first entries of a Map or a Set.

    V8's own preview has strings without quotes, as if they were numbers, so without entries only
    the size is written.
    """
    head = _HEAD.match(value)
    if head is None:
        return value
    if not entries:
        return head[1] if int(head[2]) else f"{head[1]} {{}}"
    more = ", …" if int(head[2]) > len(entries) else ""
    return f"{head[1]} {{{', '.join(entries)}{more}}}"


def object_preview(value: str, fields: Sequence[Variable]) -> str:
    """Put into an object's preview what its fields hold."""
    for one in fields:
        if not one.handle or len(one.value) > _SHORT or _KIND_ALONE.match(one.value):
            continue
        field = re.compile(rf"(?<=[{{ ]){re.escape(one.name)}: (?:{_ABBREVIATED.pattern})")
        found = field.search(value)
        if found is not None:
            value = f"{value[: found.start()]}{one.name}: {one.value}{value[found.end() :]}"
    return value
