"""Formats answers as text or as plain values, within a budget."""

from __future__ import annotations

from debugger.output.structured import OutputStyle, to_data, to_json

__all__ = ["OutputStyle", "to_data", "to_json"]
