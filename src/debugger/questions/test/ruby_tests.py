"""Reads what minitest and rspec report, and runs one failed test of theirs again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.location import is_library
from debugger.questions.test.test_reports import NamedFailure, RunnerReport
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting

_ASSERTION = "Minitest::Assertion"
_ERRORS = 4  # lines that prevented a run
# `  1) Failure:`, and below it the test's name with where it failed, or what it raised.
_BEGIN = re.compile(r"\s+\d+\) (?P<kind>Failure|Error|Skipped):$")
_FAILED = re.compile(r"(?P<name>\S+#.+?) \[(?P<file>[^\]]+):(?P<line>\d+)\]:$")
_RAISED = re.compile(r"(?P<name>\S+#.+?):$")
_TRACE = re.compile(r"\s+(?P<file>[^\s:][^:]*):(?P<line>\d+):in ")
_SUMMARY = re.compile(r"\d+ (?:runs|tests), \d+ assertions, .*")
_COMMAND = re.compile(r"(?:rails test|bin/rails test|ruby) ")
_TYPED = re.compile(r"(?P<type>[A-Z]\w*(?:::[A-Z]\w*)*)(?:: |:?\Z)")


def parse_minitest(out: str, err: str) -> RunnerReport:
    """Parse the output of minitest's own reporter."""
    lines = out.splitlines()
    failed = tuple(_list_failures(lines))
    summary = next((line for line in reversed(lines) if _SUMMARY.match(line)), "")
    errors = [] if summary else [line for line in err.splitlines() if line.strip()]
    is_nothing = not failed and (not summary or summary.startswith("0 "))
    return RunnerReport(failed, summary, tuple(errors[:_ERRORS]), is_nothing=is_nothing)


def _list_failures(lines: Sequence[str]) -> Iterator[NamedFailure]:
    starts = [at for at, line in enumerate(lines) if _BEGIN.match(line)]
    for start in starts:
        kind = _BEGIN.match(lines[start])
        body = lines[start + 1 :]
        end = next(
            (at for at, line in enumerate(body) if _BEGIN.match(line) or _SUMMARY.match(line)),
            len(body),
        )
        if kind is not None and kind["kind"] != "Skipped" and body[:end]:
            yield _read_failure(body[:end])


def _read_failure(body: Sequence[str]) -> NamedFailure:
    failed = _FAILED.match(body[0])
    texts = [line for line in body[1:] if line.strip() and not _COMMAND.match(line)]
    if failed is not None:
        message = "\n".join(texts)
        return NamedFailure(failed["name"], message, failed["file"], int(failed["line"]))
    named = _RAISED.match(body[0])
    traces = [match for line in texts if (match := _TRACE.match(line)) is not None]
    message = "\n".join(line for line in texts if not _TRACE.match(line))
    where = traces[0] if traces else None
    typed = _TYPED.match(message)
    return NamedFailure(
        named["name"] if named is not None else body[0],
        message,
        where["file"] if where is not None else None,
        int(where["line"]) if where is not None else None,
        of=typed["type"] if typed is not None else "",  # what was raised
    )


class _RspecException(Struct, frozen=True):
    type: str = msgspec.field(name="class", default="")
    message: str = ""
    backtrace: tuple[str, ...] | None = ()


class _RspecExample(Struct, frozen=True):
    id: str
    full_description: str
    status: str
    file_path: str = ""
    line_number: int | None = None
    exception: _RspecException | None = None


class _RspecReport(Struct, frozen=True):
    """The report of rspec with --format json (rspec-core 3.12)."""

    examples: tuple[_RspecExample, ...] = ()
    messages: tuple[str, ...] = ()
    summary_line: str = ""


def parse_rspec(written: bytes) -> RunnerReport | None:
    """Parse the report file of rspec; None if it is none."""
    try:
        found = msgspec.json.decode(written, type=_RspecReport)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    failed = tuple(_read_example(one) for one in found.examples if one.status == "failed")
    passed = tuple(one.full_description for one in found.examples if one.status == "passed")
    errors = [line.strip() for text in found.messages for line in text.splitlines() if line.strip()]
    # rspec says in one line that it found no example.
    errors = [line for line in errors if not line.startswith("No examples found")]
    is_nothing = not found.examples and not errors
    return RunnerReport(
        failed, found.summary_line, tuple(errors[:_ERRORS]), is_nothing=is_nothing, passed=passed
    )


def _read_example(one: _RspecExample) -> NamedFailure:
    raised = one.exception or _RspecException()
    traces = [match for line in raised.backtrace or () if (match := _TRACE.match(f" {line}"))]
    own = [match for match in traces if not is_library(match["file"], "")]
    where = own[0] if own else None
    lines = [line for line in raised.message.splitlines() if line.strip()]
    is_assertion = raised.type.startswith("RSpec::")
    message = "\n".join(lines if is_assertion else [f"{raised.type}: {raised.message}"])
    return NamedFailure(
        one.full_description,
        message,
        where["file"] if where else one.file_path,
        int(where["line"]) if where else one.line_number,
        of=one.id,
    )


async def rerun_minitest(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run the file with one test of it, to what the test raises."""
    spec = BreakpointSpec(catch="raised", type=named.of or _ASSERTION)
    words = (*setting.words, "-n", named.name)
    return DebuggedRerun(words, setting.cwd, specs=(spec,))


async def rerun_rspec(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run one example of rspec's, to what it raises."""
    if not named.of:
        raise DebuggerError(ErrorCode.NOT_FOUND, f"which example {named.name} is is not known")
    own = [one for one in setting.words if not _names_files(one)]
    typed = _TYPED.match(named.message)
    caught = typed["type"] if typed is not None else "RSpec::Expectations::ExpectationNotMetError"
    spec = BreakpointSpec(catch="raised", type=caught)
    return DebuggedRerun((*own, named.of), setting.cwd, specs=(spec,))


def _names_files(word: str) -> bool:
    return bool(re.search(r"_spec\.rb\b|\Aspec(?:/|\Z)", word))
