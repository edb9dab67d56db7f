"""Formats values, files, frames and breakpoint locations within a line of text."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from debugger.model.answers import BreakpointView, FrameView, VariableView
from debugger.model.text_filters import SGR, parse_clipped, without_colour
from debugger.output.byte_text import show_bytes
from debugger.output.structured import RenderPage

IN_A_STOP = 80  # characters of a value in a stop
IN_A_LIST = 200  # characters of a value in a list
_NAME = 60  # characters of a name
_HINTED_NAME = 20  # characters of a name that is easy to type
_OUTPUT_LINE = 2000  # characters
_SOURCE_LINE = 200  # characters
_GAP = " … "
_BYTE = 0xFF
_LEAST = 8  # characters: less of a value than this says nothing

# Everything that moves the cursor, ends a line, turns the writing around or is not a character.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def escape_text(text: str, *, tabs: bool = False) -> str:
    """Replace control characters by escapes; `tabs` keeps tabs."""
    if text.isprintable():
        return text

    def escaped(match: re.Match[str]) -> str:
        letter = match[0]
        if letter == "\t" and tabs:
            return letter
        number = ord(letter)
        return _ESCAPES.get(letter) or (
            f"\\x{number:02x}" if number <= _BYTE else f"\\u{number:04x}"
        )

    return _CONTROL.sub(escaped, text)


def escape_command(command: str) -> str:
    r"""Escape a command line so that a shell reads the same words: `$'x = 1\nf(x)'`."""
    if not _CONTROL.search(command):
        return command
    return " ".join(map(_quote_word, shlex.split(command)))


def _quote_word(word: str) -> str:
    if not _CONTROL.search(word):
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{escape_text(escaped)}'"


def escape_controls(text: str, *, has_colours: bool) -> str:
    """Escape the remaining control characters of a formatted text; its lines and tabs stay."""
    if text.replace("\n", "").isprintable():
        return text
    parts = SGR.split(text) if has_colours else [text]
    return "".join(
        part
        if has_colours and SGR.fullmatch(part)
        else "\n".join(escape_text(line, tabs=True) for line in part.split("\n"))
        for part in parts
    )


def format_count(number: int, noun: str) -> str:
    """Format `1 line`, `1,000 lines`."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{ending}"


# As Python, JavaScript, Ruby, Go, C and Rust write a letter that is not shown.
_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)"
)
_ESCAPE_MAX = 10  # characters
_JOINERS = "\u200d\ufe0e\ufe0f"  # they belong to the letter before


def shorten_value(value: str, limit: int, *, hint: str = "", tabs: bool = False) -> str:
    """Escape a value; over `limit` characters keep its head and tail, and state its length.

    `hint` is the command that shows it whole. Lists are cut between two elements, and bytes that
    are a text are shown as that.
    """
    value = show_bytes(value)
    if len(value) <= limit:
        text = escape_text(value, tabs=tabs)
        if len(text) <= limit:
            return text
    known = parse_clipped(value)
    value = known.text
    length = f"{known.count:,} {known.unit.replace('characters', 'chars')}"
    for note in (f" ({length}; {hint})", f" ({length})") if hint else (f" ({length})",):
        room = limit - len(note) - len(_GAP)
        if room >= _LEAST:
            if not known.has_end:
                return _fitting_start(value, room, tabs=tabs) + _GAP.rstrip() + note
            tail = room // 3
            head = _fitting_start(value, room - tail, tabs=tabs)
            return _join_ends(value, head, _fitting_end(value, tail, tabs=tabs)) + note
    return _fitting_start(value, limit - 1, tabs=tabs) + "…" if limit > 0 else ""


def _join_ends(value: str, head: str, tail: str) -> str:
    if value[:1] in "[({":
        last = head.rfind(", ")
        if last > len(head) // 2:
            head = head[: last + 1]
        first = tail.find(", ")
        if 0 <= first < len(tail) // 2:
            tail = tail[first + 2 :]
    return head.rstrip() + _GAP + tail.lstrip()


def _fitting_start(value: str, room: int, *, tabs: bool) -> str:
    letters = value[: _escape_span(value, max(room, 0))[0]]
    return (
        "".join(_fitting_letters(letters, room, tabs=tabs)) if _CONTROL.search(letters) else letters
    )


def _fitting_end(value: str, room: int, *, tabs: bool) -> str:
    letters = value[_escape_span(value, max(len(value) - room, 0))[1] :]
    if not _CONTROL.search(letters):
        return letters
    return "".join(reversed(list(_fitting_letters(letters[::-1], room, tabs=tabs))))


def _escape_span(value: str, at: int) -> tuple[int, int]:
    """Return where the escape sequence, or letter with its marks, begins and ends that a cut hits.

    Both are `at` where the cut is between two letters.
    """
    before = value.rfind("\\", max(at - _ESCAPE_MAX, 0), at)
    is_escaped = before > 0 and (len(value[:before]) - len(value[:before].rstrip("\\"))) % 2
    found = _ESCAPE.match(value, before) if before >= 0 and not is_escaped else None
    if found is not None and found.end() > at:
        return before, found.end()
    end = at
    while 0 < end < len(value) and (unicodedata.combining(value[end]) or value[end] in _JOINERS):
        end += 1
    return at, end


