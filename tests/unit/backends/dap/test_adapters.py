"""The adapters' pure functions parse what the adapters really send."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import msgspec
import pytest

from debuggees import program_text
from debugger.backends.adapters.debugpy import debugpy_adapter as debugpy
from debugger.backends.adapters.debugpy import debugpy_breakpoints as python_source
from debugger.backends.adapters.lldb import lldb_dap_adapter
from debugger.backends.base import ConditionError, LaunchTarget, LogpointPassed, OutputPrinted
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterSearch, DebugAdapter, StreamFiles
from debugger.backends.select_backend import ADAPTERS
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import (
    ExceptionDetails,
    ExitedProgram,
    ScopeKind,
    StopReason,
    Variable,
)

LLDB, PY = lldb_dap_adapter.LldbDapAdapter(), debugpy.DebugpyAdapter()
FILES = StreamFiles("/s/in", "/s/out", "/s/err")


def read(kind: Any, **body: Any) -> Any:
    return msgspec.convert(body, kind)


# -- convert -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0x00000000004011A6", "0x4011a6"),
        ("4198822", "0x4011a6"),
        ("-1", None),
        ("", None),
        (None, None),
        ("main", None),
        ("9" * 5000, None),
    ],
)
def test_an_address_is_written_in_one_way(text, address):
    assert dap_convert.to_address(text) == address


def test_a_frame_without_source_has_no_line():
    body = read(dap.DapStackFrame, id=3, name="__libc_start_main", line=0, column=0)
    (frame,) = dap_convert.to_frames([body], 4)
    assert (frame.index, frame.file, frame.line, frame.column) == (4, None, None, None)


@pytest.mark.parametrize(
    ("module", "name"), [("/usr/lib/libc.so.6", "libc.so.6"), ("7FFFF7DD5000", None), (3, None)]
)
def test_a_frames_module_is_named_where_its_id_is_a_path(module, name):
    (frame,) = dap_convert.to_frames([read(dap.DapStackFrame, id=1, name="f", moduleId=module)], 0)
    assert frame.module == name


def test_a_frames_function_is_its_plain_name():
    body = read(
        dap.DapStackFrame, id=1, name="work(int, char**)", line=4, column=2, source={"path": "/a.c"}
    )
    (frame,) = dap_convert.to_frames([body], 0)
    assert (frame.function, frame.file, frame.line) == ("work", "/a.c", 4)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"name": "Locals", "presentationHint": "locals"}, ScopeKind.LOCALS),
        ({"name": "Arguments"}, ScopeKind.ARGUMENTS),
        ({"name": "Globals", "presentationHint": "xyz"}, ScopeKind.GLOBALS),
        ({"name": "Registers"}, ScopeKind.REGISTERS),
        ({"name": "Return value"}, ScopeKind.OTHER),
    ],
)
def test_a_scope_is_known_by_its_hint_or_its_name(body, kind):
    assert dap_convert.to_scope(read(dap.DapScope, variablesReference=1, **body)).kind is kind


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (["My", "Our"], [ScopeKind.LOCALS, ScopeKind.OTHER]),  # vscode-perl-debug
        (["variables", "arguments"], [ScopeKind.LOCALS, ScopeKind.ARGUMENTS]),  # elixir-ls
        (["Arguments", "This"], [ScopeKind.ARGUMENTS, ScopeKind.OTHER]),
        (["Return value", "Local"], [ScopeKind.OTHER, ScopeKind.LOCALS]),
        (["Return value", "Globals"], [ScopeKind.OTHER, ScopeKind.GLOBALS]),
        ([], []),
    ],
)
def test_the_first_of_unknown_scopes_is_the_locals(names, kinds):
    bodies = [read(dap.DapScope, name=one, variablesReference=1) for one in names]
    assert [one.kind for one in dap_convert.to_scopes(bodies)] == kinds


def test_a_huge_value_is_cut_and_says_how_long_it_was():
    shown = dap_convert.to_variable(read(dap.DapVariable, name="s", value="x" * 10_000_000)).value
    assert len(shown) < dap_convert.VALUE_MAX + 100
    assert shown.endswith("(10,000,000 characters)")


def test_what_an_adapter_says_of_an_unverified_breakpoint_is_why_unless_it_is_a_key():
    wanted = Breakpoint(1, BreakpointSpec(file="/a.c", line=3))
    body = read(dap.DapBreakpoint, id=7, message="breakpoint.pending")
    assert dap_convert.to_bound(body, wanted).why is None
    body = read(dap.DapBreakpoint, id=7, message="no code here", line=5)
    assert dap_convert.to_bound(body, wanted) == BoundBreakpoint(
        verified=False, backend_id=7, file="/a.c", line=5, why="no code here"
    )


def test_the_causes_of_an_exception_are_told_but_not_without_end():
    body: dict[str, Any] = {"typeName": "E0", "message": "m"}
    for number in range(1, 50):
        body = {"typeName": f"E{number}", "innerException": [body]}
    found = dap_convert.to_exception(read(dap.ExceptionInfoBody, exceptionId="E", details=body))
    assert found.type == "E49"
    assert len(found.causes) == 10


# -- lldb-dap ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason", "signal"),
    [
        ({"reason": "exception", "description": "signal SIGSEGV: address not mapped"},
         StopReason.SIGNAL, "SIGSEGV"),
        ({"reason": "exception", "description": "signal SIGSTOP"}, StopReason.PAUSE, "SIGSTOP"),
        ({"reason": "breakpoint", "description": "breakpoint 1.1"}, StopReason.BREAKPOINT, None),
        # A pause that comes while LLDB is at a breakpoint of its own.
        ({"reason": "breakpoint", "description": "breakpoint -1.1"}, StopReason.PAUSE, None),
        ({"reason": "step", "description": "trace"}, StopReason.PAUSE, None),
        ({"reason": "step"}, StopReason.STEP, None),
        ({"reason": "data breakpoint", "description": "watchpoint 1"}, StopReason.WATCHPOINT, None),
        ({"reason": "something new"}, StopReason.PAUSE, None),
    ],
)  # fmt: skip
def test_lldbs_stops_are_told_by_what_they_mean(body, reason, signal):
    stop = LLDB.parse_stopped(read(dap.StoppedBody, threadId=1, **body))
    assert (stop.reason, stop.signal, stop.raw_reason) == (reason, signal, body["reason"])


@pytest.mark.parametrize(
    ("code", "last", "exited"),
    [
        (11, "SIGSEGV", ExitedProgram(signal="SIGSEGV")),
        (11, None, ExitedProgram(code=11)),
        (0, "SIGSEGV", ExitedProgram(code=0)),
        (3, "SIGNOSUCH", ExitedProgram(code=3)),
        (None, "SIGSEGV", ExitedProgram()),
    ],
)
def test_a_death_by_a_signal_is_told_from_an_exit_of_its_number(code, last, exited):
    assert LLDB.parse_exit(code, last) == exited


def test_a_word_is_quoted_for_lldb_and_a_newline_refused():
    assert lldb_dap_adapter.quote_word('a "b" \\c') == '"a \\"b\\" \\\\c"'
    with pytest.raises(DebuggerError):
        lldb_dap_adapter.quote_word("a\nplatform shell id")


def test_what_of_the_environment_is_no_utf_8_is_left_to_be_inherited():
    launch = LaunchTarget(
        program="/bin/true", cwd="/", env={"A": "1", "B": "\udcff", "\udcff": "x"}
    )
    assert LLDB.launch_arguments(launch, FILES)["env"] == ["A=1"]


def test_lldb_is_taken_from_the_callers_path_or_the_configuration(tmp_path):
    (tmp_path / "lldb-dap-18").write_text("#!/bin/sh\n")
    (tmp_path / "lldb-dap-18").chmod(0o755)
    found = LLDB.find_installation(AdapterSearch(env={"PATH": str(tmp_path)}))
    assert found.argv == (str(tmp_path / "lldb-dap-18"),)
    found = LLDB.find_installation(AdapterSearch(env={}, path="/opt/lldb-dap", args=("-x",)))
    assert found.argv == ("/opt/lldb-dap", "-x")


def test_a_signals_details_are_its_name_and_the_rest():
    told = ExceptionDetails("signal", "signal SIGSEGV: address not mapped to object")
    found = LLDB.adjust_exception(told)
    assert (found.type, found.message) == ("SIGSEGV", "address not mapped to object")


# -- debugpy -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "exited"),
    [
        (0, ExitedProgram(code=0)),
        (3, ExitedProgram(code=3)),
        (
            247,
            ExitedProgram(code=247),
        ),  # of sys.exit(-9): its launcher would say the same of a SIGKILL
        (-9, ExitedProgram(signal="SIGKILL")),
        (-40, ExitedProgram(signal="SIG40")),
        (255, ExitedProgram(code=255)),
        (None, ExitedProgram()),
    ],
)
def test_a_python_programs_end_is_a_code_or_a_signal(code, exited):
    assert PY.parse_exit(code, None) == exited


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"category": "stdout", "output": "i=3\n"}, LogpointPassed(None, "i=3")),
        ({"category": "telemetry", "output": "x"}, None),
        ({"output": "hello\n"}, OutputPrinted(OutputStream.CONSOLE, "hello\n")),
        (
            {
                "category": "stderr",
                "output": "pydevd: Error while evaluating expression in conditional breakpoint: "
                "x > 1\nTraceback (most recent call last):\nNameError: name 'x' is not defined\n",
            },
            ConditionError(None, "x > 1: NameError: name 'x' is not defined"),
        ),
        ({"category": "stdout", "output": "Attaching to PID: 7 (elapsed: 1.00s).\n"}, None),
    ],
)
def test_what_debugpy_prints_is_told_by_what_it_is(body, told):
    assert PY.parse_output(read(dap.OutputBody, **body)) == told


@pytest.mark.parametrize("output", ["\nWatchpoint 1 hit:\n", "old value: 7\n", "new value: 8\n"])
def test_what_lldb_writes_of_a_watchpoint_is_no_output_of_the_program(output):
    body = read(dap.OutputBody, category="stdout", output=output)
    assert lldb_dap_adapter.LldbDapAdapter().parse_output(body) is None


def frame(name: str, path: str | None) -> dap.DapStackFrame:
    return read(dap.DapStackFrame, id=1, name=name, source={"path": path})


@pytest.mark.parametrize(
    ("name", "path", "is_outside"),
    [
        ("work", "/me/app.py", False),
        ("<module>", "/me/app.py", False),
        ("[Chained Exc: x] f", "/me/app.py", True),
        ("_run_code", "/usr/lib/python3/runpy.py", True),
        ("run", "/x/debugpy/server/cli.py", True),
        ("f", None, False),
    ],
)
def test_the_frames_that_run_the_program_are_known(name, path, is_outside):
    assert PY.is_outside is not None
    assert PY.is_outside(frame(name, path)) is is_outside


def test_an_exceptions_causes_come_from_its_traceback():
    trace = (
        "Traceback:\n  f()\nKeyError: 'k'\n\nThe above exception was the direct cause of the "
        "following exception:\n\nTraceback:\n  g()\nValueError: bad\n"
    )
    found = PY.adjust_exception(ExceptionDetails("ValueError", "bad (note: x)", trace=trace))
    assert (found.type, found.message, found.causes) == ("ValueError", "bad", ("KeyError: 'k'",))
    assert PY.adjust_exception(ExceptionDetails("E", "m")).causes == ()


class OneAnswerConnection:
    """An adapter that knows one answer."""

    inspected_frame = None
    launch_target: LaunchTarget | None = None
    attach_target = None

    def __init__(self, answer: str = "") -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def evaluate(self, expression: str, *_: object) -> Variable:
        self.asked.append(expression)
        return Variable(expression, self.answer, handle=9)


def test_a_cut_value_gets_its_length_in_one_request():
    big = Variable("a", "[1, 2, ...]", "list", handle=2, expression="a")
    small = Variable("b", "[1]", "list", handle=3, expression="b")
    inside = OneAnswerConnection("[(200, 'Item')]")
    shown = asyncio.run(PY.complete_variables(inside, [small, big]))
    assert len(inside.asked) == 1
    assert shown[0] is small
    assert shown[1].value.startswith("list[200] of Item")
    assert shown[1].indexed == 200
    assert asyncio.run(PY.complete_variables(OneAnswerConnection("nonsense"), [big])) == [big]


def test_a_table_gets_its_shape_and_what_every_table_has_is_left_out():
    table = Variable("df", "   x\n0  1", "DataFrame", handle=2, expression="df")
    small = Variable("a", "array([1, 2])", "ndarray", handle=3, expression="a")
    shown = asyncio.run(PY.complete_variables(OneAnswerConnection("['(1, 1) ']"), [small, table]))
    assert shown == [small, msgspec.structs.replace(table, value="DataFrame (1, 1)\n   x\n0  1")]
    of_a_frame = [
        Variable(name, value, kind, expression=f"df.{name}")
        for name, value, kind in (
            ("T", "'<transposed dataframe -- debugger:skipped eval>'", "str"),
            ("iloc", "<pandas.core.indexing._iLocIndexer object at 0x7>", "_iLocIndexer"),
            ("is_unique", "True", "bool"),
            ("_mgr", "BlockManager", "BlockManager"),
            ("shape", "(1, 1)", "tuple"),
            ("x", "1", "int"),
        )
    ]
    assert [
        one.name for one in asyncio.run(PY.complete_variables(OneAnswerConnection(), of_a_frame))
    ] == [
        "shape",
        "x",
    ]


def write(tmp_path, text: str, name: str = "app.py") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


SOURCE = program_text("counted_lines/adapters.py")


def test_a_breakpoint_in_python_slides_to_code_within_its_function(tmp_path):
    path = write(tmp_path, SOURCE)
    correct = PY.correct_breakpoint
    assert correct(OneAnswerConnection(), BreakpointSpec(file=path, line=7)).line == 7
    assert correct(OneAnswerConnection(), BreakpointSpec(file=path, line=8)).line == 10
    assert correct(OneAnswerConnection(), BreakpointSpec(file=path, line=2)).line == 4
    refused = correct(OneAnswerConnection(), BreakpointSpec(file=path, line=500))
    assert isinstance(refused, BoundBreakpoint)
    assert refused.nearest_lines[-1] == 20
    missing = correct(OneAnswerConnection(), BreakpointSpec(file=str(tmp_path / "no.py"), line=1))
    assert "no such file" in missing.why


def test_a_python_function_is_found_by_its_qualified_name(tmp_path):
    path = write(tmp_path, SOURCE)
    inside = OneAnswerConnection()
    inside.launch_target = LaunchTarget(program=path, cwd=str(tmp_path), env={})
    for name, line in {"work": 7, "Tree.add": 15, "add": 15, "app.work": 7, "inner": 16}.items():
        assert PY.correct_breakpoint(inside, BreakpointSpec(function=name)).line == line, name
    unknown = PY.correct_breakpoint(inside, BreakpointSpec(function="wrok"))
    assert unknown.near_names == ("work",)


def test_the_parameters_of_a_function_are_told_in_order(tmp_path):
    path = write(tmp_path, SOURCE)
    assert python_source.parameter_names(path, "work", 7) == ["a", "b", "c", "rest", "more"]
    assert python_source.parameter_names(path, "work", 20) is None
    assert python_source.parameter_names(path, "nosuch", 7) is None


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "\x00",
        "(" * 5000,
        "x = " + "-" * 100_000 + "1",
        "x = " + "1+" * 900 + "1(",
        "\udcff",
    ],
)
def test_what_is_no_python_has_no_outline(tmp_path, text):
    path = tmp_path / "bad.py"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert python_source.outline_file(str(path)) is None
    assert python_source.parameter_names(str(path), "f", 1) is None


def test_a_deep_expression_is_read_or_refused(tmp_path):
    path = write(tmp_path, "x = " + "1+" * 2500 + "1\n")
    found = python_source.outline_file(path)
    assert found is None or found.code_lines == [1]


def test_python_is_launched_with_the_callers_python_and_words():
    launch = LaunchTarget(program=None, module="pkg", cwd="/w", env={}, args=("-x",), python="/py")
    told = PY.launch_arguments(launch, FILES)
    assert (told["module"], told["args"], told["python"]) == ("pkg", ["-x"], ["/py"])
    assert "program" not in told
    found = PY.find_installation(AdapterSearch(env={}))
    assert found.argv[0] == sys.executable


# The facts that say which methods an adapter overrides: they are read where a call costs a stop.
OVERRIDES = {
    "attaches_forks": "fork_arguments",
    "filters_by_condition": "format_type_condition",
    "has_outside_frames": "is_outside",
    "has_step_keeper": "make_step_keeper",
    "inspects_step_ends": "inspect_step_end",
    "reads_exception_types": "read_exception",
    "releases_target": "release_target",
}


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=lambda one: str(one.name))
def test_an_adapter_has_the_methods_that_its_facts_announce(adapter: DebugAdapter) -> None:
    own = {
        fact
        for fact, method in OVERRIDES.items()
        if getattr(type(adapter), method) is not getattr(DebugAdapter, method)
    }
    assert own == {fact for fact in OVERRIDES if getattr(adapter, fact)}
    inspects_stops = type(adapter).inspect_stop is not DebugAdapter.inspect_stop
    assert inspects_stops == bool(adapter.inspected_reasons)
