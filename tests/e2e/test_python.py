"""Real Python programs: exceptions, children, modules, values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import debuggees
from cli_commands import Cli, answer_data, marked_location, print_value, start_program
from debuggees import program_text

pytestmark = pytest.mark.adapter("debugpy")


def test_an_uncaught_exception_tells_type_message_and_cause(cli: Cli) -> None:
    stop = start_program(cli, "exception.py")
    assert stop["reason"] == "exception"
    assert stop["exception"]["type"] == "ValueError"
    assert stop["exception"]["message"] == "no price for 'quince'"
    line = debuggees.find_marker("exception.py", "key_error")
    cause = f"KeyError: 'quince', in price_of exception.py:{line}"
    assert stop["exception"]["causes"] == [cause]
    assert stop["frame"]["line"] == debuggees.find_marker("exception.py", "value_error")
    assert {one["name"]: one["value"] for one in stop["locals"]}["name"] == "'quince'"
    assert [one["function"] for one in stop["stack"]] == ["total", "main", "<module>"]
    end = answer_data(cli("--json", "continue", check=0))
    assert end["exit_code"] == 1
    assert any("ValueError: no price" in one["text"] for one in end["output"])


def test_a_child_process_stops_as_a_session_of_its_own(cli: Cli) -> None:
    stop = start_program(cli, "child.py", "--break", marked_location("child_worker.py", "worker"))
    assert (stop["session"], stop["frame"]["function"]) == ("child.1", "double")
    listed = answer_data(cli("--json", "sessions", check=0))
    assert listed["current"] == "child.1"
    child = next(one for one in listed["sessions"] if one["session"] == "child.1")
    assert (child["parent"], Path(child["program"]).name) == ("child", "child_worker.py")
    assert print_value(cli, "result") == "14"
    refused = cli("--session", "child", "locals", check=4)
    assert "the process child is running, and child.1 is stopped" in refused.err
    assert "debugger --session child.1 COMMAND" in refused.err
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["session"], end["reason"], end["exit_code"]) == ("child", "exit", 0)
    assert end["never_hit"] == []
    assert [one["text"] for one in end["output"]][-2:] == ["child says 14", "child ended with 0"]


def test_what_was_printed_before_a_stop_is_seen_at_it(cli: Cli) -> None:
    # Not only on a machine that asks every Python program not to buffer.
    stop = answer_data(
        cli(
            *("--json", "start", str(debuggees.find_source("loop.py"))),
            *("--break", marked_location("loop.py", "return")),
            env={"PYTHONUNBUFFERED": ""},
            check=0,
        )
    )
    assert [one["text"] for one in stop["output"]] == ["step 1"]


def test_a_module_runs_with_its_arguments(cli: Cli) -> None:
    folder = str(debuggees.PROGRAMS)
    end = answer_data(cli("--json", "start", "-m", "pkg", "--", "one", cwd=folder, check=0))
    assert end["reason"] == "exit"


def test_the_callers_virtual_environment_runs_the_program(cli: Cli) -> None:
    end = start_program(cli, "shows_venv.py", "--python", sys.executable)
    assert any(sys.prefix in one["text"] for one in end["output"])


def test_large_values_are_summaries_that_can_be_paged(cli: Cli) -> None:
    stop = start_program(cli, "values.py", "--break", marked_location("values.py", "ready"))
    assert len(cli("context", check=0).out) < 4000
    big = [one for one in stop["locals"] if one["value"].startswith("list[100000]")]
    assert len(big) == 1, stop["locals"]
    name = big[0]["name"]
    ref = answer_data(cli("--json", "print", name, check=0))["ref"]
    part = answer_data(cli("--json", "vars", ref, "--from", "99998", "--count", "5", check=0))
    assert part["total"] == 100_000
    assert [one["name"] for one in part["variables"]] == ["[99998]", "[99999]"]


def test_threads_and_recursion_are_bounded(cli: Cli) -> None:
    start_program(cli, "recursion.py", "--break", marked_location("recursion.py", "bottom"))
    found = answer_data(cli("--json", "backtrace", "--limit", "5", check=0))
    assert len(found["frames"]) == 5
    assert found["total"] > 1000
    more = answer_data(cli("--json", "backtrace", "--limit", "7", check=0))
    assert (more["frames"][:5], more["total"]) == (found["frames"], found["total"])
    assert (
        answer_data(cli("--json", "finish", check=0))["frame"]["line"] == found["frames"][1]["line"]
    )
    assert answer_data(cli("--json", "backtrace", check=0))["total"] == found["total"] - 1


def test_a_syntax_error_is_told(cli: Cli) -> None:
    end = cli("start", str(debuggees.find_source("syntax_error.py")), check=0)
    assert "SyntaxError" in end.out


def test_a_breakpoint_of_a_name_with_two_functions_names_the_other_as_it_begins(
    cli: Cli, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text("def handle():\n    return 1\n")
    (tmp_path / "main.py").write_text("import first, second\nfirst.handle()\nsecond.handle()\n")
    stop = cli("start", "--break", "handle", tmp_path / "main.py", check=0).out
    assert "note: breakpoint 1: others of this name: second.py:2" in stop


def test_a_step_to_a_handler_names_the_exception_that_led_there(cli: Cli) -> None:
    start_program(cli, "handlers.py", "--break", marked_location("handlers.py", "first"))
    seen = []
    for _ in range(12):
        stop = answer_data(cli("--json", "next"))
        if stop.get("reason") != "step":
            break
        led = [one for one in stop.get("notes", ()) if one.startswith("an exception led here: ")]
        if led:
            seen.append(
                (stop["frame"]["function"], led[0].partition(": ")[2].rpartition(", in ")[0])
            )
    words = "ValueError: invalid literal for int() with base 10: "
    assert seen == [
        ("main", f"{words}'a'"),
        ("main", f"{words}'b'"),
        ("main", f"{words}'c'"),
        ("<module>", f"{words}'c'"),
    ]


# -- exceptions ----------------------------------------------------------------------------------

RAISES = program_text("counted_lines/python_raises.py")


def written(folder: Path, text: str) -> str:
    """Write a program; return its path."""
    path = folder / "written.py"
    path.write_text(text)
    return str(path)


def raised_in(cli: Cli, program: str, *words: str) -> list[tuple[str, str, int]]:
    """Catch what is raised; return type, function and line of each stop."""
    answer_data(cli("--json", "start", program, "--stop-on-entry", check=0))
    cli("catch", *words, check=0)
    found = []
    stop = answer_data(cli("--json", "continue", check=0))
    while stop["reason"] == "exception":
        assert len(found) < 20, found
        frame = stop["frame"]
        found.append((stop["exception"]["type"], frame["function"], frame["line"]))
        stop = answer_data(cli("--json", "continue", check=0))
    return found


def test_a_raised_exception_stops_once_in_the_programs_own_code(cli: Cli, tmp_path: Path) -> None:
    program = written(tmp_path, RAISES.replace("range(2000)", "range(1)") + "high()\n")
    assert raised_in(cli, program, "raised") == [
        ("KeyError", "low", 4),
        ("JSONDecodeError", "high", 11),
        ("ValueError", "high", 18),
    ]


@pytest.mark.parametrize("kind", ["KeyError", "LookupError", "builtins.KeyError"])
def test_only_a_type_and_what_derives_from_it_is_caught(
    cli: Cli, tmp_path: Path, kind: str
) -> None:
    program = written(tmp_path, RAISES + "high()\n")
    assert raised_in(cli, program, "raised", kind) == [("KeyError", "low", 4)]


def test_an_exception_groups_members_are_told_with_their_places(cli: Cli, tmp_path: Path) -> None:
    program = written(tmp_path, RAISES + "group()\n")
    stop = answer_data(cli("--json", "start", program, check=0))
    assert stop["exception"]["type"] == "ExceptionGroup"
    assert stop["exception"]["causes"] == [
        "1 of 2 in the group: RuntimeError: 1, in group written.py:25",
        "2 of 2 in the group: RuntimeError: 2, in group written.py:25",
    ]


def test_a_step_over_what_raises_and_nobody_catches_stops_where_it_was_raised(cli: Cli) -> None:
    start_program(cli, "exception.py", "--break", marked_location("exception.py", "value_error"))
    stop = answer_data(cli("--json", "next", check=0))
    assert (stop["reason"], stop["frame"]["function"]) == ("exception", "total")


def test_a_step_off_the_end_ends_the_program(cli: Cli, tmp_path: Path) -> None:
    program = written(tmp_path, "x = 1\ny = 2\n")
    answer_data(cli("--json", "start", program, "--break", f"{program}:2", check=0))
    assert answer_data(cli("--json", "next", check=0))["reason"] == "exit"


# -- expressions and values -----------------------------------------------------------------------


ENDING = [
    ("exit(3)", "SystemExit: 3"),
    ("quit()", "SystemExit"),
    ("__import__('sys').exit('no')", "SystemExit: no"),
    ("(_ for _ in ()).throw(GeneratorExit)", "GeneratorExit"),
]


@pytest.mark.parametrize("how", ["print", "eval"])
def test_an_expression_that_would_end_the_program_does_not(cli: Cli, how: str) -> None:
    start_program(cli, "loop.py", "--break", marked_location("loop.py", "step"))
    for expression, says in ENDING:
        refused = cli("--json", how, expression, check=1)
        assert refused.data["error"]["code"] == "EVALUATION_FAILED"
        assert says in refused.data["error"]["message"]
        assert print_value(cli, "i") == "1"
    cli("breakpoint", "remove", "--all", check=0)
    assert answer_data(cli("--json", "continue", check=0))["exit_code"] == 3


def test_an_expression_that_ends_the_program_is_told_as_its_end(cli: Cli) -> None:
    start_program(cli, "loop.py", "--break", marked_location("loop.py", "step"))
    refused = cli("--json", "print", "__import__('os')._exit(7)", check=4)
    assert refused.data["error"]["code"] == "PROGRAM_EXITED"
    assert refused.data["error"]["message"] == "the program ended while the expression ran"
    assert answer_data(cli("--json", "status", check=0))["exit_code"] == 7


SETS = """
class Box: pass
seven = 7
def f(first):
    box = Box(); box.n = 1
    table = {"a": 1}
    many = [1, 2]
    return first  # here
