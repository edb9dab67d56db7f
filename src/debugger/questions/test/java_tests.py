"""Runs tests of Maven, Gradle and JUnit's own launchers, and one failed test again."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream
from debugger.questions.test import test_runners
from debugger.questions.test.test_reports import NamedFailure, RunnerReport, without_colours
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting
from debugger.recorders.recorded_process import CompletedRun
from debugger.sources import java_project

# Failed assertions by the last part of their type: JUnit 3 to 5, AssertJ, Hamcrest, Truth, TestNG.
ASSERTIONS = frozenset(
    {
        *("AssertionError", "AssertionFailedError", "ComparisonFailure", "MultipleFailuresError"),
        *("AssertionErrorWithFacts", "ComparisonFailureWithFacts", "SoftAssertionError"),
    }
)
_CONSOLE = "org.junit.platform.console.ConsoleLauncher"
_CORE = "org.junit.runner.JUnitCore"
_REPORTS = (
    "target/surefire-reports/TEST-*.xml",
    "target/failsafe-reports/TEST-*.xml",
    "build/test-results/*/TEST-*.xml",
)
_FILES_MAX, _BYTES_MAX = 2000, 16 << 20
_ERRORS = 4  # lines that prevented a run
_FRAME = re.compile(
    r"\s+at (?:[\w.@-]+/)*(?P<class>[\w.$]+)\.(?P<method>[\w$<>]+)"
    r"\((?P<file>[^:)]+):(?P<line>\d+)\)"
)
_METHOD = re.compile(r"[\w$]+")
_MAVEN_COMPILE = re.compile(
    r"\[ERROR\] (?:file://)?(?P<file>/\S+\.\w+):\s?[\[(](?P<line>\d+),\s?\d+[\])] (?P<text>.*)"
)
_JAVAC = re.compile(r"(?P<file>\S+\.java):(?P<line>\d+): error: (?P<text>.*)")
_KOTLINC = re.compile(r"e: (?:file://)?(?P<file>/\S+\.kts?):(?P<line>\d+):\d+ (?P<text>.*)")
_GOAL = re.compile(r"\[ERROR\] (?P<text>.*?)(?: -> \[Help 1\])?$")
# What surefire (2.x, 3.x) says of a JVM of tests that has ended by itself; each line is said twice.
_FORK_ENDED = re.compile(r"(?:\[ERROR\] )?(?:\w+ )?The forked VM terminated without .*")
_FORK_STATUS = re.compile(r"(?:\[ERROR\] )?Process Exit Code: (\d+)")
_FORK_TESTS = re.compile(r"(?:\[ERROR\] )?Crashed tests:")
_WENT_WRONG = "* What went wrong:"
_NONE_MATCH = re.compile(r"No tests (?:matching pattern|were executed|found for given includes)")
_CORE_FAILURE = re.compile(r"\d+\) (?P<method>[^()]+)\((?P<class>[\w.$]+)\)$")
_CORE_END = re.compile(r"Tests run: (?P<tests>\d+),  Failures: \d+|OK \((?P<ok>\d+) tests?\)")
# Options of the console launcher that choose tests, with a value (JUnit 5.9, 6.0).
_SELECTING = re.compile(
    r"(?:--select-[a-z-]+|--uri|-[updfcmroi])(?P<equals>=.*)?\Z|(?P<scan>--scan-[a-z-]+|-scan-[a-z-]+)(?:=.*)?\Z"
)


class JavaCase(Struct, frozen=True):
    """A test case of a JUnit report; `type` is what it threw, with `trace`, or "" if it passed."""

    class_name: str
    name: str
    type: str = ""
    message: str = ""
    trace: str = ""
    is_skipped: bool = False

    @property
    def is_failed(self) -> bool:
        """Whether it failed an assertion or threw something else."""
        return bool(self.type or self.trace or self.message)


def parse_junit_xml(data: bytes) -> list[JavaCase]:
    """Parse a report as surefire, Gradle and JUnit's console launcher write it; [] for others."""
    try:
        root = ET.fromstring(data)  # noqa: S314 - of the user's own build
    except ET.ParseError:
        return []
    cases = []
    for one in root.iter("testcase"):
        name, class_name = one.get("name", ""), one.get("classname", "")
        failure = one.find("failure")
        failure = one.find("error") if failure is None else failure
        if failure is None:
            skipped = one.find("skipped") is not None
            cases.append(JavaCase(class_name, name, is_skipped=skipped))
            continue
        trace = (failure.text or "").strip()
        kind, message = failure.get("type", ""), failure.get("message") or ""
        cases.append(JavaCase(class_name, name, kind or "java.lang.Throwable", message, trace))
    return cases


