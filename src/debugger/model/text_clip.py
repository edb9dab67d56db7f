"""Cuts long values, once or several times, without losing how long they were. Pure."""

from __future__ import annotations

import re

GAP = " … "
_LENGTH = re.compile(r" \(([\d,]+) characters\)\Z")


def clip_text(text: str, most: int) -> str:
    """Cut the middle out of a text over `most` characters, and say how long it was at first."""
    if len(text) <= most:
        return text
    body, length = parse_clipped(text)
    said = f" ({length:,} characters)"
    half = max((most - len(GAP) - len(said)) // 2, 1)
    return f"{body[:half]}{GAP}{body[-half:]}{said}"


def parse_clipped(text: str) -> tuple[str, int]:
    """Return what an earlier cut left of a text, and how long the text was before it."""
    said = _LENGTH.search(text)
    if said is None or GAP not in text:
        return text, len(text)
    return text[: said.start()], int(said[1].replace(",", ""))