f(1)
"""


def test_what_is_there_can_be_set_and_a_new_name_is_refused(cli: Cli, tmp_path: Path) -> None:
    program = written(tmp_path, SETS)
    answer_data(cli("--json", "start", program, "--break", f"{program}:8", check=0))
    for target, new, then in (
        ("first", "2 + 3", "5"),
        ("seven", "8", "8"),
        ("box.n", "'é'", "'é'"),
        ("box.new", "1", "1"),
        ("table['b']", "2", "2"),
        ("many[0]", "9", "9"),
    ):
        assert answer_data(cli("--json", "set", target, new, check=0))["value"] == then, target
        assert print_value(cli, target) == then
    refused = cli("--json", "set", "frist", "1", check=1)
    assert refused.data["error"]["message"] == "no variable frist here; there is: first"
    cli("print", "frist", check=1)
    for target, new, says in (
        ("first", "1/0", "ZeroDivisionError"),
        ("first", "exit(1)", "SystemExit"),
        ("many[9]", "1", "IndexError"),
        ("f(1)", "2", "not a name, attribute or item"),
        ("first", "(1", "SyntaxError"),
    ):
        refused = cli("--json", "set", target, new, check=1)
        assert says in refused.data["error"]["message"], (target, new)
    assert print_value(cli, "first") == "5"


def test_up_ends_where_the_backtrace_ends(cli: Cli) -> None:
    start_program(cli, "loop.py", "--break", marked_location("loop.py", "step"))
    frames = answer_data(cli("--json", "backtrace", check=0))["frames"]
    assert frames[-1]["function"] == "<module>"
    for frame in frames[1:]:
        assert answer_data(cli("--json", "up", check=0))["frame"] == frame
    assert cli("up", check=1).err.startswith("error: this is the outermost frame")
    assert cli("frame", str(len(frames)), check=1).err.startswith("error: no frame")


# -- the end, and what Python has not ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "signal"),
    [
        ("import sys; sys.exit(-9)", 247, None),
        ("import os; os.kill(os.getpid(), 9)", None, "SIGKILL"),
        ("import os; os.kill(os.getpid(), 1)", None, "SIGHUP"),
        ("import os; os.abort()", None, "SIGABRT"),
    ],
)
def test_an_exit_status_and_a_death_by_a_signal_are_told_apart(
    cli: Cli, tmp_path: Path, text: str, code: int | None, signal: str | None
) -> None:
    end = answer_data(cli("--json", "start", written(tmp_path, text), check=0))
    assert (end["exit_code"], end["signal"]) == (code, signal)


def test_a_jump_runs_nothing_between_and_stays_in_the_function(cli: Cli) -> None:
    start_program(cli, "loop.py", "--break", marked_location("loop.py", "step"))
    here = debuggees.find_marker("loop.py", "step")
    stop = answer_data(cli("--json", "jump", str(here + 1), check=0))
    assert (stop["frame"]["line"], stop["output"]) == (here + 1, [])
    far = cli("jump", marked_location("exception.py", "fails"), check=1)
    assert "the program is in" in far.err
    cli("breakpoint", "remove", "--all", check=0)
    cli("finish", check=0)
    within = cli("jump", marked_location("loop.py", "add"), check=1)
    assert "only from the beginning of a line" in within.err


def test_what_python_has_not_names_what_to_use(cli: Cli) -> None:
    start_program(cli, "loop.py", "--break", marked_location("loop.py", "step"))
    for words, instead in (
        (("watch", "i"), "debugger who-wrote i"),
        (("registers",), "debugger locals"),
        (("memory", "read", "0x10"), "debugger print"),
        (("disassemble",), "dis"),
    ):
        refused = cli("--json", *words, check=1)
        assert refused.data["error"]["code"] == "NOT_SUPPORTED", words
        assert instead in refused.data["error"]["hint"], words


def test_the_modules_are_the_programs_own_and_what_is_installed(cli: Cli) -> None:
    start_program(
        cli, "child_worker.py", "--break", marked_location("child_worker.py", "worker"), "--", "1"
    )
    found = answer_data(cli("--json", "modules", check=0))["modules"]
    assert found[0]["name"] == "__main__"
    assert found[0]["path"] == str(debuggees.find_source("child_worker.py"))
    assert not {"os", "json", "debugpy", "pydevd"} & {one["name"] for one in found}


def test_a_statement_is_done_and_the_last_events_name_the_earlier_ones(cli: Cli) -> None:
    start_program(cli, "loop.py", "--break", marked_location("loop.py", "step"))
    assert cli("eval", "i = 40", check=0).out == "i = 40: done\n"
    assert print_value(cli, "i") == "40"
    every = answer_data(cli("--json", "events", "--since", "0", check=0))
    last = answer_data(cli("--json", "events", "--limit", "1", check=0))
    assert last["events"] == every["events"][-1:]
    assert (last["earlier"], every["earlier"]) == (len(every["events"]) - 1, 0)
    told = cli("events", "--limit", "1", check=0).out
    assert "earlier event: debugger events --since 0" in told
    assert "more event" not in told


def test_a_program_does_not_wait_for_the_debugger_at_its_end(cli: Cli, tmp_path: Path) -> None:
    # What is registered with atexit runs when pydevd's own threads have ended.
    script = tmp_path / "ends.py"
    script.write_text(
        "import atexit, time\n"
        "atexit.register(lambda: print(time.monotonic() - ended))\n"
        "print('the last words')\n"
        "ended = time.monotonic()\n"
        "raise SystemExit(3)\n"
    )
    waited = []
    for _ in range(3):  # pydevd waited 0.5 s for itself, whatever the machine has to do
        end = answer_data(cli("--json", "start", str(script), check=0))
        words, seconds = (one["text"] for one in end["output"])
        assert (words, end["exit_code"]) == ("the last words", 3)
        waited.append(float(seconds))
    assert min(waited) < 0.3


def test_threads_that_outlive_the_main_one_are_heard_to_their_end(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "outlived.py"
    script.write_text(
        "import threading\n"
        "def late():\n"
        "    threading.main_thread().join()\n"
        "    number = 7\n"
        "    print('late')  # @late\n"
        "threading.Thread(target=late).start()\n"
    )
    stop = answer_data(cli("--json", "start", str(script), "--break", f"{script}:5", check=0))
    assert (stop["frame"]["function"], print_value(cli, "number")) == ("late", "7")
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["reason"], [one["text"] for one in end["output"]]) == ("exit", ["late"])


def test_what_starts_a_module_is_not_seen_in_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "seen.py").write_text(
        "import sys\nprint(sys.argv[1:], sys.path[0], sorted(vars()))\n"
    )
    line = str(tmp_path / "seen.py:2")
    told = cli(
        *("--json", "start", "-m", "seen", "--break", line, "--", "one"), cwd=str(tmp_path), check=0
    )
    assert answer_data(told)["reason"] == "breakpoint"
    end = answer_data(cli("--json", "next", check=0))
    assert end["reason"] == "exit"
    said = end["output"][0]["text"]
    names = said.removeprefix("['one']  [").removesuffix("]").split(", ")
    assert [one for one in names if not one.startswith("'__")] == ["'sys'"], said


@pytest.mark.adapter("debugpy")
def test_at_an_exception_an_object_shows_its_fields_and_a_jump_is_refused_plainly(
    cli: Cli, tmp_path: Path
) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "class Model:\n"
        "    def __init__(self):\n"
        "        self._state = 3\n"
        "    def _check(self): pass\n"
        "    @property\n"
        "    def total(self): raise LookupError('no total')\n"
        "model = Model()\n"
        "print(1 // 0)\n"
    )
    cli("start", script, check=0)
    shown = cli("print", "model", check=0).out
    assert "_state = 3" in shown
    assert "_check" not in shown
    assert "total = <raises LookupError: no total>" in shown
    refused = cli("jump", "5", check=1)
    assert "cannot jump from an exception" in refused.err


@pytest.mark.parametrize("function", ["Rule.total", "loop", "mapped", "entries.Rule.total"])
def test_a_function_breakpoint_stops_once_a_call_whatever_else_is_on_its_line(
    cli: Cli, function: str
) -> None:
    stop = start_program(cli, "entries.py", "--break", function)
    assert stop["frame"]["function"].rpartition(".")[2] == function.rpartition(".")[2]
    end = answer_data(cli("--json", "continue", check=0))
    assert end["reason"] == "exit"


def test_a_breakpoint_where_a_function_is_defined_stops_when_it_is_called_and_says_so(
    cli: Cli,
) -> None:
    stop = start_program(cli, "entries.py", "--break", marked_location("entries.py", "loop"))
    assert stop["frame"]["line"] == debuggees.find_marker("entries.py", "head")
    (told,) = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    line = debuggees.find_marker("entries.py", "loop")
    assert told["notes"] == [f"line {line} defines loop: it stops at the function's first line"]


def test_a_function_of_a_module_that_an_entry_point_imports_is_found(
    cli: Cli, tmp_path: Path
) -> None:
    module = tmp_path / "shop" / "pricing.py"
    module.parent.mkdir()
    module.write_text("def discounted(n):\n    return n * 2\n")
    script = tmp_path / "bin" / "serve"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, '')\n"
        "import shop.pricing\nshop.pricing.discounted(4)\n"
    )
    script.chmod(0o755)
    words = ("start", str(script), "--python", sys.executable)
    named = ("--break", "shop.pricing.discounted", "--break", "json.dumps", "--break", "nosuch")
    stop = answer_data(cli("--json", *words, *named, cwd=tmp_path, check=0))
    assert (stop["frame"]["function"], stop["hit_breakpoints"]) == ("discounted", [1])
    _, dumps, nosuch = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert Path(dumps["file"]).match("json/__init__.py")
    assert f"Python files below {tmp_path}" in nosuch["why_unbound"]


def test_what_uv_runs_is_started_in_the_projects_environment_and_output_is_shown_once(
    cli: Cli, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    venv = [sys.executable, "-m", "venv", "--without-pip", str(project / ".venv")]
    subprocess.run(venv, check=True, timeout=60)
    (project / "app.py").write_text("print('one')\nx = 1\nprint('two')\ny = 2\n")
    breaks = ("--break", "app.py:2", "--break", "app.py:4")
    stopped = cli("start", "uv", *breaks, "--", "run", "app.py", cwd=project, check=0)
    assert "<module> at app.py:2" in stopped.out
    assert "output: +1 line\n  one" in stopped.out
    cli("eval", "print('three', flush=True)", check=0)
    assert "three" in cli("output", check=0).out
    assert "three" not in cli("continue", check=0).out
    other = tmp_path / "other"
    other.mkdir()
    (other / "app.py").write_text("x = 1\n")
    refused = cli("start", "poetry", "--", "run", "app.py", cwd=other)
    assert "poetry env info --executable" in refused.err


_LIBRARY_CALLS = program_text("counted_lines/python_library_calls.py")


def test_steps_keep_to_the_programs_own_code_where_that_is_asked_for(
    cli: Cli, tmp_path: Path
) -> None:
    program = tmp_path / "calls.py"
    program.write_text(_LIBRARY_CALLS)
    cli("start", program, "--break", f"{program}:10", check=0)
    stops = [answer_data(cli("--json", "step", "--own", check=0)) for _ in range(5)]
    assert {one["frame"]["file"] for one in stops} == {str(program)}
    assert ("__missing__", 7) in [(one["frame"]["function"], one["frame"]["line"]) for one in stops]
    end = answer_data(cli("--json", "until", f"{program}:15", check=0))
    end = answer_data(cli("--json", "next", "--own", check=0))
    assert end["frame"]["function"] == "<module>"
    cli("restart", check=0)
    plain = cli("step", check=0)
    assert "note: this is a library's code: debugger step --own" in plain.out


def test_a_running_program_answers_for_its_main_module_and_is_changed_there(
    cli: Cli, tmp_path: Path
) -> None:
    program = tmp_path / "serves.py"
    program.write_text(
        "import time\nseen = {'n': 1}\ngo = True\nwhile go:\n    time.sleep(0.01)\nprint(seen)\n"
    )
    cli("start", program, "--break", f"{program}:4", check=0)
    cli("breakpoint", "remove", "--all", check=0)
    cli("continue", "--no-wait", check=0)
    assert cli("print", "seen", check=0).out == "seen = {'n': 1}\n"
    assert cli("print", "time.__name__", check=0).out == "time.__name__ = 'time'\n"
    refused = cli("print", "nowhere", check=1)
    assert "NameError: name 'nowhere' is not defined" in refused.err
    assert "debugger pause stops it" in refused.err
    assert "the program is running" in cli("locals", check=4).err
    cli("write", "seen['n']", "2", check=0)
    cli("write", "go", "False", check=0)
    end = answer_data(cli("--json", "await", check=0))
    assert (end["reason"], [one["text"] for one in end["output"]]) == ("exit", ["{'n': 2}"])


RETURNS = """\
def double(n):
    return n * 2