def _fitting_letters(letters: str, room: int, *, tabs: bool) -> Iterator[str]:
    for letter in letters:
        shown = escape_text(letter, tabs=tabs)
        room -= len(shown)
        if room < 0:
            return
        yield shown


def short_name(name: str) -> str:
    """Return a variable's or function's name, truncated if it is very long."""
    return shorten_value(name, _NAME)


def ref_of(ref: object) -> str:
    """Return the value's ref, if it has one, else nothing."""
    return short_name(ref) if isinstance(ref, str) else ""


def hint_for(view: VariableView) -> str:
    """Return the command that shows a variable whole; "" for a name that is hard to type."""
    if ref := ref_of(view.ref):
        return f"debugger vars {ref}"
    is_easy = view.name.isidentifier() and len(view.name) <= _HINTED_NAME
    return f"debugger print {view.name}" if is_easy else ""


def format_assigned(view: VariableView, limit: int, *, between: str = "=") -> str:
    """Format `name=value`, the value within `limit` characters."""
    return short_name(view.name) + between + shorten_value(view.value, limit, hint=hint_for(view))


def output_line(text: str, page: RenderPage, limit: int = _OUTPUT_LINE) -> str:
    """Escape a line of a program's output; colour is kept for a terminal, and nothing else."""
    text = text.rstrip("\r\n")
    plain = without_colour(text)
    limit = min(limit, page.limit)
    if not page.is_terminal:
        return shorten_value(plain, limit, tabs=True)
    if plain == text or len(text) > limit:
        return shorten_value(plain, limit, tabs=True).expandtabs()
    parts = SGR.split(text)
    return "".join(
        part if at % 2 else escape_text(part, tabs=True).expandtabs()
        for at, part in enumerate(parts)
    )


def source_text(text: str, page: RenderPage) -> str:
    """Escape a line of source; tabs are expanded for a terminal only."""
    shown = shorten_value(text.rstrip(), _SOURCE_LINE, tabs=True)
    return shown.expandtabs(4) if page.is_terminal else shown


_PATH = 100  # characters


def base_name(path: str) -> str:
    """Return a file's name without its folders, in POSIX and Windows paths."""
    return shorten_value(re.split(r"[/\\]", path.rstrip("/\\"))[-1], _PATH)


def file_names(paths: Iterable[str]) -> dict[str, str]:
    """Return short names for files shown together: with folders if names are equal.

    A location without a file has an empty name.
    """
    every = list(dict.fromkeys(path for path in paths if path))
    parts = {path: re.split(r"[/\\]", path.strip("/\\")) for path in every}
    found = {"": ""}
    for path in every:
        others = [parts[other] for other in every if other != path]
        count = 1
        while count < len(parts[path]) and any(
            other[-count:] == parts[path][-count:] for other in others
        ):
            count += 1
        found[path] = shorten_value("/".join(parts[path][-count:]), _PATH)
    return found


def line_of(frame: FrameView) -> str:
    """Format `main.c:42`; the module or the address without source; or nothing."""
    if frame.file is not None:
        return base_name(frame.file) + (f":{frame.line}" if frame.line is not None else "")
    if frame.module:
        return base_name(frame.module)
    return escape_text(frame.address or "")


def function_of(frame: FrameView) -> str:
    """Return the function's name, or the address where it has none."""
    return short_name(frame.function or frame.address or "?")


def in_stack(frame: FrameView) -> str:
    """Format `sum_to main.c:42`, as in a list of frames."""
    function, line = function_of(frame), line_of(frame)
    return f"{function} {line}" if line and line != function else function


def format_chain(frames: Sequence[FrameView]) -> str:
    """Format `take pool.js:22 < render :44 < main main.js:7`, innermost first."""
    texts = []
    file = None
    for frame in frames:
        is_there = file is not None and frame.file == file and frame.line is not None
        texts.append(f"{function_of(frame)} :{frame.line}" if is_there else in_stack(frame))
        file = frame.file
    return " < ".join(texts)


def in_sentence(frame: FrameView) -> str:
    """Format `sum_to at main.c:42`, or `memcpy in libc.so.6`, as in a sentence."""
    function, line = function_of(frame), line_of(frame)
    if not line or line == function:
        return function
    is_module = frame.file is None and bool(frame.module)
    return f"{function} {'in' if is_module else 'at'} {line}"


def place_of(view: BreakpointView) -> str:
    """Format a breakpoint's location, `main.c:41 → 42` if the debugger moved it."""
    line = _file_line(view)
    if isinstance(view.expression, str):
        return shorten_value(view.expression, _PATH)
    if isinstance(view.catch, str):
        kind = f" {short_name(view.type)}" if isinstance(view.type, str) else ""
        return short_name(view.catch) + kind
    if view.kind == "function" and view.function:
        name = short_name(view.function)
        return f"{name} at {line}" if line and view.verified else name
    if view.kind != "address" and line:
        return line
    if view.address:
        place = f"*{escape_text(view.address)}"
        return f"{place} ({line})" if line and view.verified else place
    return line or short_name(view.function or view.kind)


def _file_line(view: BreakpointView) -> str:
    requested, line = view.requested_line, view.line
    if view.file is None or (requested is None and line is None):
        return ""
    if view.verified and None not in {requested, line} and requested != line:
        return f"{base_name(view.file)}:{requested} → {line}"
    return f"{base_name(view.file)}:{line if line is not None else requested}"
