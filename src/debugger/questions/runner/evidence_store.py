"""Stores past answers as evidence, and checks whether their source files have changed since."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec import UNSET, Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.location import near_names
from debugger.model.program import Variable
from debugger.output.html_page import MADE_BY
from debugger.questions.runner.answer import (
    DrawnCallTree,
    EvidenceDrawing,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
    EvidenceView,
)
from debugger.session import views
from debugger.session.session import Session

LOCALS_MAX = 10
_INSIDE_MAX = 8  # children of a value
_VALUE_MAX = 160  # characters
_SMALL = 60
_BARE = re.compile(r"(?:\([^()]*\)\s*)?0x0*[1-9a-fA-F][0-9a-fA-F]*\s*$")
_INSTANCE = re.compile(r"<(?:[\w.]+\.)?(\w+) object at 0x[0-9a-fA-F]+>$")
_OBJECT = re.compile(
    r"<.* (?:object )?at 0x[0-9a-fA-F]+>$|\{\.\.\.\}$|\{…\}$|^[A-Z]\w* ?\{…\}$|^size=[1-9]\d*$"
)
_ARGV = frozenset({"char**", "constchar**", "char*[]"})  # its inside is the command line
_UNKNOWN = ("<error", "error:", "<optimized out>", "<not available>", "<cannot access")
_DULL_TYPES = frozenset({"Class", "PrintStream"})  # of Java: `System`, `System.out`
_DULL = re.compile(
    r"<(?:module|function|class|built-in|bound method)\b|^ƒ |^class |^[fF]unction"
    r"|: ƒ\b|: ƒ[,}]|^Object$|^process \{"
)
_GROUPS = ("special variables", "function variables", "class variables", "[[", "(", "return ")
_ZEROS = re.compile(r"\b0x0{4,15}(?=[0-9a-fA-F])")
_GO_TYPE = re.compile(r"^\*?(?:\w+\.)+\w+ (?=\{)|^(?:\[\]|map\[)\S+ (?=len: )")


def plain_text(one: Variable) -> str:
    """Return a value's text without a repetition of its type."""
    return _ZEROS.sub("0x", _GO_TYPE.sub("", one.value.strip()))


def is_dull(one: Variable) -> bool:
    """Return whether a value is irrelevant to a crash: a module, a function, a class, a stream.

    So is what a comprehension of CPython goes through, an argument that is named `.0`.
    """
    is_named_so = one.name.startswith((*_GROUPS, ".")) or one.type in _DULL_TYPES
    return is_named_so or _DULL.search(one.value) is not None


def is_unknown(text: str) -> bool:
    """Return whether a text stands for an unavailable value, such as `<optimized out>`."""
    return text.lower().startswith(_UNKNOWN)


def short_view(one: Variable) -> answers.VariableView:
    """Convert a variable with few characters of its value."""
    return answers.VariableView(
        one.name[: views.NAME_MAX],
        views.value_text(plain_text(one), _VALUE_MAX),
        one.type[:_SMALL],
        raw=views.value_text(one.raw, _VALUE_MAX) if one.raw is not None else UNSET,
    )


async def expanded_view(session: Session, one: Variable) -> answers.VariableView:
    """Convert a variable with one level of children, if its text has none of them (a job)."""
    text = plain_text(one)
    shown = short_view(one)
    if (
        one.type.replace(" ", "") in _ARGV
        or not one.handle
        or not (_BARE.match(text) or _OBJECT.search(text))
    ):
        return shown
    try:
        children = await session.backend.read_variables(one.handle, count=_INSIDE_MAX * 2)
    except DebuggerError:
        return shown
    own = [each for each in children if not is_dull(each) and "<error" not in each.value]
    own = own[:_INSIDE_MAX]
    if not own:
        return shown
    named = _INSTANCE.match(text)
    text = named[1] if named else text
    parts = ", ".join(f"{each.name}: {views.value_text(plain_text(each), _SMALL)}" for each in own)
    more = ", …" if len(children) > len(own) else ""
    return answers.VariableView(
        shown.name, views.value_text(f"{text} {{{parts}{more}}}", _VALUE_MAX), shown.type
    )


KEPT_MAX = 100  # answers
BYTES_MAX = 1 << 20  # text of all answers
_TEXT_MAX = 16 << 10  # characters of one answer
_FILES_MAX = 20  # quoted sources of one answer
_HASHED_MAX = 8 << 20  # bytes of a source; a larger one is not checked for changes


# Draws an answer as SVG, for a report; many answers are never drawn.


@dataclass(frozen=True)
class AnswerPicture:
    """What draws an answer later: as SVG, or in the characters of a terminal of some width."""

    svg: Callable[[], str]
    text: Callable[[int], str]


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
    draw: AnswerPicture | None = None
    trees: tuple[DrawnCallTree, ...] = ()


