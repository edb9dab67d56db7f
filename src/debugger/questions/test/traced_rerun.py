"""Runs tests of Python as they are, and the first that fails once more, traced line by line.

A trace makes a test ten times slower and more, so that no other test is traced. A test that passes
alone is run after those that were run before it in its process.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from debugger.questions.recordings.recorded_run import RecordedProgram
from debugger.questions.runner import launch_words
from debugger.recorders.model import Recording, RecordingNote
from debugger.recorders.recorded_process import CompletedRun, record_run
from debugger.recorders.recording_order import RecordingLimits, RecordingOrder
from debugger.recorders.test_failures import FailedTestRecord

_AGAIN_S = 15.0  # for what is run again after the time is up
_UNKNOWN = "which lines made its values is not known"


class TestRun(Struct, frozen=True):
    """A run of tests: what failed in it, the first as it was traced, and what is to be said."""

    ran: CompletedRun
    failed: tuple[FailedTestRecord, ...] = ()
    is_traced: bool = False
    again_s: float = 0.0
    notes: tuple[str, ...] = ()


async def run_tests(program: RecordedProgram) -> TestRun:
    """Run tests to their end, and the first that failed again, traced.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    ran = await _run_once(program, program.patience.seconds)
    failed = failed_tests(ran)
    if not failed or failed[0].phase != "call" or program.patience.interrupted.is_set():
        return TestRun(ran, failed)
    rerun = _TracedRerun(program, ran, failed[0])
    traced = await rerun.trace_failure()
    first = traced if traced is not None else failed[0]
    notes = list(rerun.notes)
    if traced is not None and traced.limit:
        notes.append(f"not all lines that made its values are known: {traced.limit}")
    return TestRun(ran, (first, *failed[1:]), traced is not None, rerun.took_s, tuple(notes))


def failed_tests(ran: CompletedRun) -> tuple[FailedTestRecord, ...]:
    """Return the tests that failed in a run, the first first."""
    found = [
        one for each in ran.recordings for one in each.events if isinstance(one, FailedTestRecord)
    ]
    return tuple(sorted(found, key=lambda one: one.time_ns))


def tests_begun(recording: Recording) -> list[RecordingNote]:
    """Return the tests that one process began, in their order."""
    return [
        one for one in recording.events if isinstance(one, RecordingNote) and one.kind == "test"
    ]


async def _run_once(
    program: RecordedProgram, seconds: float, *, traced: str = "", only: Sequence[str] = ()
) -> CompletedRun:
    limits = RecordingLimits(text=200, files=256)
    return await record_run(
        program.launch_argv,
        RecordingOrder(
            roots=program.source_roots, tests=True, traced=traced, only=tuple(only), limits=limits
        ),
        cwd=program.launch.cwd,
        env=program.launch.env,
        stdin=await launch_words.stdin_bytes(program.launch),
        timeout_s=seconds,
        scratch_root=program.scratch,
        interrupted=program.patience.interrupted,
    )


class _TracedRerun:
    """The runs in which a test that failed is traced."""

    def __init__(
        self, program: RecordedProgram, ran: CompletedRun, failed: FailedTestRecord
    ) -> None:
        self._program = program
        self._ran = ran
        self._failed = failed
        self.took_s = 0.0
        self.notes: list[str] = []

    async def trace_failure(self) -> FailedTestRecord | None:
        """Return the test as it failed when it was traced; None where it did not fail again."""
        found = await self._rerun_with(())
        if found is not None or self.notes:
            return found
        before = self._tests_before()
        tests = f"{len(before):,} run"
        if before:
            found = await self._rerun_with(before)
            if found is not None:
                self.notes.append(f"it passes when run alone, and fails after the {tests} before")
                return found
        if not self.notes:
            also = f", and after the {tests} before it" if before else ""
            self.notes.append(f"it passed when it was run again alone{also}: {_UNKNOWN}")
        return None

    async def _rerun_with(self, before: Sequence[str]) -> FailedTestRecord | None:
        name = self._failed.of
        whole = self._program.patience.seconds
        left = whole - self._ran.took_s - self.took_s
        seconds = max(left, min(_AGAIN_S, whole / 2))
        ran = await _run_once(self._program, seconds, traced=name, only=(*before, name))
        self.took_s += ran.took_s
        found = [one for one in failed_tests(ran) if one.of == name and one.phase == "call"]
        same = [one for one in found if _is_same(one, self._failed)]
        if same:
            return same[0]
        begun = [one.text for each in ran.recordings for one in tests_begun(each)]
        if found:
            self.notes.append(
                f"when it was run again it failed otherwise ({found[0].type}): {_UNKNOWN}"
            )
        elif ran.is_timed_out:
            self.notes.append(f"run again, it had not failed after {seconds:g} s: {_UNKNOWN}")
        elif name not in begun:
            self.notes.append(f"it could not be run again alone: {_UNKNOWN}")
        return None

    def _tests_before(self) -> list[str]:
        """Return the tests that were run before it in the same process."""
        for one in self._ran.recordings:
            if any(event is self._failed for event in one.events):
                begun = [each.text for each in tests_begun(one)]
                return begun[: begun.index(self._failed.of)] if self._failed.of in begun else []
        return []


def _is_same(one: FailedTestRecord, other: FailedTestRecord) -> bool:
    if one.type != other.type or one.name != other.name:
        return False
    lines = [each.frames[0].line if each.frames else 0 for each in (one, other)]
    return lines[0] == lines[1]
