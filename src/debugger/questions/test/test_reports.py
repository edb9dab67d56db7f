"""Parses the failed tests from a runner's output, with one function for each runner. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import Struct

from debugger.model.text_filters import clip_text

_LONGEST = 200  # characters of a summary
_SGR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PYTEST = re.compile(
    r"=*\s*(?P<said>(?:no tests (?:ran|collected)|\d+ (?:failed|passed|errors?|skipped|deselected|"
    r"xfailed|xpassed|warnings?|tests? collected))\b.* in [\d.]+s.*?)\s*=*$"
)
_UNITTEST = re.compile(r"(?P<said>Ran \d+ tests? in .*s)$")
_VERDICT = re.compile(r"(?P<said>(?:OK|FAILED|NO TESTS RAN)(?: \(.*\))?)$")
_NOTHING = re.compile(
    r"no tests (?:ran|collected)|Ran 0 tests|NO TESTS RAN|ERROR: (?:file or directory )?not found"
    r"|collected 0 items|found no collectors"
)


def without_colours(lines: Sequence[str]) -> list[str]:
    """Remove colours from lines."""
    return [_SGR.sub("", line).rstrip() for line in lines]


def of_python(lines: Sequence[str]) -> str:
    """Parse the summary of pytest, or unittest; nothing without one."""
    text = ""
    for line in reversed(without_colours(lines)):
        pytest = _PYTEST.match(line)
        if pytest:
            return clip_text(pytest["said"], _LONGEST)
        verdict, ran = _VERDICT.match(line), _UNITTEST.match(line)
        if verdict and not text:
            text = verdict["said"]
        if ran:
            return clip_text(f"{ran['said']}: {text}" if text else ran["said"], _LONGEST)
    return ""


def ran_nothing(lines: Sequence[str]) -> bool:
    """Return whether no test ran."""
    return any(_NOTHING.search(line) for line in without_colours(lines))


_ERRORS = 4  # lines that prevented a run
_MESSAGE = 2000  # characters
_LINES = 12  # lines below a failure
_SUITE_FAILED = "● Test suite failed to run"


class NamedFailure(Struct, frozen=True):
    """A failed test: its message and location; `of` is its package, file or program."""

    name: str
    message: str = ""
    file: str | None = None
    line: int | None = None
    of: str = ""
    column: int = 0  # from 1; 0: unknown
    thrown: str = ""  # the type of the exception, where the runner names it apart


class RunnerReport(Struct, frozen=True):
    """A runner's result: the failures, its own summary, and an error that prevented the run."""

    failed: tuple[NamedFailure, ...] = ()
    summary: str = ""
    errors: tuple[str, ...] = ()
    is_nothing: bool = False
    ended_early: str = ""  # how a process of the tests ended before it reported any failure
    # The passing tests, where the runner's report names them.
    passed: tuple[str, ...] = ()


_GO_FAIL = re.compile(r"(?P<indent>\s*)--- FAIL: (?P<name>\S+) \(")
_GO_FAILURE = re.compile(r"\s+(?P<file>[\w./+-]+\.go):(?P<line>\d+): ?(?P<said>.*)")
_GO_PACKAGE = re.compile(r"FAIL\t(?P<name>\S+)(?:\s+(?P<why>\[.*\])|\s+[\d.]+s)?$")
_GO_BUILD = re.compile(r"(?P<said>\S+\.go:\d+(?::\d+)?: .*)")
_GO_PANIC = re.compile(r"panic: (?P<said>.*)")
_GO_ENDED = re.compile(r"(?:ok  |FAIL|\?   )\t(?P<said>\S+.*)")


