"""Reads what PHPUnit reports, and runs one failed test of its again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from debugger.model.breakpoints import BreakpointSpec
from debugger.model.location import is_library
from debugger.questions.test.test_reports import NamedFailure, RunnerReport
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting

_ASSERTION = "ExpectationFailedException"
_FAILED = "Failed asserting"
_EXPECTED = "--- Expected"
_ERRORS = 4  # lines that prevented a run
_BEGIN = re.compile(r"\d+\) (?P<name>[\w\\\\]+::\w+(?: with data set .+)?)$")
_PLACE = re.compile(r"(?P<file>/\S+\.php):(?P<line>\d+)$")
_SUMMARY = re.compile(r"(?:Tests: \d+, Assertions: .*|OK \(\d+ tests?, .*\))")
_END = re.compile(r"(?:--$|FAILURES!|ERRORS!|WARNINGS!|Tests: )")
_TYPED = re.compile(r"(?P<type>[A-Z][\w\\\\]*): ")


def parse_phpunit(out: str, err: str) -> RunnerReport:
    """Parse the output of PHPUnit (9.6)."""
    lines = out.splitlines()
    summary = next((line for line in reversed(lines) if _SUMMARY.match(line)), "")
    failed = tuple(_list_failures(lines))
    is_nothing = "No tests executed!" in out
    texts = [line for line in (*lines, *err.splitlines()) if line.strip()]
    errors = () if summary or is_nothing else tuple(texts[:_ERRORS])
    return RunnerReport(failed, summary, errors, is_nothing=is_nothing)


def _list_failures(lines: Sequence[str]) -> Iterator[NamedFailure]:
    for at, line in enumerate(lines):
        begin = _BEGIN.match(line)
        if begin is None:
            continue
        body: list[str] = []
        for following in lines[at + 1 :]:
            if _BEGIN.match(following) or _END.match(following):
                break
            body.append(following)
        yield _read_failure(begin["name"], body)


def _read_failure(name: str, body: Sequence[str]) -> NamedFailure:
    places = [match for line in body if (match := _PLACE.match(line)) is not None]
    own = [match for match in places if not is_library(match["file"], "")] or places
    texts = [line for line in body if line.strip() and not _PLACE.match(line)]
    difference = texts.index(_EXPECTED) if _EXPECTED in texts else len(texts)
    changed = (line for line in texts[difference:] if line.startswith(("-", "+")))
    message = "\n".join((*texts[:difference], *changed))
    typed = _TYPED.match(message)
    return NamedFailure(
        name,
        message,
        own[0]["file"] if own else None,
        int(own[0]["line"]) if own else None,
        of=typed["type"] if typed is not None else "",  # what was thrown
    )


async def rerun_phpunit(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run one test, to what it throws."""
    pattern = re.escape(named.name.partition(" with data set")[0]).replace("/", "\\/")
    # A warning of PHP's, which PHPUnit 9 throws as an exception, is reported without a type.
    of = named.of or (_ASSERTION if _FAILED in named.message else None)
    spec = BreakpointSpec(catch="raised", type=of)
    return DebuggedRerun(
        (*setting.words, "--filter", f"/^{pattern}\\b/"), setting.cwd, specs=(spec,)
    )
