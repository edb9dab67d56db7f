"""Finds the failing test of a language other than Python, and why it fails.

They are run once as the user would, which tells the names, and what could not be built. The first
test that failed is then run again, alone and under the debugger, to its failing assertion.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET

from debugger.core import answers
from debugger.core.causes import Facts, cause
from debugger.core.clip import clip
from debugger.core.events import Stream
from debugger.errors import DebuggerError
from debugger.questions.testing import report as reports
from debugger.questions.testing import runners, summary
from debugger.questions.testing.again import WAYS
from debugger.questions.testing.report import Named, Report
from debugger.questions.testing.seen import Seen, made_above, said_of, see
from debugger.questions.testing.setting import Again, Setting
from debugger.recording.run import Ran
from debugger.session import source

_OTHERS = 20
_MESSAGE = 160
_OUTPUT = 10
_LEAST_S = 5.0  # for the debugger, however long the tests took
_JSON = {
    runners.JEST: ("--json", "--outputFile={file}"),
    runners.VITEST: ("--reporter=default", "--reporter=json", "--outputFile={file}"),
    runners.MOCHA: ("--full-trace", "--reporter=json", "--reporter-option=output={file}"),
}
_LIST = {
    runners.GO: "the tests that there are: go test -list . ./...",
    runners.CARGO: "the tests that there are: cargo test -- --list",
    runners.CTEST: "the tests that there are: ctest -N",
    runners.NODE: "it takes files: node --test FILE",
    runners.JEST: "the files that there are: npx jest --listTests",
    runners.VITEST: "the tests that there are: npx vitest list",
    runners.MOCHA: "the tests that there are: npx mocha --dry-run",
    runners.PROGRAM: "a program of googletest lists them: --gtest_list_tests; "
    "of any other: debugger crash -- CMD",
}
# What the runner has put there, and its macros.
_DULL = {
    runners.GO: frozenset({"t", "b"}),
    runners.CARGO: frozenset({"left_val", "right_val", "kind"}),
    runners.PROGRAM: frozenset({"this", "gtest_ar", "gtest_ar_"}),
    runners.CTEST: frozenset({"this", "gtest_ar", "gtest_ar_"}),
}
_IMPORTED = "__vite_ssr_import"  # vitest's names for the modules of a file
_PASSED_ALONE = (
    "it failed among the others, and not when it was run again alone: what it shares with them, "
    "or chance"
)

_WITH_OTHERS = (
    "run again alone it does not fail, or is not come to: it was run with its file's others"
)
_WHICH_TIME = (
    "{} passes of this line fit what the runner says of the failure: this is the last of them"
)


async def test(setting: Setting) -> answers.Tested:
    """Run tests, and say why the first that failed did.

    Raises:
        DebuggerError: LAUNCH_FAILED, and what the debugger raises that is needed.
    """
    ran, report = await _ran(setting)
    answer = _base(setting, ran, report)
    if not report.failed:
        return _calm(answer, setting, ran, report)
    first = report.failed[0]
    answer = msgspec.structs.replace(
        answer,
        outcome="failed",
        test=first.name,
        failed=len(report.failed),
        others=tuple(_other(one, setting.cwd) for one in report.failed[1 : 1 + _OTHERS]),
    )
    notes: list[str] = []
    try:
        again = await WAYS[setting.runner](setting, first)
        left = max(setting.seconds - ran.took_s, _LEAST_S)
        question = await setting.ask(again, left)
        first = await _better(setting, again, first)
        seen, last = await see(question, setting.runner, first)
        if seen is None and last.exit_code == 0 and again.with_others:
            others = msgspec.structs.replace(again, words=again.with_others)
            question = await setting.ask(others, left)
            among, last = await see(question, setting.runner, first, is_alone=False)
            seen = among
            notes += [_WITH_OTHERS] if among is not None else []
    except DebuggerError as error:
        seen, last = None, None
        notes.append(f"it could not be looked at: {error.message}")
        if error.hint:
            notes.append(error.hint)
    if seen is not None:
        notes += [_WHICH_TIME.format(seen.passes)] if seen.passes > 1 else []
        answer = msgspec.structs.replace(answer, notes=(*answer.notes, *notes))
        return _with(answer, seen, first)
    if last is not None:
        notes.append(_PASSED_ALONE if last.exit_code == 0 else "the debugger did not see it fail")
        if last.timed_out:
            notes[-1] = "when it was run again under the debugger, it had not failed in time"
    return _unseen(answer, first, setting, notes)


async def _ran(setting: Setting) -> tuple[Ran, Report]:
    """Run all that was asked for, and read what the runner tells."""
    words = list(setting.words)
    file = setting.scratch / "report.json"
    if setting.runner == runners.NODE and not any("--test-reporter" in one for one in words):
        at = words.index("--test") if "--test" in words else 1
        words[at:at] = ["--test-reporter=tap"]
    if setting.runner == runners.VITEST and "run" not in words:
        words.insert(2, "run")
    words += [one.format(file=file) for one in _JSON.get(setting.runner, ())]
    also = {"CTEST_OUTPUT_ON_FAILURE": "1", "NO_COLOR": "1", "RUST_BACKTRACE": "0", "CI": "1"}
    ran = await setting.run(words, **also)
    out, err = (
        "\n".join(summary.plain(ran.text(one).splitlines()))
        for one in (Stream.STDOUT, Stream.STDERR)
    )
    if setting.runner in _JSON:
        written = file.read_bytes() if file.is_file() else b""
        said = [line for line in err.splitlines() if line.strip()]
        is_nothing = any("No tests found" in one or "No test files found" in one for one in said)
        read = reports.mocha if setting.runner == runners.MOCHA else reports.json
        return ran, read(written) or Report(errors=tuple(said[:4]), is_nothing=is_nothing)
    return ran, reports.READERS[setting.runner](out, err)


def _base(setting: Setting, ran: Ran, report: Report) -> answers.Tested:
    lines = [line for one in ran.output for line in one.text.splitlines() if line.strip()]
    return answers.Tested(
        outcome="passed",
        runner=_runner(setting, lines),
        summary=report.summary,
        output_total=len(lines),
        output_dropped=max(ran.printed - sum(len(one.text) for one in ran.output), 0),
        exit_code=ran.status,
        took_s=round(ran.took_s, 3),
        timed_out=ran.is_timed_out,
        notes=tuple(f"ended what the tests left running: {one}" for one in ran.killed[:4]),
    )


def _runner(setting: Setting, lines: Sequence[str]) -> str:
    """Name the runner; a program that says nothing of googletest's is none of it."""
    is_plain = setting.runner == runners.PROGRAM and not any("[====" in one for one in lines)
    return "program" if is_plain else setting.runner


