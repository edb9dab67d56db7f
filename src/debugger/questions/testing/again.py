"""Runs one failed test again, alone, under a debugger."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from debugger.core.breakpoints import Spec
from debugger.errors import Code, DebuggerError
from debugger.questions.testing import runners
from debugger.questions.testing.report import Named
from debugger.questions.testing.setting import Again, Setting

_PROGRAMS_MAX = 40
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


async def _go(setting: Setting, named: Named) -> Again:
    """Build the package's tests without optimisation, and run the one."""
    go = setting.words[0]
    told = await setting.helped(
        [go, "list", "-f", "{{.Dir}}|{{with .Module}}{{.Path}}{{end}}", named.of]
    )
    folder, _, module = told.strip().partition("|")
    program = str(setting.scratch / f"{Path(folder).name}.test")
    of = f"{module}/..." if module else "all"
    before, after = _go_words(setting.words[2:])
    flags = f"-gcflags={of}=-N -l"
    await setting.helped([go, "test", "-c", "-o", program, flags, *before, named.of])
    pattern = "/".join(f"^{re.escape(part)}$" for part in named.name.split("/"))
    words = (program, f"-test.run={pattern}", "-test.count=1", *after)
    return Again(words, folder, specs=(Spec(function=_GO_FAIL),))


def _go_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the flags of the build, and what is behind -args."""
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


async def _cargo(setting: Setting, named: Named) -> Again:
    """Run the program that cargo has built, and that has the test."""
    at = setting.words.index("--") if "--" in setting.words else len(setting.words)
    own = list(setting.words[:at])
    told = await setting.helped([*own, "--no-run", "--message-format=json"])
    found: list[tuple[str, str]] = []
    for line in told.splitlines():
        message = _object(line)
        program = message.get("executable")
        if message.get("reason") == "compiler-artifact" and isinstance(program, str):
            found.append((program, str(Path(str(message.get("manifest_path", ""))).parent)))
    for program, folder in found[:_PROGRAMS_MAX]:
        if len(found) > 1:
            listed = await setting.helped([program, "--list", "--format=terse"], cwd=folder)
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
        return Again(words, folder, env, specs=(Spec(function="rust_panic"),))
    raise DebuggerError(
        Code.NOT_FOUND,
        f"no program of cargo's has the test {named.name}: a test of the documentation, perhaps",
        hint="debugger test -- cargo test --lib",
    )


def _object(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _at(named: Named) -> tuple[Spec, ...]:
    """Return where a test of JavaScript is stopped: at its assertion.

    What that throws is thrown within Node's own code, where the debugger does not stop.
    """
    if named.file is None or named.line is None:
        raise DebuggerError(Code.NOT_FOUND, f"where {named.name} failed is not known")
    return (Spec(file=named.file, line=named.line),)


async def _node(setting: Setting, named: Named) -> Again:
    """Run the test's file itself: Node's tests then run in its own process."""
    if not named.of or not Path(named.of).is_file():
        raise DebuggerError(Code.NOT_FOUND, f"the file of {named.name} is not known")
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
    return Again(words, setting.cwd, specs=_at(named), with_others=others)


async def _jest(setting: Setting, named: Named) -> Again:
    own = _without(setting.words[1:], _OWN_JEST)
    is_chosen = any(not one.startswith("-") for one in own[1:])
    file = [] if is_chosen else [re.escape(named.of)]
    pattern = f"^{re.escape(named.name)}$"
    others = (*setting.words[:1], *own, *file, "--runInBand", "--coverage=false")
    words = (*others, "-t", pattern)
    return Again(words, setting.cwd, specs=_at(named), with_others=others)


async def _vitest(setting: Setting, named: Named) -> Again:
    own = _without(setting.words[1:], _OWN_VITEST)
    script, *rest = [one for one in own if one not in {"run", "watch", "dev"}]
    pattern = f"^{re.escape(named.name)}$"
    in_order = ("--no-file-parallelism", "--pool=forks", "--coverage.enabled=false")
    others = (setting.words[0], script, "run", *rest, named.of, *in_order)
    return Again((*others, "-t", pattern), setting.cwd, specs=_at(named), with_others=others)


async def _mocha(setting: Setting, named: Named) -> Again:
    own = _without(setting.words[1:], _OWN_MOCHA)
    pattern = f"^{re.escape(named.name)}$"
    others = (setting.words[0], *own, "--no-parallel", "--timeout=0")
    return Again((*others, "-g", pattern), setting.cwd, specs=_at(named), with_others=others)


def _without(words: Sequence[str], options: frozenset[str]) -> list[str]:
    """Leave out options and their values, which stand behind `=` or are the next word."""
    found: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in options:
            left = left[1:]
        elif word.partition("=")[0] not in options:
            found.append(word)
    return found


async def _program(setting: Setting, named: Named) -> Again:
    own = [one for one in setting.words if not one.startswith("--gtest_filter")]
    return Again((*own, f"--gtest_filter={named.name}"), setting.cwd, _GTEST)


async def _ctest(setting: Setting, named: Named) -> Again:
    """Run the program that ctest has for a test, in its folder and environment there."""
    told = await setting.helped([*setting.words, "--show-only=json-v1"])
    shown = _object(told[told.index("{") :] if "{" in told else "")
    listed = shown.get("tests")
    for one in listed if isinstance(listed, list) else ():
        if one.get("name") != named.name or not one.get("command"):
            continue
        properties = {each["name"]: each["value"] for each in one.get("properties", ())}
        env = properties.get("ENVIRONMENT", [])
        folder = str(properties.get("WORKING_DIRECTORY", setting.cwd))
        return Again(tuple(one["command"]), folder, (*_GTEST, *env))
    raise DebuggerError(Code.NOT_FOUND, f"ctest does not say what {named.name} runs")


WAYS: Mapping[str, Callable[[Setting, Named], Awaitable[Again]]] = {
    runners.GO: _go,
    runners.CARGO: _cargo,
    runners.NODE: _node,
    runners.JEST: _jest,
    runners.VITEST: _vitest,
    runners.MOCHA: _mocha,
    runners.CTEST: _ctest,
    runners.PROGRAM: _program,
}