def parse_junit_core(out: str) -> list[JavaCase]:
    """Parse the output of JUnit 4's JUnitCore."""
    lines = out.splitlines()
    cases = []
    for at, line in enumerate(lines):
        begin = _CORE_FAILURE.match(line)
        if begin is None or at + 1 == len(lines):
            continue
        body = []
        for following in lines[at + 1 :]:
            if _CORE_FAILURE.match(following) or following.startswith(
                ("FAILURES!!!", "Tests run:")
            ):
                break
            body.append(following)
        kind, _, message = body[0].partition(": ") if body else ("", "", "")
        trace = "\n".join(body)
        cases.append(JavaCase(begin["class"], begin["method"], kind, message, trace))
    return cases


def find_method(case: JavaCase) -> str:
    """Return the name of a test's method, or "" where a report shows another name.

    A trace has it in the outermost frame of the test's class; else a name may begin with it:
    `addsAll()`, `one(int)[2]`, `one{int}[2]`, `total[3]`.
    """
    methods = [
        one["method"]
        for one in map(_FRAME.match, case.trace.splitlines())
        if one is not None and one["class"].partition("$")[0] == case.class_name.partition("$")[0]
    ]
    if methods:
        own = re.match(r"lambda\$(\w+)\$\d+\Z", methods[-1])
        return own[1] if own is not None else methods[-1]
    named = _METHOD.match(case.name)
    rest = case.name[named.end() :] if named is not None else "?"
    return named[0] if named is not None and (not rest or rest[0] in "([{") else ""


def name_failure(case: JavaCase, modules: Sequence[str]) -> NamedFailure:
    """Return a failed case as an answer names it, with the first of its frames in the project."""
    file = line = None
    for one in map(_FRAME.match, case.trace.splitlines()):
        found = one and java_project.find_class_source(modules, one["class"], one["file"])
        if one is not None and found:
            file, line = found, int(one["line"])
            break
    own = case.type.rpartition(".")[2] in ASSERTIONS
    first = case.trace.partition("\n")[0]
    message = (case.message or first).removeprefix(f"{case.type}: ")
    if not own:
        message = f"{case.type}: {message}" if message not in {case.type, ""} else case.type
    name = f"{case.class_name}.{case.name}"
    of = f"{case.class_name}#{find_method(case)}"
    return NamedFailure(name, message, file, line, of=of, thrown=case.type)


def list_build_errors(lines: Sequence[str]) -> list[str]:
    """List what kept a build from running tests: the compiler's errors, else the tool's own."""
    found = []
    for line in lines:
        match = _MAVEN_COMPILE.match(line) or _JAVAC.match(line) or _KOTLINC.match(line)
        text = f"{match['file']}:{match['line']}: {match['text']}" if match is not None else ""
        if text and text not in found:
            found.append(text)
    if found:
        return found[:_ERRORS]
    if _WENT_WRONG in lines:
        at = lines.index(_WENT_WRONG) + 1
        return [one.strip() for one in lines[at : at + _ERRORS] if one.strip()]
    goals = [match["text"] for match in map(_GOAL.match, lines) if match is not None]
    return [one for one in goals if one][:1]


