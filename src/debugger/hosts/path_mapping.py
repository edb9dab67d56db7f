"""Replaces folders of this machine by those of another in arguments, and back in answers. Pure."""

from __future__ import annotations

import re
from typing import Any

from debugger.model.location import SourceMap


def map_arguments(value: Any, folders: SourceMap) -> Any:
    """Return arguments with the folders of the other machine; what is no path stays as it is."""
    if not folders:
        return value
    if isinstance(value, str):
        return folders.to_built(value)
    if isinstance(value, list | tuple):
        return [map_arguments(one, folders) for one in value]
    return value


def map_answer(value: Any, folders: SourceMap) -> Any:
    """Return an answer, text or plain values, with the folders of this machine."""
    if not folders:
        return value
    if isinstance(value, str):
        return _map_text(value, folders)
    if isinstance(value, list | tuple):
        return [map_answer(one, folders) for one in value]
    if isinstance(value, dict):
        return {name: map_answer(one, folders) for name, one in value.items()}
    return value


def _map_text(text: str, folders: SourceMap) -> str:
    # The innermost folder first: of two that begin alike the longer one is meant.
    known = sorted((there for there, _ in folders.pairs), key=len, reverse=True)
    # Behind a name, a dot or a dash a slash goes on with another path.
    pattern = "|".join(rf"(?<![\w./~-]){re.escape(one)}(?![\w.-])" for one in known)
    return re.sub(pattern, lambda found: folders.to_local(found[0]), text)
