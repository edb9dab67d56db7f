"""Builds XML and HTML by elements: every text is escaped, except what an element returned."""

from __future__ import annotations

import re
from collections.abc import Mapping

# What XML 1.0 does not allow, not even as a reference, and what a reader must not take for text of
# the page: controls, halves of surrogate pairs, and marks that turn the direction of writing.
_NOT_ALLOWED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
_REFERENCES: Mapping[int, str] = {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#39;",
}
# A parser makes other characters of them within an attribute.
_BLANKS: Mapping[int, str] = {ord("\n"): "&#10;", ord("\r"): "&#13;", ord("\t"): "&#9;"}


class Markup(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()


def escape_text(text: str) -> Markup:
    """Escape a text for the content of an element; what XML forbids becomes U+FFFD."""
    if isinstance(text, Markup):
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\ufffd")
    return Markup(_NOT_ALLOWED.sub("\ufffd", lines).translate(_REFERENCES))


def element(name: str, /, *content: str, **attributes: object) -> Markup:
    """Build an element.

    Args:
        name: Its name.
        content: Texts, which are escaped, and elements.
        attributes: By their names, with `_` for `-` and at the end (`class_`); None and False are
            left out, True stands without a value of its own.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute_text(value)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    inner = "".join(map(escape_text, content))
    # An element of HTML that may have content is never closed at once.
    if not inner and name in _EMPTY:
        return Markup(f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{inner}</{name}>")


_EMPTY = frozenset(
    {"meta", "br", "hr", "rect", "line", "path", "circle", "polygon", "polyline", "use"}
)


def _attribute_text(value: object) -> str:
    if value is True:
        return ""
    if isinstance(value, float):
        return format_coordinate(value)
    text = _NOT_ALLOWED.sub("\ufffd", str(value))
    return text.translate(_REFERENCES).translate(_BLANKS)


def format_coordinate(value: float) -> str:
    """Format a coordinate with at most one decimal."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def join_markup(*parts: str) -> Markup:
    """Join elements and texts; texts are escaped."""
    return Markup("".join(map(escape_text, parts)))