def explain_ended_fork(lines: Sequence[str]) -> str:
    """Return how a JVM of the tests ended by itself; "" if none has."""
    if not any(map(_FORK_ENDED.match, lines)):
        return ""
    status = next((found[1] for found in map(_FORK_STATUS.match, lines) if found), "")
    named = next((at for at, line in enumerate(lines) if _FORK_TESTS.match(line)), len(lines))
    test = lines[named + 1].removeprefix("[ERROR] ") if named + 1 < len(lines) else ""
    how = f"the JVM of the tests ended{f' with status {status}' if status else ''}"
    return f"{how}{f' in {test}' if test else ''}: it crashed, or something called System.exit"


def build_report(
    cases: Sequence[JavaCase], lines: Sequence[str], modules: Sequence[str]
) -> RunnerReport:
    """Return what is known of a run by its reports and its output."""
    failed = tuple(name_failure(one, modules) for one in cases if one.is_failed)
    skipped = sum(one.is_skipped for one in cases)
    parts = [f"{len(cases)} tests", f"{len(failed)} failed"]
    parts += [f"{skipped} skipped"] if skipped else []
    summary = ", ".join(parts) if cases else ""
    if not failed and (ended := explain_ended_fork(lines)):
        return RunnerReport(summary=summary, ended_early=ended)
    is_nothing = not cases or any(_NONE_MATCH.search(line) for line in lines)
    errors = list_build_errors(lines) if not failed else []
    return RunnerReport(failed, summary, tuple(errors), is_nothing=is_nothing)


async def run_java_tests(setting: RunnerSetting) -> tuple[CompletedRun, RunnerReport]:
    """Run the user's command, and read the reports that it writes, or its output."""
    words = list(setting.words)
    reports = setting.scratch / "reports"
    is_console = setting.runner == test_runners.JUNIT and _CORE not in words
    if is_console:
        words.append(f"--reports-dir={reports}")
    modules = java_project.list_modules(project_folder(setting))
    before = {} if is_console else _find_reports(modules)
    ran = await setting.run_tests(words)
    out = ran.joined_output(OutputStream.STDOUT)
    lines = without_colours(
        [*out.splitlines(), *ran.joined_output(OutputStream.STDERR).splitlines()]
    )
    folders = [*modules, *_class_path_folders(setting)]
    if setting.runner == test_runners.JUNIT and not is_console:
        cases = parse_junit_core(out)
        report = build_report(cases, lines, folders)
        end = next((match for match in map(_CORE_END.match, reversed(lines)) if match), None)
        summary = end[0].replace("  ", " ") if end is not None else ""
        return ran, RunnerReport(report.failed, summary, report.errors, is_nothing=end is None)
    files = reports.glob("TEST-*.xml") if is_console else _new_reports(modules, before)
    cases = [case for file in files for case in parse_junit_xml(_read_report(file))]
    return ran, build_report(cases, lines, folders)


def project_folder(setting: RunnerSetting) -> str:
    """Return the folder of the project that a command builds: `mvn -f POM`, `gradle -p FOLDER`."""
    for option, value in zip(setting.words, setting.words[1:], strict=False):
        if option in {"-f", "--file", "-p", "--project-dir"}:
            path = Path(setting.cwd, value)
            return str(path if path.is_dir() else path.parent)
    return setting.cwd


def _class_path_folders(setting: RunnerSetting) -> Iterator[str]:
    """Yield the folders that sources may be in by a launcher's class path, and those above them."""
    yield setting.cwd
    for option, value in zip(setting.words, setting.words[1:], strict=False):
        entries = option.partition("=")[2] or value
        if option.partition("=")[0] in {"-cp", "-classpath", "--class-path", "--classpath"}:
            for entry in entries.split(":"):
                path = Path(setting.cwd, entry)
                if path.is_dir():
                    yield from (str(one) for one in (path, *path.parents[:3]))