def parse_go(out: str, err: str) -> RunnerReport:
    """Parse the output of `go test`, with and without -v."""
    lines = out.splitlines()
    failed: list[NamedFailure] = []
    waiting = 0
    errors: list[str] = []
    for at, line in enumerate(lines):
        found, package = _GO_FAIL.match(line), _GO_PACKAGE.match(line)
        if found:
            failed.append(_go_test(found["name"], lines[at + 1 :]))
        elif package:
            name = package["name"]
            failed[waiting:] = [msgspec.structs.replace(one, of=name) for one in failed[waiting:]]
            waiting = len(failed)
            if package["why"]:
                errors.append(f"{name} {package['why']}")
    texts = [match["said"] for line in err.splitlines() if (match := _GO_BUILD.match(line))]
    texts += [match["said"] for line in lines if (match := _GO_BUILD.match(line)) and not failed]
    parents = {one.name.rpartition("/")[0] for one in failed if "/" in one.name}
    inner = tuple(one for one in failed if one.name not in parents)
    ended = [match["said"].replace("\t", " ") for line in lines if (match := _GO_ENDED.match(line))]
    if not inner and not texts and not ended:
        texts = [line for line in (*lines, *err.splitlines()) if line.strip() and line != "FAIL"]
    ran = [one for one in ended if "[no test" not in one]
    return RunnerReport(
        failed=inner,
        summary=_join_parts(ended),
        errors=tuple((texts or ([] if inner else errors))[:_ERRORS]),
        is_nothing=not inner and not ran,
    )


def _go_test(name: str, after: Sequence[str]) -> NamedFailure:
    """Parse the indented lines below a failure, or a panic there."""
    message: list[str] = []
    file, line = None, None
    for one in after[:_LINES]:
        match, panic = _GO_FAILURE.match(one), _GO_PANIC.match(one)
        if panic and not message:
            return NamedFailure(name, f"panic: {panic['said'].partition(' [recovered')[0]}")
        if match and file is None:
            file, line = match["file"], int(match["line"])
            message.append(match["said"])
        elif one.startswith("        ") and not match:
            message.append(one.strip())
        else:
            break
    return NamedFailure(name, _join_text(message), file, line)


_RUST_PANIC = re.compile(
    r"thread '(?P<name>[^']+)'(?: \(\d+\))? panicked at (?P<file>[^:]+):(?P<line>\d+):\d+:$"
)
_RUST_FAILED = re.compile(r"test (?P<name>\S+)(?: - should panic)? \.\.\. FAILED")
_RUST_RESULT = re.compile(r"test result: (?P<said>.*?)(?:; 0 measured)?(?:; finished.*)?$")
_RUST_FAILURE = re.compile(r"---- (?P<name>\S+) stdout ----")
_RUST_ERROR = re.compile(r"error(?:\[E\d+\])?: (?P<said>.*)")
_RUST_AT = re.compile(r"\s+--> (?P<place>\S+)")
_RUST_AFTER = re.compile(
    r"error: (?:test failed|could not compile|\d+ targets? failed)|error: abort"
)


def parse_cargo(out: str, err: str) -> RunnerReport:
    """Parse the output of `cargo test`."""
    lines = out.splitlines()
    failures = _rust_failures(lines)
    failed = tuple(
        failures.get(match["name"], NamedFailure(match["name"]))
        for line in lines
        if (match := _RUST_FAILED.match(line))
    )
    results = [match["said"] for line in lines if (match := _RUST_RESULT.match(line))]
    counted = sum(
        int(one) for result in results for one in re.findall(r"(\d+) (?:passed|failed)", result)
    )
    errors: list[str] = []
    error_lines = err.splitlines()
    for at, line in enumerate(error_lines):
        found = _RUST_ERROR.match(line)
        if found and not _RUST_AFTER.match(line) and len(errors) < _ERRORS:
            place = next(
                (m["place"] for one in error_lines[at + 1 : at + 3] if (m := _RUST_AT.match(one))),
                "",
            )
            errors.append(f"{place}: {found['said']}" if place else found["said"])
    notable = [one for one in results if not one.startswith("ok. 0 passed; 0 failed")]
    return RunnerReport(
        failed, _join_parts(notable or results[:1]), tuple(errors), is_nothing=counted == 0
    )


def _rust_failures(lines: Sequence[str]) -> dict[str, NamedFailure]:
    found: dict[str, NamedFailure] = {}
    name = ""
    for at, line in enumerate(lines):
        match, panic = _RUST_FAILURE.match(line), _RUST_PANIC.match(line)
        name = match["name"] if match else name
        if panic and name and name not in found:
            message = []
            for one in lines[at + 1 : at + _LINES]:
                if one.startswith(("stack backtrace:", "note: ")) or not one.strip():
                    break
                message.append(one)
            found[name] = NamedFailure(name, _join_text(message), panic["file"], int(panic["line"]))
        elif match and at + 1 < len(lines) and lines[at + 1].startswith("note: "):
            found[name] = NamedFailure(name, lines[at + 1].removeprefix("note: "))
    return found


