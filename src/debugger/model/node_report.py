"""Parses the report that Node writes of an exception that nobody has caught. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from msgspec import Struct

from debugger.model.text_filters import clip_text

NODE_ENDS = re.compile(r"Node\.js v\d")
_MARKS = re.compile(r"\s*\^+\s*$")
_PLACE = re.compile(r"(?P<file>(?:file://)?/\S*):(?P<line>\d+)$")
_ERROR = re.compile(r"(?P<type>[A-Za-z_$][\w$.]*)(?: \[\w+\])?(?:: (?P<message>.*))?$")
_ANY_NODE_FRAME = re.compile(r"\s+at \S")
_OWN_FRAME = re.compile(
    r"\s+at (?:(?:async |new )*(?P<function>[^()]+?)(?: \[as [^]]+\])? \()?"
    r"(?:async )?(?!node:)(?P<file>[^()]+):(?P<line>\d+):\d+\)?"
)
_FIELD = re.compile(r"  (?P<name>\S.*?): (?P<value>.*)$")
_TEXT = re.compile(r"'([^']*)'")
_HINT = "(Use `node --trace-uncaught"
_CAUSE, _ERRORS = "[cause]", "[errors]"
_ANONYMOUS = "<anonymous>"
NODE_PLACE = re.compile(r"(?:file://)?/\S+\.[cm]?[jt]sx?:\d+$")
_CAUSES_MAX = 10  # nested errors
_FIELD_MAX = 100  # characters of a field
_FIELDS_MAX = 300  # characters of all fields


class NodeReport(Struct, frozen=True):
    """An uncaught error: Node's name for it, its fields as text, and its nested errors.

    A thrown value that is no Error has no `type`; Node shows only its message.
    """

    type: str
    message: str
    fields: str = ""
    causes: tuple[str, ...] = ()
    place: tuple[str, int] | None = None  # where Node says that it was thrown


def read_node_report(lines: Sequence[str]) -> NodeReport | None:
    """Parse the last report of an uncaught error in an output; None without one."""
    lines = with_marks(lines)
    ends = [at for at, line in enumerate(lines) if NODE_ENDS.match(line)]
    marks = [at for at, line in enumerate(lines[: ends[-1]]) if _MARKS.match(line)] if ends else []
    if not marks:
        return None
    body = [line for line in lines[marks[-1] + 1 : ends[-1]] if line.strip()]
    body = [line for line in body if not line.startswith(_HINT)]
    if body[:1] == ["Uncaught:"]:
        del body[0]
    if not body:
        return None
    place = _source_location(lines[: marks[-1]])
    first = next((at for at, line in enumerate(body) if _ANY_NODE_FRAME.match(line)), None)
    title = _ERROR.match(body[0])
    if first is None or title is None:
        return NodeReport("", " ".join(line.strip() for line in body), place=place)
    message = "\n".join([title["message"] or "", *body[1:first]])
    fields, causes = _read_fields(_braced_lines(body), message)
    return NodeReport(title["type"], message, fields, causes, place)


def _source_location(lines: Sequence[str]) -> tuple[str, int] | None:
    """Return the location above a source line and its marks, at most two lines up."""
    for line in lines[:-4:-1]:
        found = _PLACE.match(line)
        if found is not None:
            file = found["file"]
            path = unquote(file.removeprefix("file://")) if file.startswith("file:") else file
            return path, int(found["line"])
    return None


def _braced_lines(body: Sequence[str]) -> Sequence[str]:
    """Return the lines between the braces after an error's stack."""
    opens = (
        at for at, line in enumerate(body) if _ANY_NODE_FRAME.match(line) and line.endswith(" {")
    )
    begin = next(opens, None)
    if begin is None:
        return ()
    closes = (at for at in range(begin, len(body)) if body[at].rstrip(",") == "}")
    return body[begin + 1 : next(closes, len(body))]


def _read_fields(lines: Sequence[str], message: str) -> tuple[str, tuple[str, ...]]:
    """Return an error's own fields as one text, and its nested errors, outermost first."""
    groups: list[list[str]] = []
    for line in lines:
        if _FIELD.match(line) and not line.startswith("   "):
            groups.append([line])
        elif groups:
            groups[-1].append(line)
    shown: list[str] = []
    causes: list[str] = []
    for group in groups:
        found = _FIELD.match(group[0])
        if found is None:
            continue
        if found["name"] == _CAUSE:
            causes += _read_cause([found["value"], *(line[2:] for line in group[1:])])
        elif found["name"] == _ERRORS:
            for one in _split_errors(group[1:]):
                causes += _read_cause(one)
        else:
            value = " ".join([found["value"], *(line.strip() for line in group[1:])]).rstrip(",")
            if not _is_shown(found["name"], value, message):
                shown.append(f"{found['name']}: {clip_text(value, _FIELD_MAX)}")
    text = clip_text(", ".join(shown), _FIELDS_MAX)
    return f"{{{text}}}" if text else "", tuple(causes[:_CAUSES_MAX])


def _is_shown(name: str, value: str, message: str) -> bool:
    """Return whether an error's message already has a field's value, as for system calls."""
    texts = _TEXT.findall(value)
    is_number = value.isdecimal() and value in message
    return name == "errno" or is_number or (bool(texts) and all(one in message for one in texts))


def _split_errors(lines: Sequence[str]) -> list[list[str]]:
    """Split the lines of `[errors]`, each error four columns to the right."""
    found: list[list[str]] = []
    for line in lines:
        inner = line[4:]
        if line.startswith("    ") and inner and not inner[0].isspace() and inner[0] != "}":
            found.append([inner])
        elif found:
            found[-1].append(inner)
    return found


def _read_cause(lines: Sequence[str]) -> list[str]:
    """Return an error and its nested ones, each in a line with its location."""
    title = lines[0].rstrip(",").removesuffix(" {")
    error = _ERROR.match(title)
    text = title
    if error is not None and error["message"]:
        text = f"{error['type']}: {error['message']}"
    own = next((one for line in lines[1:] if (one := _OWN_FRAME.match(line))), None)
    if own is not None:
        name = own["file"].rpartition("/")[2]
        function = (own["function"] or _ANONYMOUS).removeprefix("Object.")
        text += f", in {function} {name}:{own['line']}"
    return [text, *_read_fields(_braced_lines(lines), title)[1]]


def with_marks(lines: Sequence[str]) -> list[str]:
    """Return a report of Node with the marks that it has not where a file ends too early.

    The statement and the marks below the file's last line are both empty.
    """
    marked = list(lines)
    for at, line in enumerate(lines):
        if NODE_PLACE.match(line) and len(lines) > at + 3 and not any(lines[at + 1 : at + 4]):
            marked[at + 2] = "^"
    return marked
