"""Encodes and decodes the messages between a client and the daemon."""

from __future__ import annotations

VERSION = 1
MAX_BYTES = 10 * 1024 * 1024
HOST_OPTIONS = ("--host", "--container", "--pod")
# The options of every command that take a value.
GLOBAL_VALUES = ("--session", "--budget", *HOST_OPTIONS)

TYPE_CHECKING = False  # `typing` costs the client a fifth of Python's own start
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    Message: TypeAlias = dict[str, Any]

# The C half of `json`: the rest of it (it brings `re`) costs the client half of Python's own start.
try:
    from _json import encode_basestring_ascii as _quote
    from _json import make_scanner as _make_scanner

    class _ScannerOptions:
        """The options that the scanner of `json` requires of a decoder."""

        strict = True
        object_hook = None
        object_pairs_hook = None
        array_hook = None
        parse_float = float
        parse_int = int
        parse_constant = float

    _scan = _make_scanner(_ScannerOptions)  # type: ignore[arg-type]
except (ImportError, AttributeError, TypeError):  # another Python, or a later one
    from json import JSONDecoder
    from json.encoder import encode_basestring_ascii as _quote

    _scan = JSONDecoder().raw_decode  # type: ignore[assignment]


class MalformedMessage(Exception):
    """Bytes that are no valid message; the exception's text gives the reason."""


def encode_ascii(value: object) -> str:
    """Encode a value as JSON on one line, in ASCII, which preserves lone surrogates.

    Raises:
        TypeError: It holds something that JSON cannot.
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(encode_ascii, value))}]"
    if isinstance(value, dict):
        items = (f"{_quote(str(key))}:{encode_ascii(item)}" for key, item in value.items())
        return f"{{{','.join(items)}}}"
    # The client sends nothing else; the daemon has `json` loaded anyway.
    import json

    return json.dumps(value, allow_nan=False)


def encode_message(message: Mapping[str, Any]) -> bytes:
    """Encode a message as its line."""
    return encode_ascii(message).encode("ascii") + b"\n"


def decode_message(raw: bytes) -> Message:
    """Decode a line as a message.

    Raises:
        MalformedMessage: It is not one JSON object in UTF-8.
    """
    try:
        text = raw.decode("utf-8").strip()
        message, end = _scan(text, 0)
    except StopIteration:
        raise MalformedMessage("not JSON") from None
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"not JSON: {error}") from None
    if end != len(text) or not isinstance(message, dict):
        raise MalformedMessage("not one JSON object")
    return message


def command_words(argv: Sequence[str]) -> list[str]:
    """Return the command's words in `argv`, up to the first option that is not global."""
    found: list[str] = []
    rest = iter(argv)
    for word in rest:
        if word in GLOBAL_VALUES:
            next(rest, None)
        elif word == "--" or (word.startswith("-") and not _is_global(word)):
            break
        elif not word.startswith("-"):
            found.append(word)
    return found


def has_option(argv: Sequence[str], *options: str) -> bool:
    """Return whether one of these options stands in `argv` before a `--`."""
    for word in argv:
        if word == "--":
            return False
        if word in options:
            return True
    return False


def has_value_option(argv: Sequence[str], *options: str) -> bool:
    """Return whether one of these options, with its value, stands in `argv` before a `--`."""
    for word in argv:
        if word == "--":
            return False
        if word.partition("=")[0] in options:
            return True
    return False


def name_sessions(sessions: Sequence[Mapping[str, Any]]) -> str:
    """Format sessions for a person: `session app (./prog, pid 123), session …`."""
    return ", ".join(
        f"session {entry.get('name')} ({entry.get('program')}, pid {entry.get('pid')})"
        for entry in sessions
    )


def _is_global(word: str) -> bool:
    return word in {"--json", "--no-color"} or word.partition("=")[0] in GLOBAL_VALUES