_TAP = re.compile(r"(?P<indent>\s*)not ok \d+ - (?P<name>.*?)(?P<todo> # (?:TODO|SKIP).*)?$")
_TAP_SUM = re.compile(r"# (?P<what>tests|pass|fail|cancelled|skipped) (?P<count>\d+)$")
_TAP_KEY = re.compile(r"\s*(?P<key>\w+): (?P<value>.*)$")
_NODE_AT = re.compile(r"\(?(?P<file>(?:file://)?/[^():]*?):(?P<line>\d+):(?P<column>\d+)\)?$")
_NODE_MISSING = re.compile(r"Could not find '?(?P<what>[^']*)'?")


def parse_tap(out: str, err: str) -> RunnerReport:
    """Parse the TAP output of Node's own runner."""
    lines = out.splitlines()
    failed: list[NamedFailure] = []
    names: list[tuple[int, str]] = []
    unread: list[str] = []
    for at, line in enumerate(lines):
        subtest = re.match(r"(\s*)# Subtest: (.*)", line)
        if subtest:
            names = [one for one in names if one[0] < len(subtest[1])]
            names.append((len(subtest[1]), subtest[2]))
        found = _TAP.match(line)
        if found and not found["todo"]:
            fields = _parse_yaml(lines[at + 1 :], found["indent"])
            if fields.get("failureType") in {"subtestsFailed", "cancelledByParent"}:
                continue
            if fields.get("error") == "test failed":  # the file itself, before any test of it
                unread.append(found["name"])
                continue
            outer = [name for depth, name in names if depth < len(found["indent"])]
            failed.append(_node_test([*outer, found["name"]], fields))
    counts = {match["what"]: match["count"] for line in lines if (match := _TAP_SUM.match(line))}
    shown = [one for one in ("tests", "pass", "fail") if one in counts]
    shown += [one for one in ("cancelled", "skipped", "todo") if counts.get(one, "0") != "0"]
    text = ", ".join(f"{what} {counts[what]}" for what in shown)
    missing = [
        line for line in err.splitlines() if _NODE_MISSING.search(line) or "bad option" in line
    ]
    if unread:
        missing += _node_unread(lines, unread[0])
    is_nothing = not failed and not unread and counts.get("tests", "0") == "0"
    return RunnerReport(tuple(failed), text, tuple(missing[:_ERRORS]), is_nothing=is_nothing)


def _node_unread(lines: Sequence[str], file: str) -> list[str]:
    """Explain why a test file could not run, by its output, which TAP has as comments."""
    comments = [line[2:].strip() for line in lines if line.startswith("# ")]
    place = next((one for one in comments if re.fullmatch(r"/.*:\d+", one)), file)
    why = next(
        (one for one in comments if re.match(r"(?:Uncaught )?\w*Error\b", one)),
        "it could not be run",
    )
    return [f"{place}: {why}"]


def _parse_yaml(lines: Sequence[str], indent: str) -> dict[str, str]:
    """Parse the few keys that Node writes below a failure; a block's lines are joined."""
    fields: dict[str, str] = {}
    key = ""
    for line in lines[1:200]:
        if line.strip() == "...":
            break
        inner = line[len(indent) + 2 :]
        found = _TAP_KEY.match(inner)
        if found and not inner.startswith(" "):
            key, value = found["key"], found["value"]
            fields[key] = "" if value in {"|-", ">-", "|", ">"} else value.strip("'\"")
        elif key:
            fields[key] += ("\n" if fields[key] else "") + inner.strip()
    return fields


