"""Saves runs for comparison with later ones; defines the arguments of all recorded runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, structs

from debugger.backends import backend_names
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names
from debugger.questions.probe.probe_comparison import ProbedRun
from debugger.questions.recordings.answer import RunView, SavedRun, SavedRuns
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question
from debugger.questions.runner.started_command import choose_command
from debugger.recorders.model import Recording
from debugger.targets.compared_commands import split_commands

PREFIX = "run:"
_KEPT_MAX = 20
_RUN_MAX = 32 << 20  # bytes of one recording
_SOURCES_MAX = 8 << 20  # of the copies of its sources
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_ALONE = frozenset({"path", "calls"})  # they record one program
_RECORD, _SOURCES = "run.msgpack", "source"


class _SavedRunHead(Struct, frozen=True):
    """The listed part of a saved run."""

    name: str
    verb: str
    scope: str
    words: tuple[str, ...]
    cwd: str
    time: str
    view: RunView
    sources: tuple[tuple[str, str], ...]  # files, and the names of their copies


class _SavedRunFile(_SavedRunHead, frozen=True):
    """The file of a saved run, stored beside copies of its sources."""

    roots: tuple[str, ...]
    engine: str
    recordings: tuple[Recording, ...]
    first: int = 0
    probed: ProbedRun | None = None


_T = TypeVar("_T", bound=_SavedRunHead)


class StoredRun(Struct, frozen=True):
    """A loaded saved run; its recording refers to the copies of its sources.

    A run with probes has no other recording.
    """

    name: str
    verb: str
    scope: str
    ran: RecordedRun
    roots: tuple[str, ...]
    cwd: str
    changed: tuple[str, ...] = ()
    probed: ProbedRun | None = None


def _numbered_recordings(ran: RecordedRun | ProbedRun) -> tuple[tuple[Recording, ...], int]:
    """Return the recordings of a run, and the index of the one that is answered."""
    if isinstance(ran, ProbedRun):
        return (Recording(),), 0
    # By identity: two processes may have equal recordings.
    numbers = (at for at, one in enumerate(ran.recordings) if one is ran.recording)
    return ran.recordings, next(numbers, 0)


def _source_names(ran: RecordedRun | ProbedRun) -> list[str]:
    if isinstance(ran, ProbedRun):
        return [one.file for one in ran.places if one.file is not None]
    return [one.file for each in ran.recordings for one in each.functions.values()]


class SavedRunStore:
    """The saved runs in one folder: at most `kept_max`, of which the oldest are removed first."""

    def __init__(
        self, folder: Path, *, kept_max: int = _KEPT_MAX, bytes_max: int = _RUN_MAX
    ) -> None:
        self._folder = folder
        self._kept_max = kept_max
        self._bytes_max = bytes_max

    def save_run(
        self,
        name: str,
        program: RecordedProgram,
        ran: RecordedRun | ProbedRun,
        *,
        verb: str,
        scope: str,
    ) -> str:
        """Save a run under a name, replacing an earlier one; return a note.

        Raises:
            DebuggerError: USAGE for an invalid name; NOT_SUPPORTED for a run that is too large.
        """
        check_name(name)
        # A hidden name until all is written: a run with this name is always complete.
        folder = self._folder / f".{name}"
        shutil.rmtree(folder, ignore_errors=True)
        for one in (self._folder, folder, folder / _SOURCES):
            one.mkdir(mode=0o700, exist_ok=True)
        recordings, first = _numbered_recordings(ran)
        saved = _SavedRunFile(
            name=name,
            verb=verb,
            scope=scope,
            words=program.words,
            cwd=program.launch.cwd,
            time=datetime.now(UTC).astimezone().isoformat(timespec="seconds"),
            roots=program.source_roots,
            engine=ran.means if isinstance(ran, ProbedRun) else ran.engine,
            view=ran.view,
            recordings=recordings,
            sources=_copy_sources(_source_names(ran), program.source_roots, folder / _SOURCES),
            first=first,
            probed=ran if isinstance(ran, ProbedRun) else None,
        )
        encoded = msgspec.msgpack.encode(saved)
        if len(encoded) > self._bytes_max:
            shutil.rmtree(folder, ignore_errors=True)
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                f"the run is {len(encoded) >> 20} MiB, and at most {self._bytes_max >> 20} are "
                "saved",
                hint=f"debugger {verb} --vs CMD compares without saving",
            )
        record = folder / _RECORD
        record.touch(mode=0o600)
        record.write_bytes(encoded)
        # A rename cannot replace a folder that is not empty.
        shutil.rmtree(self._folder / name, ignore_errors=True)
        folder.rename(self._folder / name)
        for old in self._saved_names()[: -self._kept_max]:
            shutil.rmtree(self._folder / old, ignore_errors=True)
        what = _question_text(verb, scope)
        return f"saved as {PREFIX}{name}: debugger {what} -- CMD --vs {PREFIX}{name}"

    def load_run(self, name: str, *, verb: str, scope: str) -> StoredRun:
        """Load a saved run, for the question that saved it.

        Raises:
            DebuggerError: NOT_FOUND, naming the existing ones; USAGE for another question.
        """
        run_file = self._read_run(name, _SavedRunFile)
        if (run_file.verb, run_file.scope) != (verb, scope):
            what = _question_text(run_file.verb, run_file.scope)
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{PREFIX}{name} was saved by debugger {what}, which records something else",
                hint=f"debugger {what} -- CMD --vs {PREFIX}{name}",
            )
        place = self._folder / name / _SOURCES
        copies = {file: str(place / copy) for file, copy in run_file.sources}
        recordings = tuple(_of_copies(one, copies) for one in run_file.recordings)
        changed = tuple(_changed_sources(run_file, place))
        notes = list(run_file.view.notes)
        if changed:
            names = ", ".join(Path(one).name for one in changed[:3])
            notes.append(f"{PREFIX}{name} is of {run_file.time}: since then changed {names}")
        view = structs.replace(
            run_file.view, command=f"{PREFIX}{name} ({run_file.view.command})", notes=tuple(notes)
        )
        return StoredRun(
            name=name,
            verb=run_file.verb,
            scope=run_file.scope,
            ran=RecordedRun(recordings[run_file.first], recordings, view, run_file.engine),
            roots=tuple(str(place / str(at)) for at in range(len(run_file.roots) + 1)),
            cwd=run_file.cwd,
            changed=changed,
            probed=_with_copies(run_file.probed, copies, view)
            if run_file.probed is not None
            else None,
        )

    def list_runs(self) -> SavedRuns:
        """List the saved runs, oldest first."""
        found = []
        for name in self._saved_names():
            head = self._read_run(name, _SavedRunHead)
            folder = self._folder / name
            found.append(
                SavedRun(
                    name=name,
                    verb=_question_text(head.verb, head.scope),
                    command=shlex.join(head.words),
                    cwd=head.cwd,
                    time=head.time,
                    exit_code=head.view.exit_code,
                    exit_signal=head.view.exit_signal,
                    bytes=(folder / _RECORD).stat().st_size,
                    changed=tuple(_changed_sources(head, folder / _SOURCES)),
                )
            )
        return SavedRuns(tuple(found))

    def remove_run(self, name: str) -> None:
        """Remove a saved run.

        Raises:
            DebuggerError: NOT_FOUND, naming the existing ones.
        """
        self._check_there(name)
        shutil.rmtree(self._folder / name)

    def _saved_names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        # A valid name has no leading dot, so unfinished runs are not among them.
        every = [one for one in self._folder.iterdir() if _NAME.match(one.name)]
        return [one.name for one in sorted(every, key=lambda one: one.stat().st_mtime_ns)]

    def _check_there(self, name: str) -> None:
        names = self._saved_names()
        if name in names:
            return
        near = near_names(name, names)
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no saved run {name!r}; there is: {', '.join(names) or 'none yet'}",
            hint=f"--vs {PREFIX}{near[0]}" if near else "debugger path --save NAME -- CMD",
        )

    def _read_run(self, name: str, kind: type[_T]) -> _T:
        self._check_there(name)
        try:
            content = (self._folder / name / _RECORD).read_bytes()
            return msgspec.msgpack.decode(content, type=kind)
        except (OSError, msgspec.DecodeError) as error:
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"the saved run {name} cannot be read: {error}",
                hint=f"debugger runs remove {name}",
            ) from error


def check_name(name: str) -> None:
    """Reject an invalid name.

    Raises:
        DebuggerError: USAGE.
    """
    if not _NAME.match(name):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{name!r} is not a name for a run: letters, digits, dots, - and _",
            hint="--save before",
        )


def roots_of(program: RecordedProgram | StoredRun) -> tuple[str, ...]:
    """Return the source roots of a run: for a saved one those of its copies."""
    return program.roots if isinstance(program, StoredRun) else (*program.source_roots, "/")


def saved_name(words: Sequence[str]) -> str | None:
    """Return the saved run's name in place of a command; None for a command."""
    is_one = len(words) == 1 and words[0].startswith(PREFIX)
    return words[0].removeprefix(PREFIX) if is_one else None