class EvidenceStore:
    """The newest answers of questions: at most 100, and 1 MiB of text."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._answers: OrderedDict[str, _SavedAnswer] = OrderedDict()
        self._next = 1
        self._dropped = 0

    @property
    def next_id(self) -> str:
        """The id of the next answer."""
        return f"e{self._next}"

    def keep_answer(
        self,
        words: Sequence[str],
        cwd: str,
        *,
        summary: str,
        text: str,
        files: Iterable[str],
        draw: AnswerPicture | None = None,
        trees: tuple[DrawnCallTree, ...] = (),
    ) -> str:
        """Store an answer; the oldest ones are deleted.

        `words` are its command, `files` the sources that it quotes; `draw` draws it, or `trees` are
        its calls.
        """
        # Ids are never reused, so that an id in a conversation stays unambiguous.
        number, self._next = self.next_id, self._next + 1
        paths = list(dict.fromkeys(files))[:_FILES_MAX]
        self._answers[number] = _SavedAnswer(
            id=number,
            words=tuple(words),
            cwd=cwd,
            time=self._now().astimezone().isoformat(timespec="seconds"),
            summary=summary,
            text=text[:_TEXT_MAX],
            files=tuple(quoted for path in paths if (quoted := _quote_file(path)) is not None),
            draw=draw,
            trees=trees,
        )
        while len(self._answers) > KEPT_MAX or self._text_bytes() > BYTES_MAX:
            self._answers.popitem(last=False)
            self._dropped += 1
        return number

    def _text_bytes(self) -> int:
        return sum(len(one.text) for one in self._answers.values())

    @property
    def answer_ids(self) -> tuple[str, ...]:
        """The ids of the stored answers."""
        return tuple(self._answers)

    def list_answers(self) -> EvidenceList:
        """List the stored answers, oldest first."""
        return EvidenceList(
            tuple(_evidence_view(one) for one in self._answers.values()), dropped=self._dropped
        )

    def show_answer(self, number: str) -> EvidenceShown:
        """Return one stored answer.

        Raises:
            DebuggerError: NOT_FOUND, naming the existing ones.
        """
        entry = self._find_answer(number)
        return EvidenceShown(_evidence_view(entry), entry.text, is_drawn=_is_drawn(entry))

    def draw_answer(self, number: str, *, width: int | None = None) -> EvidenceDrawing:
        """Draw one stored answer: as SVG, or with a `width` in so many characters a line.

        Raises:
            DebuggerError: NOT_FOUND for an unknown one, and for one that has nothing to draw.
        """
        entry = self._find_answer(number)
        if entry.trees:
            return EvidenceDrawing(entry.id, trees=entry.trees)
        if entry.draw is None:
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"{entry.id} has no picture: probe, hang and path have one",
                hint=f"debugger evidence show {entry.id}",
            )
        if width is not None:
            return EvidenceDrawing(entry.id, text=entry.draw.text(width))
        return EvidenceDrawing(entry.id, svg=entry.draw.svg())

    def _find_answer(self, number: str) -> _SavedAnswer:
        answer_id = number if number.startswith("e") else f"e{number}"
        entry = self._answers.get(answer_id)
        if entry is None:
            known = ", ".join(self._answers) or "none yet"
            near = near_names(answer_id, self._answers)
            hint = f"debugger evidence show {near[0]}" if near else "debugger evidence list"
            raise DebuggerError(
                ErrorCode.NOT_FOUND, f"no evidence {number!r}; there is: {known}", hint=hint
            )
        return entry

    def drawn_answers(self) -> Iterator[tuple[EvidenceShown, AnswerPicture | None]]:
        """Yield each stored answer, oldest first, with what draws it."""
        for entry in self._answers.values():
            yield EvidenceShown(_evidence_view(entry), entry.text), entry.draw

    @property
    def dropped(self) -> int:
        """The number of answers that are not kept any more."""
        return self._dropped

    def write_report(self) -> EvidenceReport:
        """Format all stored answers as one page of Markdown.

        Raises:
            DebuggerError: NOT_FOUND if there are none.
        """
        if not self._answers:
            raise no_evidence()
        parts = ["# Evidence", "", f"<!-- {MADE_BY} -->", ""]
        stale = 0
        for entry in self._answers.values():
            view = _evidence_view(entry)
            stale += bool(view.stale)
            parts += [
                f"## {entry.id}: {entry.words[1]}: {entry.summary}",
                "",
                f"{entry.time}, to reproduce:",
                "",
            ]
            parts += ["```sh", f"cd {shlex.quote(entry.cwd)}", _command_text(entry), "```", ""]
            if view.stale:
                parts += [f"**Stale**: changed since: {', '.join(view.stale)}", ""]
            fence = _code_fence(entry.text)
            parts += [f"{fence}text", entry.text.rstrip(), fence, ""]
            if entry.files:
                parts += ["Files:", ""]
                parts += [f"- `{one.path}` sha256 `{one.digest[:16]}`" for one in entry.files]
                parts.append("")
        if self._dropped:
            parts += [f"{self._dropped} older answers are not kept.", ""]
        text = "\n".join(parts)
        return EvidenceReport(len(self._answers), text, stale=stale, bytes=len(text.encode()))


def no_evidence() -> DebuggerError:
    """Return the error for a report of nothing."""
    return DebuggerError(ErrorCode.NOT_FOUND, "no evidence yet", hint="debugger crash -- PROGRAM")


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


def _is_drawn(answer: _SavedAnswer) -> bool:
    return answer.draw is not None or bool(answer.trees)


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
