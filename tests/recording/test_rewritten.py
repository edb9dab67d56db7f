"""Code that reports its own events is recorded as traced code is (CPython 3.11)."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from debugger.model.events import OutputStream
from debugger.recorders.call_tree import build_trees, walk_calls
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    LineRecording,
    LinesHit,
    Recording,
    RecordingLimits,
    RecordingNote,
)
from recording.recorders import PROGRAMS, find_interpreters, run_plain, run_recorded

PYTHON = find_interpreters().get("3.11", "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="rewritten for 3.11 alone")
HIT = {"lines": LineRecording.HIT}
# By `-c` everything is traced.
TRACED = "import runpy, sys; sys.path[0] = {0!r}; sys.argv[:] = {1!r}; "
TRACED += "runpy.run_path({2!r}, run_name='__main__')"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def summarise(recording: Recording) -> set[tuple[object, ...]]:
    """Return all that is recorded, without times, numbers, and what runs the traced script."""
    names = {
        one.number: (one.name, one.line)
        for one in recording.functions.values()
        if one.file != "<string>"
    }
    calls = {
        one.call: names.get(one.function)
        for one in recording.events
        if isinstance(one, CallEntered | CallsMerged)
    }
    found: list[tuple[object, ...]] = []
    merged = {one.call: one for one in recording.events if isinstance(one, CallsMerged)}
    for one in (*recording.events, *merged.values()):
        match one:
            case CallEntered():
                caller = calls.get(one.parent)
                values = tuple((value.name, value.text) for value in one.arguments)
                found.append(("call", calls[one.call], caller, caller and one.line, values))
            case CallReturned():
                found.append(("return", calls[one.call], one.value))
            case CallRaised():
                found.append(("raise", calls[one.call], one.exception_text, one.line))
            case LinesHit():
                found.append(("lines", names.get(one.function), tuple(sorted(one.lines))))
    found += [
        ("merged", calls[one.call], calls.get(one.parent), one.count, one.raised)
        for one in merged.values()
    ]
    own = [one for one in found if one[1] is not None]
    return {(*one, own.count(one)) for one in own}


def notes_of(recording: Recording) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in recording.events if isinstance(one, RecordingNote)]


def hit_lines(recording: Recording, name: str) -> list[int]:
    return sorted(
        line
        for one in recording.events
        if isinstance(one, LinesHit) and recording.find_function(one.function).name == name
        for line in one.lines
    )


@pytest.mark.parametrize(
    "program", ["constructs", "raises", "tasks", "account", "changes_in_place"]
)
@pytest.mark.parametrize("limits", [RecordingLimits(), RecordingLimits(each=1)], ids=["all", "one"])
async def test_a_program_is_recorded_as_if_it_was_traced(
    program: str, limits: RecordingLimits, scratch: Path
) -> None:
    script = f"{program}.py"
    traced = TRACED.format(str(PROGRAMS), [script], script)
    runs = [
        await run_recorded([PYTHON, *words], PROGRAMS, scratch, limits=limits, **HIT)
        for words in ([script], ["-c", traced])
    ]
    (rewritten,), (wanted,) = (ran.recordings for ran in runs)
    assert notes_of(rewritten) == []
    assert summarise(rewritten) == summarise(wanted)


async def test_a_program_of_all_constructs_does_what_it_does_alone(scratch: Path) -> None:
    argv = [PYTHON, "constructs.py"]
    status, out, err = run_plain(argv, PROGRAMS)
    ran = await run_recorded(argv, PROGRAMS, scratch, **HIT)
    assert ran.joined_output(OutputStream.STDOUT) == out
    assert ran.joined_output(OutputStream.STDERR) == err
    assert ran.status == status == 3


async def test_no_rewritten_code_is_written_to_a_file(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    for name in ("constructs.py", "constructs_help.py"):
        shutil.copy(PROGRAMS / name, scratch.parent / name)
    compiled = []
    for is_recorded in (True, False):
        cache = scratch.parent / "__pycache__"
        shutil.rmtree(cache, ignore_errors=True)
        if is_recorded:
            await run_recorded([PYTHON, "constructs.py"], scratch.parent, scratch, **HIT)
        else:
            run_plain([PYTHON, "constructs.py"], scratch.parent)
        compiled.append({one.name: one.read_bytes() for one in cache.iterdir()})
    assert compiled[0] == compiled[1] != {}


async def test_lines_of_a_function_that_is_no_longer_counted_are_recorded(scratch: Path) -> None:
    limits = RecordingLimits(each=2, followed=100)
    ran = await run_recorded([PYTHON, "hot.py", "many"], PROGRAMS, scratch, limits=limits, **HIT)
    (recording,) = ran.recordings
    source = (PROGRAMS / "hot.py").read_text().splitlines()
    late = next(at for at, line in enumerate(source, 1) if line.strip() == 'return "late"')
    assert {recording.find_function(one).name for one in recording.stopped} == {"later"}
    assert late in hit_lines(recording, "later")
    ran = await run_recorded([PYTHON, "hot.py", "fork"], PROGRAMS, scratch, limits=limits, **HIT)
    parent, child = (hit_lines(one, "later") for one in ran.recordings)
    assert parent == child != []


def calls_in_all(recording: Recording) -> Counter[str]:
    """Count the calls of each function: those in the tree, and the further ones."""
    found: Counter[str] = Counter()
    for call in walk_calls(build_trees(recording)):
        found[recording.find_function(call.function).name] += call.count
    for number, count in recording.further.items():
        found[recording.find_function(number).name] += count
    return found


async def test_calls_of_functions_that_are_followed_no_more_are_counted(scratch: Path) -> None:
    argv = [PYTHON, "many_calls.py"]
    limits = RecordingLimits(each=2, followed=100)
    runs = [
        await run_recorded(argv, PROGRAMS, scratch, limits=one, **HIT)
        for one in (RecordingLimits(each=2), limits)
    ]
    (plain, child), (limited, limited_child) = (ran.recordings for ran in runs)
    assert not plain.stopped
    names = {limited.find_function(one).name for one in limited.stopped}
    assert names == {"small", "outer", "outer.<locals>.nested", "each", "deep", "Box.size"}
    assert calls_in_all(limited) == calls_in_all(plain)
    assert calls_in_all(limited)["small"] == 5 * 700
    # A child's are its own.
    counts = {"outer.<locals>.nested": 150, "small": 150}
    assert calls_in_all(limited_child) == calls_in_all(child) == counts
    in_tree = sum(one.count for one in walk_calls(build_trees(limited_child)))
    assert in_tree == 200


@pytest.mark.parametrize("version", ["3.11", "3.12"])
async def test_a_generator_that_is_resumed_too_often_is_followed_no_more(
    version: str, scratch: Path
) -> None:
    python = find_interpreters().get(version)
    if python is None:
        pytest.skip(f"no Python {version}")
    (scratch.parent / "prog.py").write_text(
        "def step(n):\n    return n\ndef each(n):\n    for i in range(n):\n        yield step(i)\n"
        "def after():\n    return 1\ntotal = sum(each(500))\nafter()\nprint(total)\n"
    )
    limits = RecordingLimits(counted=100, followed=100)
    ran = await run_recorded([python, "prog.py"], scratch.parent, scratch, limits=limits, **HIT)
    (recording,) = ran.recordings
    assert ran.joined_output(OutputStream.STDOUT) == "124750\n"
    assert "each" in {recording.find_function(one).name for one in recording.stopped}
    callers = {
        recording.find_function(one.parent.function).name
        for one in walk_calls(build_trees(recording))
        if one.parent and recording.find_function(one.function).name == "after"
    }
    assert callers == {"<module>"}


async def test_what_follows_too_deep_a_recursion_belongs_to_its_caller(scratch: Path) -> None:
    (scratch.parent / "prog.py").write_text(
        "def deep(n):\n    return other(n + 1)\ndef other(n):\n    return deep(n)\n"
        "def after():\n    return 1\n"
        "try:\n    deep(0)\nexcept RecursionError:\n    after()\n"
    )
    ran = await run_recorded([PYTHON, "prog.py"], scratch.parent, scratch, **HIT)
    (recording,) = ran.recordings
    (call,) = [
        one
        for one in walk_calls(build_trees(recording))
        if recording.find_function(one.function).name == "after"
    ]
    assert call.parent is not None
    assert recording.find_function(call.parent.function).name == "<module>"


async def test_code_of_the_program_that_exec_runs_is_traced(scratch: Path) -> None:
    (scratch.parent / "settings.py").write_text("def limit():\n    return 7\nlow = limit()\n")
    (scratch.parent / "prog.py").write_text(
        "def first():\n    return 1\n"
        "names = {}\nexec(compile(open('settings.py').read(), 'settings.py', 'exec'), names)\n"
        "print(first() + names['limit']())\n"
    )
    ran = await run_recorded([PYTHON, "prog.py"], scratch.parent, scratch, **HIT)
    (recording,) = ran.recordings
    assert ran.joined_output(OutputStream.STDOUT) == "8\n"
    assert notes_of(recording) == [("traced", "settings.py was not loaded by an import")]
    assert hit_lines(recording, "limit") == [2]
    assert hit_lines(recording, "first") == [2]


async def test_code_that_exec_runs_by_a_name_that_no_file_has_is_none_of_the_program(
    scratch: Path,
) -> None:
    (scratch.parent / "prog.py").write_text(
        "names = {}\nexec(compile('def limit():\\n    return 7', 'limits', 'exec'), names)\n"
        "print(names['limit']())\n"
    )
    ran = await run_recorded([PYTHON, "prog.py"], scratch.parent, scratch, **HIT)
    (recording,) = ran.recordings
    assert ran.joined_output(OutputStream.STDOUT) == "7\n"
    assert notes_of(recording) == []
    assert not any(one.name == "limit" for one in recording.functions.values())


@pytest.mark.skipif(sys.executable != PYTHON, reason="another Python may have no pytest")
async def test_tests_of_pytest_are_rewritten_and_its_cache_is_not(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    project = scratch.parent / "project"
    project.mkdir()
    (project / "test_one.py").write_text(
        "def half(n):\n    return n / 2\ndef test_half():\n    assert half(4) == 2\n"
    )
    words = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"]
    for _ in range(2):  # the second run reads what the first one has written
        ran = await run_recorded(words, project, scratch, **HIT)
        assert ran.status == 0, ran.output
        recording = next(one for one in ran.recordings if one.functions)
        assert notes_of(recording) == []
        assert hit_lines(recording, "half") == [2]
        assert hit_lines(recording, "test_half") == [4]
    assert list((project / "__pycache__").iterdir())
    status, _, _ = run_plain(words, project)  # rewritten code could not be loaded again
    assert status == 0


async def test_a_module_that_reads_bytecode_is_traced_if_it_gets_at_its_own_code(
    tmp_path: Path, scratch: Path
) -> None:
    (tmp_path / "made.py").write_text(
        "import marshal, sys\n"
        "def f(x):\n    return sys._getframe().f_code.co_name\n"
        "code = compile('f(1)', '<made>', 'eval')\n"
        "print(f(0), eval(marshal.loads(marshal.dumps(code))), len(code.co_consts))\n"
    )
    (tmp_path / "own.py").write_text(
        "def g(x):\n    code = g.__code__\n    return code.co_consts\n"
        "def h(x):\n    return 'some'\n"
        "print(g(0), getattr(h, '__code__').co_consts, h(0))\n"
    )
    (tmp_path / "main.py").write_text("import made, own\n")
    ran = await run_recorded([PYTHON, "main.py"], tmp_path, scratch, **HIT)
    plain = run_plain([PYTHON, "main.py"], tmp_path)
    assert ran.joined_output(OutputStream.STDOUT) == plain[1]
    notes = notes_of(ran.recordings[0])
    assert notes == [("traced", f"{tmp_path / 'own.py'} reads bytecode")]
    assert [len(hit_lines(ran.recordings[0], name)) for name in "fgh"] == [1, 2, 1]
