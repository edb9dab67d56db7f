"""Splits the chunks of a stream of text into lines."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from debugger.model.events import OutputStream

MAX_LINE = 8 * 2**10  # characters


class OutputPiece(msgspec.Struct, frozen=True):
    """One output event: a line, or a part of one."""

    seq: int
    time_ns: int
    session: str
    stream: OutputStream
    text: str
    # The `seq` of the first of the pieces that form one displayed line.
    head: int
    continues: bool
    open: bool

    @property
    def size(self) -> int:
        """The bytes of the text."""
        return _byte_size(self.text)


class OutputBlock(msgspec.Struct, frozen=True):
    """Consecutive pieces of one stream, not yet separated."""

    first: int
    time_ns: int
    session: str
    stream: OutputStream
    # Any number of lines with their newlines or, when `open`, one piece without.
    text: str
    count: int
    size: int
    # Of the first piece, as is `continues`; 0 stands for the piece's own `seq`.
    head: int
    continues: bool
    open: bool

    def pieces(self) -> list[OutputPiece]:
        """Split the block into its pieces, oldest first."""
        texts = [self.text] if self.open else self.text[:-1].split("\n")
        if not self.open and "\r" in self.text:
            texts = [text.removesuffix("\r") for text in texts]
        pieces = [
            OutputPiece(seq, self.time_ns, self.session, self.stream, text, seq, False, self.open)  # noqa: FBT003 - positional for speed
            for seq, text in enumerate(texts, self.first)
        ]
        if self.head or self.continues:
            head = self.head or self.first
            pieces[0] = msgspec.structs.replace(pieces[0], head=head, continues=self.continues)
        return pieces


@dataclass(slots=True)
class _Unfinished:
    """A line whose newline has not come; its `text` has no sequence number yet."""

    text: str = ""
    # The characters before `text` that have a number, since the line began or was last split.
    shown: int = 0
    # The number of the first of those pieces.
    head: int = 0
    continues: bool = False


class LineSplitter:
    """Splits every stream of a process tree into numbered lines.

    A line longer than `width` characters is split. An unfinished line gets no number until a reader
    requests it (`number_unfinished`): its remainder is then a separate piece that `continues` it.
    """

    def __init__(self, *, width: int = MAX_LINE) -> None:
        self._width = width
        self._unfinished: dict[tuple[str, OutputStream], _Unfinished] = {}

    def add_chunk(
        self, stream: OutputStream, chunk: str, *, session: str, first: int, time_ns: int
    ) -> list[OutputBlock]:
        """Return the lines that `chunk` completes, numbered from `first`."""
        line = self._unfinished.setdefault((session, stream), _Unfinished())
        blocks = _BlockBuilder(session, stream, first, time_ns)
        # All complete lines at once: most chunks need no look at single lines.
        end = chunk.rfind("\n") + 1
        full = line.text + chunk[:end] if end else ""
        if end and _lines_fit(full, room=self._width - line.shown, width=self._width):
            blocks.add_lines(line, full)
        elif end:
            for text in full[:-1].split("\n"):
                line.text = text
                self._split_line(line, blocks)
                blocks.add_lines(line, line.text + "\n")
        line.text += chunk[end:]
        self._split_line(line, blocks)
        return blocks.made

    def number_unfinished(self, *, first: int, time_ns: int) -> list[OutputBlock]:
        """Assign numbers to the text of unfinished lines, for a reader."""
        made: list[OutputBlock] = []
        for (session, stream), line in self._unfinished.items():
            # A carriage return may be the first half of a line end: it waits for what follows.
            length = len(line.text) - line.text.endswith("\r")
            if length:
                blocks = _BlockBuilder(session, stream, first + len(made), time_ns)
                blocks.leave_open(line, length)
                made += blocks.made
        return made

    def forget(self, session: str | None = None) -> None:
        """Drop the unfinished lines of a session, or of all; the next text begins a new line."""
        for key in list(self._unfinished):
            if session in (None, key[0]):
                del self._unfinished[key]

    def _split_line(self, line: _Unfinished, blocks: _BlockBuilder) -> None:
        while line.shown + len(line.text) > self._width:
            if line.shown < self._width:
                blocks.leave_open(line, self._width - line.shown)
            line.shown = line.head = 0
            line.continues = True


class _BlockBuilder:
    """Builds the numbered blocks of one chunk."""

    def __init__(self, session: str, stream: OutputStream, first: int, time_ns: int) -> None:
        self.made: list[OutputBlock] = []
        self._session = session
        self._stream = stream
        self._next = first
        self._time_ns = time_ns

    def add_lines(self, line: _Unfinished, text: str) -> None:
        """Add `text`, lines with their newlines of which the first finishes `line`."""
        count = text.count("\n")
        # Line ends do not count towards the size limit.
        line_ends = count + (text.count("\r\n") if "\r" in text else 0)
        self._add_block(line, text, count=count, size=_byte_size(text) - line_ends, is_open=False)
        line.text = ""
        line.shown = line.head = 0
        line.continues = False

    def leave_open(self, line: _Unfinished, length: int) -> None:
        """Add the first `length` characters of the text of `line` as a piece of it."""
        text, line.text = line.text[:length], line.text[length:]
        line.head = line.head or self._next
        self._add_block(line, text, count=1, size=_byte_size(text), is_open=True)
        line.shown += length
        line.continues = True

    def _add_block(
        self, line: _Unfinished, text: str, *, count: int, size: int, is_open: bool
    ) -> None:
        block = OutputBlock(
            first=self._next,
            time_ns=self._time_ns,
            session=self._session,
            stream=self._stream,
            text=text,
            count=count,
            size=size,
            head=line.head,
            continues=line.continues,
            open=is_open,
        )
        self.made.append(block)
        self._next += count


def _lines_fit(text: str, *, room: int, width: int) -> bool:
    """Return whether no line of `text` exceeds `width` characters, and the first one `room`."""
    # Looks at one newline in every `width` characters, where splitting would look at each.
    start = 0
    while len(text) - start > room:
        newline = text.rfind("\n", start, start + room + 1)
        if newline < 0:
            return False
        start = newline + 1
        room = width
    return True


def _byte_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