def _question_text(verb: str, scope: str) -> str:
    """Describe the question of a scope: the probes with their options, or the function."""
    if not scope:
        return verb
    return f"{verb} {scope}" if scope.startswith("--") else f"{verb} --function {scope}"


def _copy_sources(
    files: Iterable[str], roots: Sequence[str], place: Path
) -> tuple[tuple[str, str], ...]:
    """Copy a run's sources, each below the number of its root."""
    found, remaining = [], _SOURCES_MAX
    for file in dict.fromkeys(files):
        places = [*roots, "/"]
        numbers = [at for at, root in enumerate(places) if file.startswith(root.rstrip("/") + "/")]
        if not numbers:  # what was compiled elsewhere, and is not there
            continue
        number = max(numbers, key=lambda at: len(places[at]))
        relative = os.path.relpath(file, places[number])
        try:
            content = Path(file).read_bytes()
        except OSError:
            continue
        remaining -= len(content)
        if remaining < 0:
            break
        copy = place / str(number) / relative
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy.write_bytes(content)
        found.append((file, f"{number}/{relative}"))
    return tuple(found)


def _of_copies(one: Recording, copies: dict[str, str]) -> Recording:
    functions = {
        number: structs.replace(function, file=copies.get(function.file, function.file))
        for number, function in one.functions.items()
    }
    return structs.replace(one, functions=functions)