def _calm(answer: answers.Tested, setting: Setting, ran: Ran, report: Report) -> answers.Tested:
    """Say how tests ended of which none has failed."""
    outcome, notes = "passed", list(answer.notes)
    if ran.is_timed_out:
        outcome = "running"
        notes.append("why it does not end: debugger hang --after 5 -- CMD")
    elif ran.status != 0 and report.errors:
        outcome = "nothing" if report.is_nothing and not _is_built(report) else "broken"
    elif report.is_nothing:
        outcome = "nothing"
    elif ran.status != 0:
        outcome = "crashed"
        notes.append("no test that failed was told; if it crashed: debugger crash -- CMD")
    if outcome == "nothing" and setting.runner in _LIST:
        notes.append(_LIST[setting.runner])
    is_told = outcome == "passed" or bool(report.errors)
    errors = report.errors if outcome != "passed" else ()
    return msgspec.structs.replace(
        answer,
        outcome=outcome,
        cause=errors[0] if errors and outcome == "broken" else None,
        kind="build" if outcome == "broken" else None,
        errors=errors[1:] if outcome == "broken" else errors,
        output=() if is_told else _end(ran),
        notes=tuple(notes),
    )


def _is_built(report: Report) -> bool:
    """Tell whether an error is the compiler's: it has a place."""
    return any(":" in one.partition(" ")[0] for one in report.errors)


