"""Runs one failed test again, alone, under a debugger."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.questions.test import test_runners
from debugger.questions.test.test_reports import NamedFailure
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting

_PROGRAMS_MAX = 40  # test programs that are asked for the test
_GO_BUILD = frozenset(
    {"tags", "race", "mod", "modfile", "overlay", "ldflags", "work", "msan", "asan"}
)
_GO_ALONE = frozenset({"race", "work", "msan", "asan"})
_GO_FAIL = "testing.(*common).Fail"
_GTEST = ("GTEST_BREAK_ON_FAILURE=1", "GTEST_CATCH_EXCEPTIONS=0", "GTEST_COLOR=no")
_NAME_OPTIONS = frozenset({"-t", "--testNamePattern", "--test-name-pattern"})
# How tests are shared out is said by us, and may not be said twice.
_OWN_JEST = _NAME_OPTIONS | {"--maxWorkers", "-w"}
_OWN_VITEST = _NAME_OPTIONS | {"--pool"}
_OWN_MOCHA = frozenset({"-g", "--grep", "-f", "--fgrep", "-t", "--timeout", "--timeouts"})


async def _rerun_go(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Build the package's tests without optimisation, and run the failed one."""
    go = setting.words[0]
    told = await setting.run_helper(
        [go, "list", "-f", "{{.Dir}}|{{with .Module}}{{.Path}}{{end}}", named.of]
    )
    folder, _, module = told.strip().partition("|")
    program = str(setting.scratch / f"{Path(folder).name}.test")
    of = f"{module}/..." if module else "all"
    before, after = _go_words(setting.words[2:])
    flags = f"-gcflags={of}=-N -l"
    await setting.run_helper([go, "test", "-c", "-o", program, flags, *before, named.of])
    pattern = "/".join(f"^{re.escape(part)}$" for part in named.name.split("/"))
    words = (program, f"-test.run={pattern}", "-test.count=1", *after)
    return DebuggedRerun(words, folder, specs=(BreakpointSpec(function=_GO_FAIL),))


def _go_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the build flags, and the arguments after -args."""
    before: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in {"-args", "--args"}:
            return before, left
        name, equals, _ = word.lstrip("-").partition("=")
        if not word.startswith("-") or name not in _GO_BUILD:
            continue
        before.append(word)
        if not equals and name not in _GO_ALONE and left:
            before.append(left.pop(0))
    return before, []


async def _rerun_cargo(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run the program, built by cargo, that contains the test."""
    at = setting.words.index("--") if "--" in setting.words else len(setting.words)
    own = list(setting.words[:at])
    told = await setting.run_helper([*own, "--no-run", "--message-format=json"])
    found: list[tuple[str, str]] = []
    for line in told.splitlines():
        message = _json_object(line)
        program = message.get("executable")
        if message.get("reason") == "compiler-artifact" and isinstance(program, str):
            found.append((program, str(Path(str(message.get("manifest_path", ""))).parent)))
    for program, folder in found[:_PROGRAMS_MAX]:
        if len(found) > 1:
            listed = await setting.run_helper([program, "--list", "--format=terse"], cwd=folder)
            if f"{named.name}: test" not in listed.splitlines():
                continue
        words = (
            program,
            named.name,
            "--exact",
            "--test-threads=1",
            "--nocapture",
            "--include-ignored",
        )
        env = (f"CARGO_MANIFEST_DIR={folder}",)
        return DebuggedRerun(words, folder, env, specs=(BreakpointSpec(function="rust_panic"),))
    raise DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no program of cargo's has the test {named.name}: a test of the documentation, perhaps",
        hint="debugger test -- cargo test --lib",
    )