def _node_test(names: Sequence[str], fields: Mapping[str, str]) -> NamedFailure:
    of = fields.get("location", "").rsplit(":", 2)[0].removeprefix("file://")
    message = fields.get("error", "").strip()
    file, line, column = _own_place(fields.get("stack", "").splitlines())
    name = " > ".join(one for one in names if one != of)
    kind = fields.get("name", "")
    text = f"{kind}: {message}" if kind and kind != "AssertionError" else message
    return NamedFailure(name or of, clip_text(text, _MESSAGE), file, line, of, column)


def _own_place(stack: Sequence[str]) -> tuple[str | None, int | None, int]:
    """Return the first location outside of libraries in a JavaScript stack."""
    for one in stack:
        found = _NODE_AT.search(one.strip())
        if found and "node_modules" not in found["file"]:
            file = found["file"].removeprefix("file://")
            return file, int(found["line"]), int(found["column"])
    return None, None, 0


_THROWN = re.compile(r"(?:Uncaught )?(?P<type>\w*(?:Error|Exception)): (?P<said>.*)", re.DOTALL)


def parse_thrown(message: str) -> tuple[str, str]:
    """Parse the type and message of a JavaScript test's error, and whether it is an assertion."""
    found = _THROWN.match(message)
    if found is None or found["type"] == "AssertionError" or found["said"].startswith("expect("):
        return "AssertionError", message
    return found["type"], found["said"]


class _JestAssertion(Struct, rename="camel"):
    status: str
    full_name: str = ""
    title: str = ""
    failure_messages: list[str] = []


class _JestSuite(Struct, rename="camel"):
    name: str
    message: str = ""
    assertion_results: list[_JestAssertion] = []


class _JestReport(Struct, rename="camel"):
    """The report of jest, and of vitest, with --json."""

    num_total_tests: int = 0
    num_passed_tests: int = 0
    num_failed_tests: int = 0
    test_results: list[_JestSuite] = []


def parse_jest_json(written: bytes) -> RunnerReport | None:
    """Parse the report file of jest, or vitest; None if it is none."""
    try:
        found = msgspec.json.decode(written, type=_JestReport)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    failed: list[NamedFailure] = []
    errors: list[str] = []
    for suite in found.test_results:
        tests = [one for one in suite.assertion_results if one.status == "failed"]
        for one in tests:
            lines = without_colours("".join(one.failure_messages[:1]).splitlines())
            stack = [line for line in lines if line.strip().startswith("at ")]
            texts = [line for line in lines if not line.strip().startswith("at ")]
            file, line_, column = _own_place(stack)
            name = one.full_name or one.title
            failed.append(NamedFailure(name, _join_text(texts), file, line_, suite.name, column))
        if suite.message.strip() and not suite.assertion_results:
            errors.append(f"{suite.name}: {_unreadable_error(suite.message)}"[:600])
    text = f"{found.num_failed_tests} failed, {found.num_passed_tests} passed"
    total = f"{text}, {found.num_total_tests} total"
    is_nothing = not failed and not errors and found.num_passed_tests == 0
    return RunnerReport(tuple(failed), total, tuple(errors[:_ERRORS]), is_nothing=is_nothing)


def _unreadable_error(message: str) -> str:
    """Explain why a test file could not run, by its error, if any."""
    texts = [line.strip() for line in without_colours(message.splitlines()) if line.strip()]
    error = next((line for line in texts if _THROWN.match(line)), None)
    return error or " ".join(line for line in texts if line != _SUITE_FAILED)


class _MochaError(Struct, frozen=True):
    stack: str = ""
    message: str = ""
    name: str = ""


class _MochaTest(Struct, rename="camel"):
    full_title: str
    file: str | None = None
    err: _MochaError = _MochaError()


class _MochaStats(Struct):
    passes: int = 0
    pending: int = 0
    failures: int = 0


class _MochaReport(Struct):
    """The report of mocha with --reporter=json."""

    stats: _MochaStats
    failures: list[_MochaTest] = []
    passes: list[_MochaTest] = []


