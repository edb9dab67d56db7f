"""Answers as text, or as plain values, within a budget."""

from __future__ import annotations

from debugger.render.page import Style
from debugger.render.structured import to_data, to_json
from debugger.render.text import text

__all__ = ["Style", "text", "to_data", "to_json"]
