"""Stores past answers as evidence, and checks whether their source files have changed since."""

from __future__ import annotations

import hashlib
import shlex
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.location import near_names
from debugger.questions.runner.answer import (
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
    EvidenceView,
)

KEPT_MAX = 100  # answers
BYTES_MAX = 1 << 20  # text of all answers
_TEXT_MAX = 16 << 10  # characters of one answer
_FILES_MAX = 20  # quoted sources of one answer
_HASHED_MAX = 8 << 20  # bytes of a source; a larger one is not checked for changes


class _QuotedFile(Struct, frozen=True):
    """A source file in its state at the time of the quote."""

    path: str
    modified_ns: int
    digest: str


class _SavedAnswer(Struct, frozen=True):
    """One stored answer."""

    id: str
    words: tuple[str, ...]
    cwd: str
    time: str
    summary: str
    text: str
    files: tuple[_QuotedFile, ...]


class EvidenceStore:
    """The newest answers of questions: at most 100, and 1 MiB of text."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._kept: OrderedDict[str, _SavedAnswer] = OrderedDict()
        self._next = 1
        self._dropped = 0

    @property
    def next_id(self) -> str:
        """The id of the next answer."""
        return f"e{self._next}"

    def keep_answer(
        self, words: Sequence[str], cwd: str, *, summary: str, text: str, files: Iterable[str]
    ) -> str:
        """Store an answer; the oldest ones are deleted.

        `words` are its command, `files` the sources that it quotes.
        """
        # Ids are never reused, so that an id in a conversation stays unambiguous.
        number, self._next = self.next_id, self._next + 1
        paths = list(dict.fromkeys(files))[:_FILES_MAX]
        self._kept[number] = _SavedAnswer(
            id=number,
            words=tuple(words),
            cwd=cwd,
            time=self._now().astimezone().isoformat(timespec="seconds"),
            summary=summary,
            text=text[:_TEXT_MAX],
            files=tuple(quoted for path in paths if (quoted := _quote_file(path)) is not None),
        )
        while len(self._kept) > KEPT_MAX or self._text_bytes() > BYTES_MAX:
            self._kept.popitem(last=False)
            self._dropped += 1
        return number

    def _text_bytes(self) -> int:
        return sum(len(one.text) for one in self._kept.values())

    @property
    def answer_ids(self) -> tuple[str, ...]:
        """The ids of the stored answers."""
        return tuple(self._kept)

    def list_answers(self) -> EvidenceList:
        """List the stored answers, oldest first."""
        return EvidenceList(
            tuple(_evidence_view(one) for one in self._kept.values()), dropped=self._dropped
        )

    def show_answer(self, number: str) -> EvidenceShown:
        """Return one stored answer.

        Raises:
            DebuggerError: NOT_FOUND, naming the existing ones.
        """
        wanted = number if number.startswith("e") else f"e{number}"
        kept = self._kept.get(wanted)
        if kept is None:
            known = ", ".join(self._kept) or "none yet"
            near = near_names(wanted, self._kept)
            hint = f"debugger evidence show {near[0]}" if near else "debugger evidence list"
            raise DebuggerError(
                ErrorCode.NOT_FOUND, f"no evidence {number!r}; there is: {known}", hint=hint
            )
        return EvidenceShown(_evidence_view(kept), kept.text)

    def write_report(self) -> EvidenceReport:
        """Format all stored answers as one page of Markdown.

        Raises:
            DebuggerError: NOT_FOUND if there are none.
        """
        if not self._kept:
            raise DebuggerError(
                ErrorCode.NOT_FOUND, "there is no evidence yet", hint="debugger crash -- PROGRAM"
            )
        parts = ["# Evidence", ""]
        stale = 0
        for kept in self._kept.values():
            view = _evidence_view(kept)
            stale += bool(view.stale)
            parts += [
                f"## {kept.id}: {kept.words[1]}: {kept.summary}",
                "",
                f"{kept.time}, to reproduce:",
                "",
            ]
            parts += ["```sh", f"cd {shlex.quote(kept.cwd)}", _command_text(kept), "```", ""]
            if view.stale:
                parts += [f"**Stale**: changed since: {', '.join(view.stale)}", ""]
            fence = _code_fence(kept.text)
            parts += [f"{fence}text", kept.text.rstrip(), fence, ""]
            if kept.files:
                parts += ["Files:", ""]
                parts += [f"- `{one.path}` sha256 `{one.digest[:16]}`" for one in kept.files]
                parts.append("")
        if self._dropped:
            parts += [f"{self._dropped} older answers are not kept.", ""]
        text = "\n".join(parts)
        return EvidenceReport(len(self._kept), text, stale=stale, bytes=len(text.encode()))


def _code_fence(text: str) -> str:
    """Return a fence that no line of the text closes."""
    longest = max((len(line) - len(line.lstrip("`")) for line in text.splitlines()), default=0)
    return "`" * max(3, longest + 1)


def _command_text(answer: _SavedAnswer) -> str:
    return shlex.join(answer.words)


def _evidence_view(answer: _SavedAnswer) -> EvidenceView:
    return EvidenceView(
        id=answer.id,
        command=_command_text(answer),
        cwd=answer.cwd,
        time=answer.time,
        summary=answer.summary,
        files=tuple(one.path for one in answer.files),
        stale=tuple(one.path for one in answer.files if _has_changed(one)),
    )


def _quote_file(path: str) -> _QuotedFile | None:
    try:
        found = Path(path).stat()
        if found.st_size > _HASHED_MAX:
            return None
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return None
    return _QuotedFile(path, found.st_mtime_ns, digest)


def _has_changed(was: _QuotedFile) -> bool:
    try:
        # An unchanged time spares reading the file; a changed one is verified by the digest.
        if Path(was.path).stat().st_mtime_ns == was.modified_ns:
            return False
    except OSError:
        return True
    now = _quote_file(was.path)
    return now is None or now.digest != was.digest


def files_of(frames: Iterable[answers.FrameView | None]) -> list[str]:
    """Return the source files of an answer's frames."""
    return [one.file for one in frames if one is not None and one.file is not None]