def parse_mocha(written: bytes) -> RunnerReport | None:
    """Parse the report file of mocha; None if it is none."""
    try:
        found = msgspec.json.decode(written, type=_MochaReport)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    failed: list[NamedFailure] = []
    for one in found.failures:
        lines = without_colours(one.err.stack.splitlines())
        stack = [line for line in lines if line.strip().startswith("at ")]
        texts = [line for line in lines if not line.strip().startswith("at ")]
        is_assertion = one.err.name == "AssertionError" or not texts
        message = one.err.message if is_assertion else _join_text(texts)
        file, line_, column = _own_place(stack)
        name, of = one.full_title, one.file or ""
        failed.append(NamedFailure(name, message.strip(), file, line_, of, column))
    stats = found.stats
    pending = f", {stats.pending} pending" if stats.pending else ""
    summary = f"{stats.failures} failed, {stats.passes} passed{pending}"
    return RunnerReport(
        tuple(failed),
        summary,
        is_nothing=not failed and stats.passes == 0,
        passed=tuple(one.full_title for one in found.passes),
    )


_GTEST_FAILED = re.compile(r"\[  FAILED  \] (?P<name>[\w./]+)(?:, where .*)? \(\d+ ms\)$")
_GTEST_RUN = re.compile(r"\[ RUN      \] (?P<name>[\w./]+)")
_GTEST_FAILURE = re.compile(r"(?P<file>[^\s:][^:]*):(?P<line>\d+): Failure$")
_GTEST_SUM = re.compile(r"\[(?:==========|  PASSED  |  FAILED  )\] (?P<said>\d+ tests?\b.*)")


def parse_gtest(out: str, err: str) -> RunnerReport:
    """Parse the output of a googletest program."""
    del err
    failed: list[NamedFailure] = []
    texts: list[str] = []
    name, message, place = "", list[str](), None
    for line in out.splitlines():
        run, fault, match = (
            _GTEST_RUN.match(line),
            _GTEST_FAILED.match(line),
            _GTEST_FAILURE.match(line),
        )
        if run:
            name, message, place = run["name"], [], None
        elif match and place is None:
            place = match
        elif fault and name == fault["name"]:
            file, number = (place["file"], int(place["line"])) if place else (None, None)
            failed.append(NamedFailure(name, _join_text(message), file, number))
            name = ""
        elif name and place is not None and not match and len(message) < _LINES:
            message.append(line)
        found = _GTEST_SUM.match(line)
        if (found and "ran." in line) or (found and line.startswith("[  PASSED")):
            texts.append(found["said"])
    is_nothing = not failed and any(one.startswith("0 tests") for one in texts[:1])
    return RunnerReport(tuple(failed), _join_parts(texts), is_nothing=is_nothing)


_CTEST_FAILED = re.compile(r"\s+\d+ - (?P<name>.+?) \((?P<why>[\w ]+)\)(?:\s.*)?$")
_CTEST_SUM = re.compile(r"(?P<said>\d+% tests passed, .*)")


def parse_ctest(out: str, err: str) -> RunnerReport:
    """Parse the output of ctest: the names, and the reason of each failure."""
    lines = out.splitlines()
    begins = next((at for at, line in enumerate(lines) if "tests FAILED:" in line), len(lines))
    failed = tuple(
        NamedFailure(match["name"], match["why"])
        for line in lines[begins + 1 :]
        if (match := _CTEST_FAILED.match(line))
    )
    texts = [match["said"] for line in lines if (match := _CTEST_SUM.match(line))]
    missing = [line for line in (*err.splitlines(), *lines) if "No tests were found" in line]
    errors = [
        line for line in err.splitlines() if line.strip() and "Errors while running" not in line
    ]
    is_nothing = bool(missing) or (not failed and not texts)
    return RunnerReport(failed, _join_parts(texts), tuple(errors[:_ERRORS]), is_nothing=is_nothing)


READERS: Mapping[str, Callable[[str, str], RunnerReport]] = {
    "go test": parse_go,
    "cargo test": parse_cargo,
    "node --test": parse_tap,
    "googletest": parse_gtest,
    "ctest": parse_ctest,
}


def _join_text(lines: Sequence[str]) -> str:
    return clip_text("\n".join(line.rstrip() for line in lines).strip("\n"), _MESSAGE)


def _join_parts(parts: Sequence[str]) -> str:
    more = f"; {len(parts) - 3} more" if len(parts) > 3 else ""  # noqa: PLR2004
    return "; ".join(parts[:3]) + more
