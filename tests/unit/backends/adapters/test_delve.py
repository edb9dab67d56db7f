"""The adapter delve (1.27.2): what it sends and what it takes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from debugger.backends.adapters.delve import delve_adapter as delve
from debugger.backends.adapters.delve import delve_breakpoints, delve_values
from debugger.backends.base import AttachTarget, LaunchTarget, OutputPrinted
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterSearch, StreamFiles
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.model.program import EvaluationPurpose, ExitedProgram, StopReason

GO = delve.DelveAdapter()
FILES = StreamFiles("/scratch/stdin", "/scratch/stdout", "/scratch/stderr")


def read(kind: Any, **body: Any) -> Any:
    return msgspec.convert(body, kind)


def stopped(**body: Any) -> Any:
    return GO.parse_stopped(read(dap.StoppedBody, **body))


def printed(output: str, category: str = "console") -> Any:
    return GO.parse_output(read(dap.OutputBody, output=output, category=category))


def _launch(program: Path | str, *args: str) -> dict[str, Any]:
    return GO.launch_arguments(
        LaunchTarget(str(program), cwd="/here", env={"A": "1", "B": "\udcff"}, args=args), FILES
    )


def test_a_program_is_run_on_our_files():
    sent = _launch("/bin/tool", "-v", "x")
    assert (sent["mode"], sent["program"], sent["args"]) == ("exec", "/bin/tool", ["-v", "x"])
    assert (sent["stdinFrom"], sent["stdoutTo"], sent["stderrTo"]) == (
        "/scratch/stdin",
        "/scratch/stdout",
        "/scratch/stderr",
    )
    assert sent["env"] == {"A": "1"}  # the other cannot be sent
    assert "output" not in sent


def test_what_is_built_goes_to_our_own_directory(tmp_path: Path):
    (tmp_path / "main.go").write_text("package main\n\nfunc main() {}\n")
    sent = _launch(tmp_path / "main.go")
    assert (sent["mode"], sent["program"]) == ("debug", str(tmp_path / "main.go"))
    assert (sent["output"], sent["dlvCwd"]) == ("/scratch/main.debug", str(tmp_path))


def test_tests_get_their_flags_as_their_program_takes_them(tmp_path: Path):
    (tmp_path / "add_test.go").write_text("package add\n")
    sent = _launch(tmp_path / "add_test.go", "-run", "TestAdd", "-v", "-count=1", "-mine")
    assert (sent["mode"], sent["program"]) == ("test", str(tmp_path))
    assert sent["args"] == ["-test.run", "TestAdd", "-test.v", "-test.count=1", "-mine"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"pid": 7}, {"request": "attach", "mode": "local", "processId": 7}),
        ({"pid": None, "connect": ("h", 1)}, {"request": "attach", "mode": "remote"}),
        (
            {"pid": None, "core": "/core", "program": "/p"},
            {"request": "launch", "mode": "core", "coreFilePath": "/core", "program": "/p"},
        ),
    ],
)
def test_a_process_a_server_and_a_core_file_are_attached_to(more, expected):
    sent = GO.attach_arguments(AttachTarget(cwd="/", env={}, **more))
    assert expected.items() <= sent.items()
    assert sent["stopOnEntry"] is ("core" in more)


def test_a_stop_at_a_panic_names_no_breakpoint_of_delves_own():
    stop = stopped(reason="exception", description="panic", threadId=1, hitBreakpointIds=[-1])
    assert (stop.reason, stop.thread, stop.hits) == (StopReason.EXCEPTION, 1, ())


def test_a_stop_without_a_goroutine_has_no_thread():
    assert stopped(reason="pause").thread is None
    assert stopped(reason="exception", threadId=0).thread is None


def test_delves_own_entry_is_a_pause_of_what_was_attached_to():
    stop = stopped(reason="entry", threadId=1)
    assert (stop.reason, stop.thread) == (StopReason.PAUSE, None)


def test_a_stop_for_a_condition_that_fails_says_what_is_wrong():
    text = "error evaluating expression: could not find symbol value for x"
    stop = stopped(reason="exception", description="runtime error", threadId=1, text=text)
    assert GO.read_failed_condition(stop) == "could not find symbol value for x"
    other = stopped(reason="exception", description="runtime error", threadId=1, text="bad access")
    assert GO.read_failed_condition(other) is None


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (3, ExitedProgram(code=3)),
        (0, ExitedProgram(code=0)),
        (-9, ExitedProgram(signal="SIGKILL")),
        (-34, ExitedProgram(signal="SIGRTMIN")),
        (-40, ExitedProgram(signal="SIG40")),
        (None, ExitedProgram()),
    ],
)
def test_the_end_is_a_code_or_a_signal(code, end):
    assert GO.parse_exit(code, None) == end


def test_a_logpoints_text_is_told_from_its_goroutine():
    told = printed("> [Go 18]: [[log 2]] at 1\n", "stdout")
    assert told == OutputPrinted(OutputStream.CONSOLE, "[[log 2]] at 1\n")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("could not find symbol value for y", "could not find symbol value for y"),
        ("index out of bounds", "index out of bounds"),
        ("a.sum", "could not find symbol a.sum"),
    ],
)
def test_an_expression_that_fails_in_a_logpoint_says_why(said, text):
    line = f"> [Go 1]: x {{eval err: &{{%!e(string={said})}}}} z\n"
    assert printed(line, "stdout").text == f"x {{{text}}} z\n"


def test_an_expression_that_cannot_be_parsed_in_a_logpoint_says_why():
    error = "[%!e(*scanner.Error=&{{ 21 1 22} missing ',' before newline in argument list})]"
    told = printed(f"> [Go 1]: x {{eval err: {error}}} z\n", "stdout")
    assert told.text == "x {missing ',' before newline in argument list} z\n"


@pytest.mark.parametrize(
    ("text", "sent"),
    [("100%", "100%%"), ("{a % b}%{c}", "{a % b}%%{c}"), ('{m["%"]}', '{m["%"]}'), ("", "")],
)
def test_percent_signs_outside_of_expressions_are_doubled(text, sent):
    assert GO.format_log(text) == sent


def test_of_a_failed_build_the_compilers_lines_are_told():
    told = printed(
        "Build Error: go build -o /x -gcflags all=-N -l /m.go\n"
        "# command-line-arguments\n./m.go:4:2: undefined: y (exit status 1)\n",
        "stderr",
    )
    assert told == OutputPrinted(OutputStream.CONSOLE, "./m.go:4:2: undefined: y\n")
    said = "Failed to launch: Build error: Check the debug console for details."
    assert GO.shorten_launch_problem(said) == "the program does not build"
    assert GO.find_launch_hint(said) == "go build names what to mend in the same words"
    assert GO.find_launch_hint("could not attach") is None


def test_what_delve_always_says_is_not_told():
    assert printed("Type 'dlv help' for list of commands.\n") is None
    assert printed("Building /m.go\n", "stdout") is None


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("* [Go 18] main.worker (Thread 77)", "goroutine 18 main.worker"),
        ("[Go 1] main.(*Tree).Add", "goroutine 1 main.(*Tree).Add"),
        ("[Go 5 job:7] main.f", "goroutine 5 job:7 main.f"),
        (" Unreadable goroutine: x", " Unreadable goroutine: x"),
    ],
)
def test_a_goroutine_is_named_by_its_number_and_function(told, name):
    assert GO.convert_thread(dap.DapThread(5, told)) == dap.DapThread(5, name)


def test_before_the_runtime_begins_there_is_no_goroutine():
    assert GO.convert_thread(dap.DapThread(1, "Dummy")) == dap.DapThread(0, "no goroutine")


def test_it_is_found_on_the_path_then_in_gos_own_folders_then_in_ours(tmp_path: Path):
    own = tmp_path / "data" / "debugger-cli" / "adapters" / "delve"
    gopath, path = tmp_path / "go" / "bin", tmp_path / "bin"
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "PATH": str(path)}
    assert GO.find_installation(AdapterSearch(env)) is None
    for folder in (own, gopath, path):
        folder.mkdir(parents=True)
        (folder / "dlv").write_text("#!/bin/sh\n")
        (folder / "dlv").chmod(0o755)
        found = GO.find_installation(AdapterSearch(env, args=("--log",)))
        assert found is not None
        assert found.argv[0] == str(folder / "dlv")
        assert found.argv[1:] == ("dap", "--listen", "127.0.0.1:0", "--log")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('"a \\"b\\"\\t\\u00e9"', 'a "b"\té'),
        ('"cut...', "cut..."),
        ("*{code: 7}", "*{code: 7}"),
        ('"\\xzz"', "\\xzz"),
        ("", ""),
    ],
)
def test_a_text_in_quotes_is_read(text, plain):
    assert delve_values.unquote_go(text) == plain


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("could not find statement at /m.go:3, please use a line with a statement", None),
        ("could not find file /m.go", None),
        ('location "x" not found', None),
        ('Location "x" ambiguous: a.x, b.x…', 'Location "x" ambiguous: a.x, b.x…'),
        (
            "1:5: expected operand, found 'EOF'",
            "the condition is not a Go expression: 1:5: expected operand, found 'EOF'",
        ),
    ],
)
def test_why_a_breakpoint_is_refused_is_left_to_be_explained_where_it_can(said, told):
    assert delve_breakpoints.parse_refusal(said) == told


class Answering:
    """An adapter that evaluates what it is told to."""

    looked_at = None

    def __init__(self, **answers: dict[str, Any]) -> None:
        self.answers = {name.replace("_", " "): body for name, body in answers.items()}
        self.asked: list[str] = []

    async def send_request(self, command: str, arguments: Any, body: Any, **_: Any) -> Any:
        assert command == "evaluate"
        self.asked.append(arguments.expression)
        if arguments.expression not in self.answers:
            needed = "function calls not allowed without using 'call'"
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"Unable to evaluate expression: {needed}"
            )
        return msgspec.convert(self.answers[arguments.expression], body)

    async def fetch_variables(self, handle: int, **_: Any) -> Any:
        from debugger.model.program import Variable

        return [Variable("~r0", "9 = 0x9", "uint")] if handle == 7 else []


def evaluate(
    inside: Any, expression: str, purpose: EvaluationPurpose = EvaluationPurpose.PRINT
) -> Any:
    return asyncio.run(delve_values.evaluate_go(inside, expression, None, purpose))


def test_an_unsigned_number_is_shown_once_and_an_address_as_one():
    inside = Answering(
        a={"result": "5 = 0x5", "type": "uint8"},
        p={"result": "16 = 0x10", "type": "uintptr"},
        t={"result": '"x = 0x5"', "type": "string"},
    )
    assert [evaluate(inside, name).value for name in "apt"] == ["5", "0x10", '"x = 0x5"']


def test_a_function_is_called_where_the_expression_needs_it():
    inside = Answering(call_f={"result": "9", "variablesReference": 7})
    inside.answers["call f(1)"] = {"result": "9", "variablesReference": 7}
    value = evaluate(inside, "f(1)")
    assert (value.name, value.value, value.type) == ("f(1)", "9", "uint")
    assert inside.asked == ["f(1)", "call f(1)"]


@pytest.mark.parametrize("expression", ["dlv config -list", "  dlv\tsources"])
def test_a_command_of_delves_is_no_expression(expression):
    inside = Answering()
    with pytest.raises(DebuggerError, match="command of delve") as raised:
        evaluate(inside, expression)
    assert raised.value.code is ErrorCode.EVALUATION_FAILED
    assert inside.asked == []


def test_the_rest_of_a_long_string_is_read_in_pieces():
    inside = Answering(
        s={"result": '"' + "a" * 4096 + '...+904 more"', "type": "string"},
    )
    inside.answers["len(s)"] = {"result": "5000", "type": "int"}
    inside.answers["(s)[4096:5000]"] = {"result": '"' + "b" * 904 + '"', "type": "string"}
    assert evaluate(inside, "s").value == '"' + "a" * 4096 + "b" * 904 + '"'


@pytest.mark.parametrize(
    ("name", "functions", "chosen"),
    [
        ("Item.Less", "main.Item.Less, main.(*Item).Less…", "main.Item.Less"),
        ("Less", "cmp.Less, main.Item.Less, main.(*Item).Less…", None),
        ("(*Item).Less", "main.(*Item).Less, shop.(*Item).Less", None),
    ],
)
def test_of_an_ambiguous_name_the_one_function_is_chosen_that_has_it(
    name: str, functions: str, chosen: str | None
) -> None:
    refusal = f'Location "{name}" ambiguous: {functions}'
    assert delve_breakpoints.choose_function(name, refusal) == chosen