def _end(ran: Ran) -> tuple[answers.OutputLine, ...]:
    lines = [
        answers.OutputLine(one.stream.value, clip(line, 400), 0)
        for one in ran.output
        for line in summary.plain(one.text.splitlines())
        if line.strip()
    ]
    return tuple(lines[-_OUTPUT:])


async def _better(setting: Setting, again: Again, named: Named) -> Named:
    """Return what ctest's program itself says of its failure."""
    if setting.runner != runners.CTEST:
        return named
    inner = msgspec.structs.replace(
        setting, words=again.words, cwd=again.cwd, env={**setting.env, **_pairs(again.env)}
    )
    ran = await inner.run(again.words, GTEST_BREAK_ON_FAILURE="0", GTEST_CATCH_EXCEPTIONS="1")
    told = reports.gtest(ran.text(Stream.STDOUT), "")
    return told.failed[0] if told.failed else named


def _pairs(env: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (one.partition("=") for one in env)}


def _other(named: Named, cwd: str) -> answers.FailedTest:
    frame = _frame(named, cwd)
    return answers.FailedTest(named.name, clip(" ".join(named.message.split()), _MESSAGE), frame)


def _frame(named: Named, cwd: str) -> answers.FrameView | None:
    if named.file is None:
        return None
    beside = Path(named.of).parent if named.of.startswith("/") else Path(cwd)
    path = Path(named.file) if Path(named.file).is_absolute() else beside / named.file
    file = str(path) if path.is_file() else named.file
    return answers.FrameView(0, named.name, file, named.line)


def _with(answer: answers.Tested, seen: Seen, named: Named) -> answers.Tested:
    scene = seen.scene
    read = {one.name for one in scene.values} | set(seen.facts.operands)
    dull = _DULL.get(answer.runner, frozenset())

    def is_own(one: answers.VariableView) -> bool:
        return one.name not in dull and not one.name.startswith(_IMPORTED)

    own = [one for one in scene.locals if is_own(one)]
    named_ = tuple(one for one in own if one.name in read)
    callers = tuple(
        msgspec.structs.replace(each, values=tuple(one for one in each.values if is_own(one)))
        for each in scene.callers
    )
    return msgspec.structs.replace(
        answer,
        cause=seen.cause.text,
        kind=seen.cause.kind,
        exception=answers.ExceptionView(seen.facts.exception or "", named.message),
        frame=scene.frame,
        source=scene.source,
        values=(*named_, *scene.values),
        locals=tuple(one for one in own if one.name not in read),
        locals_total=scene.locals_total - len(scene.locals) + len(own) - len(named_),
        made=seen.made,
        inside=scene.inside if seen.cause.kind != "assertion" else None,
        callers=callers,
        method=f"run again by {seen.adapter}",
        session=seen.session if seen.session is not None else UNSET,
    )


def _unseen(
    answer: answers.Tested, named: Named, setting: Setting, notes: list[str]
) -> answers.Tested:
    """Tell of a failure what the runner has said, and which lines lead there."""
    frame = _frame(named, setting.cwd)
    place = f"{Path(named.file).name}:{named.line}" if named.file else ""
    exception, message = said_of(setting.runner, named)
    told = cause(Facts(function=named.name, place=place, exception=exception, message=message))
    return msgspec.structs.replace(
        answer,
        cause=told.text,
        kind=told.kind,
        exception=answers.ExceptionView("", named.message),
        frame=frame,
        source=source.around(frame.file, frame.line, before=2, after=2) if frame else (),
        made=made_above(frame, {}) if frame is not None else (),
        method="by the runner's own words",
        notes=(*answer.notes, *notes),
    )