def _find_reports(modules: Sequence[str]) -> dict[Path, tuple[int, int]]:
    """Find the reports of a project; each file with what changes when it is written again."""
    files = (
        file for module in modules for one in _REPORTS for file in sorted(Path(module).glob(one))
    )
    return {one: (one.stat().st_mtime_ns, one.stat().st_ino) for one in files}


def _new_reports(modules: Sequence[str], before: Mapping[Path, tuple[int, int]]) -> list[Path]:
    """List the reports that were written since others were found."""
    found = _find_reports(modules)
    return [one for one, state in found.items() if before.get(one) != state][:_FILES_MAX]


def _read_report(file: Path) -> bytes:
    return file.read_bytes() if file.stat().st_size <= _BYTES_MAX else b""


async def rerun_java(setting: RunnerSetting, named: NamedFailure) -> DebuggedRerun:
    """Run one test again by the same tool, to what it throws."""
    class_name, _, method = named.of.partition("#")
    spec = BreakpointSpec(catch="raised", type=named.thrown)
    alone = choose_test(setting.words, named.name, class_name, method)
    others = choose_test(setting.words, class_name, class_name, "")
    return DebuggedRerun(tuple(alone), setting.cwd, specs=(spec,), with_others=tuple(others))


def choose_test(words: Sequence[str], name: str, class_name: str, method: str) -> list[str]:
    """Return a command that runs one test, or without a method all of a class.

    `name` is the test's name in a report, with what tells it from others of its method.
    """
    runner = test_runners.parse_runner(words).runner
    choose = {test_runners.MAVEN: _maven_words, test_runners.GRADLE: _gradle_words}
    return choose.get(runner, _junit_words)(words, name, class_name, method)


def _maven_words(words: Sequence[str], name: str, class_name: str, method: str) -> list[str]:
    own = [one for one in words if not re.match(r"-D(?:test|it\.test)=", one)]
    # A name with arguments or a number is one of several of its method.
    several = "*" if name.endswith(("]", "}")) else ""
    chosen = f"{class_name}#{method}{several}" if method else class_name
    may_be_none = ("-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false")
    return [*own, f"-Dtest={chosen}", f"-Dit.test={chosen}", *may_be_none]


def _gradle_words(words: Sequence[str], name: str, class_name: str, method: str) -> list[str]:
    del name
    own: list[str] = []
    for at, word in enumerate(words):
        is_value = at > 0 and words[at - 1] == "--tests"
        if not is_value and word.partition("=")[0] != "--tests":
            own.append(word)
    task = [at for at, word in enumerate(own) if word.rpartition(":")[2].lower().endswith("test")]
    if not task:  # `check`, `build`: the option is that of a task
        own, task = [*own[:1], "test", *own[1:]], [1]
    end = task[-1] + 1
    return [*own[:end], "--tests", f"{class_name}.{method}" if method else class_name, *own[end:]]


def _junit_words(words: Sequence[str], name: str, class_name: str, method: str) -> list[str]:
    if _CORE in words:
        return [*words[: words.index(_CORE) + 1], class_name]
    own: list[str] = []
    start = _console_start(words)
    remaining = list(words[start:])
    while remaining:
        word = remaining.pop(0)
        selecting = _SELECTING.match(word)
        if selecting is None:
            own.append(word)
        elif remaining and "=" not in word and not remaining[0].startswith("-"):
            remaining.pop(0)
    # A method with arguments is named with their types, which a report shortens.
    is_plain = method and (name.endswith(("()", f".{method}")))
    chosen = (
        f"--select-method={class_name}#{method}" if is_plain else f"--select-class={class_name}"
    )
    return [*words[:start], *own, chosen]


def _console_start(words: Sequence[str]) -> int:
    """Return where the console launcher's own words begin."""
    for at, word in enumerate(words):
        if word == _CONSOLE or (at > 0 and words[at - 1] == "-jar"):
            return at + 1
    return len(words)