def _with_copies(one: ProbedRun, copies: dict[str, str], view: RunView) -> ProbedRun:
    places = tuple(
        structs.replace(place, file=copies.get(place.file, place.file))
        if place.file is not None
        else place
        for place in one.places
    )
    return structs.replace(one, places=places, view=view)


def _changed_sources(head: _SavedRunHead, place: Path) -> Iterable[str]:
    for file, copy in head.sources:
        try:
            is_same = Path(file).read_bytes() == (place / copy).read_bytes()
        except OSError:
            is_same = False
        if not is_same:
            yield file


def saved_runs(call: CommandCall) -> SavedRunStore:
    """Return the store of saved runs."""
    return SavedRunStore(call.scratch_root.parent / "runs")


async def compared_runs(
    call: CommandCall,
    options: QuestionOptions,
    quoted: Sequence[str],
    *,
    scope: str = "",
    save: str | None = None,
) -> list[RecordedProgram | StoredRun]:
    """Return the runs to compare: programs, and saved runs named as `run:NAME`.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND.
    """
    if save is not None:
        check_name(save)
    found: list[RecordedProgram | StoredRun] = []
    every = split_commands(options.words, quoted, verb=options.verb)
    for words in every:
        name = saved_name(words)
        if name is None:
            found += await recorded_programs(call, msgspec.structs.replace(options, words=words))
        else:
            found.append(saved_runs(call).load_run(name, verb=options.verb, scope=scope))
    if isinstance(found[0], StoredRun) and (save is not None or len(found) == 1):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"run:{found[0].name} is saved already, and is compared with another",
            hint=f"debugger {options.verb} -- CMD --vs run:{found[0].name}",
        )
    return found


async def recorded_programs(
    call: CommandCall, options: QuestionOptions, quoted: Sequence[str] = ()
) -> list[RecordedProgram]:
    """Return the programs to run, the one before `--vs` first.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND.
    """
    found = []
    for words in split_commands(options.words, quoted, verb=options.verb):
        one = msgspec.structs.replace(options, words=words)
        one, note = await choose_command(call, one) if one.verb in _ALONE else (one, "")
        made = await build_question(call, one)
        assert isinstance(made.target, LaunchTarget)  # what is run, and not attached to
        traced = msgspec.structs.replace(one, backend=backend_names.FRIDA)
        call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found.append(
            RecordedProgram(
                words=one.words,
                launch=made.target,
                patience=made.patience,
                scratch=call.scratch_root,
                language=made.language,
                question=made,
                options=one,
                traced=partial(build_question, call, traced),
                note=note,
            )
        )
    return found