def _json_object(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _assertion_breakpoint(named: NamedFailure) -> tuple[BreakpointSpec, ...]:
    """Return the breakpoint for a JavaScript test: its assertion's line.

    The assertion's error is thrown in Node's own code, where the debugger does not stop.
    """
    if named.file is None or named.line is None:
        raise DebuggerError(ErrorCode.NOT_FOUND, f"where {named.name} failed is not known")
    return (BreakpointSpec(file=named.file, line=named.line),)


async def _rerun_node(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run the test's file itself: Node's tests then run in its own process."""
    if not named.of or not Path(named.of).is_file():
        raise DebuggerError(ErrorCode.NOT_FOUND, f"the file of {named.name} is not known")
    options = [
        one
        for one in setting.words[1:]
        if one.startswith("-") and not one.startswith(("--test", "--watch", "--experimental-test"))
    ]
    # Of a test in a suite Node's pattern is of its own name; what is not chosen is passed over.
    own = re.escape(named.name.rpartition(" > ")[2])
    node = (setting.words[0], *options)
    # A test that another one begins is never come to alone: Node passes over that one.
    words, others = (*node, f"--test-name-pattern={own}$", named.of), (*node, named.of)
    return DebuggedRerun(words, setting.cwd, specs=_assertion_breakpoint(named), with_others=others)


async def _rerun_jest(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = _without_options(setting.words[1:], _OWN_JEST)
    is_chosen = any(not one.startswith("-") for one in own[1:])
    file = [] if is_chosen else [re.escape(named.of)]
    pattern = f"^{re.escape(named.name)}$"
    others = (*setting.words[:1], *own, *file, "--runInBand", "--coverage=false")
    words = (*others, "-t", pattern)
    return DebuggedRerun(words, setting.cwd, specs=_assertion_breakpoint(named), with_others=others)


async def _rerun_vitest(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = _without_options(setting.words[1:], _OWN_VITEST)
    script, *rest = [one for one in own if one not in {"run", "watch", "dev"}]
    pattern = f"^{re.escape(named.name)}$"
    in_order = ("--no-file-parallelism", "--pool=forks", "--coverage.enabled=false")
    others = (setting.words[0], script, "run", *rest, named.of, *in_order)
    return DebuggedRerun(
        (*others, "-t", pattern),
        setting.cwd,
        specs=_assertion_breakpoint(named),
        with_others=others,
    )


async def _rerun_mocha(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = _without_options(setting.words[1:], _OWN_MOCHA)
    pattern = f"^{re.escape(named.name)}$"
    others = (setting.words[0], *own, "--no-parallel", "--timeout=0")
    return DebuggedRerun(
        (*others, "-g", pattern),
        setting.cwd,
        specs=_assertion_breakpoint(named),
        with_others=others,
    )


def _without_options(words: Sequence[str], options: frozenset[str]) -> list[str]:
    """Remove options and their values, either after `=` or in the next word."""
    found: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in options:
            left = left[1:]
        elif word.partition("=")[0] not in options:
            found.append(word)
    return found


async def _rerun_program(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    own = [one for one in setting.words if not one.startswith("--gtest_filter")]
    return DebuggedRerun((*own, f"--gtest_filter={named.name}"), setting.cwd, _GTEST)


async def _rerun_ctest(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run the program of a ctest test, in its folder and environment."""
    told = await setting.run_helper([*setting.words, "--show-only=json-v1"])
    shown = _json_object(told[told.index("{") :] if "{" in told else "")
    listed = shown.get("tests")
    for one in listed if isinstance(listed, list) else ():
        if one.get("name") != named.name or not one.get("command"):
            continue
        properties = {each["name"]: each["value"] for each in one.get("properties", ())}
        env = properties.get("ENVIRONMENT", [])
        folder = str(properties.get("WORKING_DIRECTORY", setting.cwd))
        return DebuggedRerun(tuple(one["command"]), folder, (*_GTEST, *env))
    raise DebuggerError(ErrorCode.NOT_FOUND, f"ctest does not say what {named.name} runs")


WAYS: Mapping[str, Callable[[RunnerSetting, NamedFailure], Awaitable[DebuggedRerun]]] = {
    test_runners.GO: _rerun_go,
    test_runners.CARGO: _rerun_cargo,
    test_runners.NODE: _rerun_node,
    test_runners.JEST: _rerun_jest,
    test_runners.VITEST: _rerun_vitest,
    test_runners.MOCHA: _rerun_mocha,
    test_runners.CTEST: _rerun_ctest,
    test_runners.PROGRAM: _rerun_program,
}
