"""Removes the parts of a text that only colour it. Pure."""

from __future__ import annotations

import re

# "Select graphic rendition", ECMA-48 8.3.117.
SGR = re.compile("(\x1b\\[[0-9;:]{0,60}m)")


def without_colour(text: str) -> str:
    """Return a text without the sequences that only colour it."""
    return SGR.sub("", text)