def main():
    first = double(3)
    second = first + 1
    third = double(int(str(double(second))))
    print(third)
main()
"""


def test_a_returned_value_is_told_at_the_step_that_it_came_of_only(
    cli: Cli, tmp_path: Path
) -> None:
    program = written(tmp_path, RETURNS)
    answer_data(cli("--json", "start", program, "--break", f"{program}:4", check=0))
    cli("break", f"{program}:5", "--log", "100% {first} {nope}", check=0)
    steps = [answer_data(cli("--json", "next", check=0)) for _ in range(3)]
    assert [(one.get("returned") or {}).get("value") for one in steps] == ["6", None, "28"]
    logged = answer_data(cli("--json", "events", "--kind", "logpoint", check=0))["events"]
    assert [one["text"] for one in logged] == ["100% 6 <NameError: name 'nope' is not defined>"]


def test_a_frames_own_variables_stand_before_those_of_enclosing_functions(
    cli: Cli, tmp_path: Path
) -> None:
    program = tmp_path / "closure.py"
    names = [f"a{at}" for at in range(30)]
    program.write_text(
        f"def outer():\n    {' = '.join(names)} = 1\n    def inner(z):\n"
        f"        return z + {' + '.join(names)}\n    return inner(5)\nouter()\n"
    )
    stop = answer_data(cli("--json", "start", program, "--break", f"{program}:4", check=0))
    assert [one["name"] for one in stop["locals"]][:2] == ["z", "a0"]


def test_of_several_calls_on_a_line_the_last_ones_value_is_the_returned_one(
    cli: Cli, tmp_path: Path
) -> None:
    text = "def zero(n):\n    return 0\ndef also():\n    return 5\nzero(also())\nx = 1\n"
    program = written(tmp_path, text)
    answer_data(cli("--json", "start", program, "--break", f"{program}:5", check=0))
    assert answer_data(cli("--json", "next", check=0))["returned"]["value"] == "0"
