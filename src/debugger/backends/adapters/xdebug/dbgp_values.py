"""Parses the packets of DBGp, and formats its properties as values of PHP.

DBGp is the protocol of Xdebug: https://xdebug.org/docs/dbgp, sections 6 (packets) and 7 (commands).
"""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_SPACE = "{urn:debugger_protocol_v1}"
_XDEBUG = "{https://xdebug.org/dbgp/xdebug}"
_ITEMS = 20  # shown of one value
_TEXT = 1000
_NESTED = 3
_CUT = "…"
# Xdebug writes them as they are, or as `&#0;`; XML has none.
_NO_XML = re.compile("&#(\\d+);|[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SPACES = "\t\n\r"
_PICTURES = 0x2400  # of the control characters, as "␀"
_OTHER_BYTE = re.compile("[\udc80-\udcff]")  # that is no UTF-8 (PEP 383)


class PacketDecoder:
    """Cuts the stream of an engine into packets: `LENGTH NUL XML NUL`."""

    def __init__(self) -> None:
        self._rest = b""

    def add_bytes(self, chunk: bytes) -> Iterator[ET.Element]:
        """Yield the packets that are complete.

        Raises:
            ValueError: It is no DBGp.
        """
        self._rest += chunk
        while (at := self._rest.find(b"\0")) >= 0:
            length = int(self._rest[:at])
            end = at + 1 + length
            if len(self._rest) <= end:
                return
            text = self._rest[at + 1 : end]
            self._rest = self._rest[end + 1 :]
            try:
                # The declaration says iso-8859-1, and what Xdebug 3.2 writes is UTF-8.
                body = text.decode("utf-8", "replace").partition("?>")[2]
                body = _NO_XML.sub(_draw_character, body)
                yield ET.fromstring(body)  # noqa: S314 - of the program that the user runs
            except ET.ParseError as error:
                raise ValueError(str(error)) from error


def _draw_character(found: re.Match[str]) -> str:
    character = chr(int(found[1])) if found[1] else found[0]
    if found[1] and (character in _SPACES or character >= " "):
        return found[0]
    return chr(_PICTURES + ord(character)) if character < " " else "\ufffd"


def encode_command(name: str, number: int, options: str = "", data: str | None = None) -> bytes:
    """Encode a command; its data is in base64."""
    words = [name, "-i", str(number)]
    if options:
        words.append(options)
    if data is not None:
        words += ["--", base64.b64encode(data.encode("utf-8", "surrogateescape")).decode()]
    return " ".join(words).encode("utf-8", "surrogateescape") + b"\0"


def quote_option(text: str) -> str:
    """Quote an option's value."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def to_uri(path: str) -> str:
    """Write a path as Xdebug does: a blank, `#`, `%` and `?` by their codes."""
    return f"file://{quote(path, errors='surrogateescape')}"


@lru_cache(maxsize=256)  # those of each stop's frames
def to_path(uri: str) -> str:
    """Return the path of a URI; one that is no file's is left as it is."""
    return unquote(urlsplit(uri).path) if uri.startswith("file://") else uri


def find_child(element: ET.Element, name: str) -> ET.Element | None:
    """Return the first child of a name of DBGp's."""
    return element.find(f"{_SPACE}{name}")


def find_message(element: ET.Element) -> ET.Element | None:
    """Return Xdebug's message about a stop: where it is, and which exception."""
    return element.find(f"{_XDEBUG}message")


def find_breakpoints(element: ET.Element) -> set[str]:
    """Return the numbers of the breakpoints that a stop names."""
    return {one.get("id") or "" for one in element.findall(f"{_SPACE}breakpoint")}


def find_position(frames: Sequence[ET.Element]) -> tuple[str, int]:
    """Return the path and the line of the innermost frame."""
    if not frames:
        return "", 0
    return to_path(frames[0].get("filename") or ""), int(frames[0].get("lineno") or 0)


def is_function_end(element: ET.Element) -> bool:
    """Return whether PHP has stopped where a function ends, also by an exception."""
    return element.find(f"{_XDEBUG}return_value") is not None


def find_returned(element: ET.Element) -> ET.Element | None:
    """Return the value that a function returns where PHP has stopped at its end."""
    value = element.find(f"{_XDEBUG}return_value")
    is_set = value is not None and len(value) and value[0].get("type") != "uninitialized"
    return value[0] if value is not None and is_set else None


def read_error(element: ET.Element) -> str | None:
    """Return the message of a command that failed."""
    error = find_child(element, "error")
    message = find_child(error, "message") if error is not None else None
    if error is None:
        return None
    return (message.text if message is not None else None) or f"error {error.get('code')}"


def list_properties(element: ET.Element) -> list[ET.Element]:
    """Return the properties in an element."""
    return element.findall(f"{_SPACE}property")


_ROOT = re.compile(r"\$\w+")
_PART = re.compile(
    r"\s*(?:\??->\s*(?P<field>\w+)"
    r"|\[\s*(?:(?P<number>-?\d+)|(?P<quote>['\"])(?P<text>[^'\"\\$]*)(?P=quote)|(?P<name>\$\w+))\s*\])"
)


def find_part(properties: Sequence[ET.Element], path: str) -> ET.Element | None:
    """Return the part of variables that a path names, as `$order->lines['a'][$key]`.

    None for what is no such path, or is not among what Xdebug has sent.
    """
    known = {one.get("name"): one for one in properties}
    root = _ROOT.match(path)
    found, at = known.get(root[0]) if root is not None else None, root.end() if root else 0
    while found is not None and at < len(path):
        part = _PART.match(path, at)
        if part is None or (part["field"] is not None) != (found.get("type") == "object"):
            return None
        name = part["field"] or part["number"] or part["text"]
        if part["name"] is not None:
            key = known.get(part["name"])
            name = read_text(key) if key is not None else None
        at = part.end()
        items = {_item_name(one).rpartition("*")[2]: one for one in list_properties(found)}
        found = items.get(name) if name is not None else None
    return found


@dataclass(frozen=True)
class PhpValue:
    """A value: its text and type, and the number of what it contains."""

    name: str
    text: str
    type: str
    count: int
    fullname: str | None  # the expression by which Xdebug finds it again


def read_value(prop: ET.Element) -> PhpValue:
    """Read a property."""
    kind = prop.get("type", "")
    name = prop.get("name", "")
    return PhpValue(
        name=name,
        text=format_property(prop),
        type=read_class(prop) or kind,
        count=int(prop.get("numchildren") or 0) if prop.get("children") == "1" else 0,
        fullname=prop.get("fullname"),
    )


def read_class(prop: ET.Element) -> str:
    """Return the class of an object; of an anonymous one without its number, as PHP shows it."""
    return prop.get("classname", "").partition(chr(_PICTURES))[0]


def format_property(prop: ET.Element, depth: int = 0) -> str:
    """Format a property as PHP writes it: `'text'`, `[1, 'key' => 2]`, `Order {number: 7}`."""
    kind = prop.get("type", "")
    if kind == "string":
        return _quote_text(_read_bytes(prop), int(prop.get("size") or 0))
    content = read_text(prop)
    if kind == "array":
        return _format_items(prop, "[", "]", depth)
    if kind == "object" and "enum" in prop.get("facet", "").split():
        case = next((one for one in list_properties(prop) if _item_name(one) == "name"), None)
        return f"{read_class(prop)}::{read_text(case) if case is not None else _CUT}"
    if kind == "object":
        name = read_class(prop) or "object"
        has_items = prop.get("children") == "1"
        return f"{name} {_format_items(prop, '{', '}', depth) if has_items else '{}'}"
    if kind == "bool":
        return "true" if content == "1" else "false"
    is_whole = kind == "float" and not any(letter in content for letter in ".eEIN")
    return f"{content}.0" if is_whole else content or kind


def _quote_text(content: bytes, size: int) -> str:
    r"""Return a string in quotes: UTF-8, and `\xNN` for other bytes; `size` bytes in all."""
    text = content.decode("utf-8", "surrogateescape")
    is_cut = size > len(content) or len(text) > _TEXT
    if size > len(content):  # Xdebug cuts between two bytes, also of one letter
        text = re.sub("[\udcc2-\udcf4][\udc80-\udcbf]{0,2}\\Z", "", text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    shown = _OTHER_BYTE.sub(lambda one: f"\\x{ord(one[0]) - 0xDC00:02x}", escaped[:_TEXT])
    return f"'{shown}'" + (f"{_CUT} ({size} bytes)" if is_cut else "")


def _format_items(prop: ET.Element, opening: str, closing: str, depth: int) -> str:
    items = list_properties(prop)
    total = int(prop.get("numchildren") or len(items))
    if total and (depth >= _NESTED or not items):
        return f"{opening}{_CUT}{closing}"
    is_list = opening == "[" and [_item_name(one) for one in items] == list(
        map(str, range(len(items)))
    )
    shown = []
    for one in items[:_ITEMS]:
        text = format_property(one, depth + 1)
        name = _item_name(one)
        if opening == "{":
            # `*Base*name` is a private property of a base class.
            shown.append(f"{name.rpartition('*')[2]}: {text}")
        else:
            shown.append(text if is_list else f"{format_key(name)} => {text}")
    if total > len(shown):
        shown.append(f"{_CUT} {total} in all")
    return f"{opening}{', '.join(shown)}{closing}"


def _item_name(prop: ET.Element) -> str:
    return prop.get("name") or ""


def format_key(name: str) -> str:
    """Format the key of an array's element."""
    return name if name.lstrip("-").isdigit() else f"'{name}'"


def read_text(prop: ET.Element) -> str:
    """Return a property's own text."""
    return _read_bytes(prop).decode("utf-8", "replace")


def _read_bytes(prop: ET.Element) -> bytes:
    text = prop.text or ""
    return base64.b64decode(text) if prop.get("encoding") == "base64" else text.encode()


_CLASS = re.compile(
    r"^\s*(?:(?:abstract|final|readonly)\s+)*(?:class|trait|enum|interface)\s+(\w+)", re.MULTILINE
)
_NAMESPACE = re.compile(r"^\s*namespace\s+([\w\\]+)\s*[;{]", re.MULTILINE)
_FUNCTION = re.compile(r"\bfunction\s+&?\s*(\w+)\s*\(")
_FILE_MAX = 1 << 20


def list_functions(path: str) -> list[tuple[str, str]]:
    """Return the functions that a file defines, each with its class, or with nothing."""
    try:
        text = Path(path).read_bytes()[:_FILE_MAX].decode("utf-8", "replace")
    except OSError:
        return []
    space = _NAMESPACE.search(text)
    prefix = f"{space[1]}\\" if space else ""
    owners = [
        (match.start(), match[1], _find_block_end(text, match.end()))
        for match in _CLASS.finditer(text)
    ]
    found = []
    for match in _FUNCTION.finditer(text):
        owner = next((name for start, name, end in owners if start < match.start() < end), "")
        found.append((prefix + owner if owner else "", match[1]))
    return found


def _find_block_end(text: str, at: int) -> int:
    """Return where the block of braces behind a position ends; braces in strings count, too."""
    depth = 0
    for index in range(text.find("{", at), len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth == 0:
            return index
    return len(text)
