"""`crash` reports what a debugger's own stops leave out: lost tracing, workers, a full heap."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[1] / "programs" / "crashes.py"


@pytest.mark.adapter("debugpy")
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("mutual", ("called by main crashes.py:52: first(0)", "locals: depth=")),
        ("quit", ("crash: BdbQuit, in quits crashes.py:2", "locals: value=3")),
        ("task", ("survived: division by zero (ZeroDivisionError), in divide crashes.py:28",)),
        (
            "pool",
            ("caused by: in a worker: ZeroDivisionError: division by zero, in score crashes.py:",),
        ),
    ],
)
def test_what_ends_a_python_program_is_never_called_no_crash(
    cli: Callable[..., Any], what: str, says: tuple[str, ...]
) -> None:
    answer = cli("crash", "--", sys.executable, PROGRAM, what, check=0, cwd=PROGRAM.parent)
    for one in says:
        assert one in answer.out, answer.out
    assert "no crash" not in answer.out
    assert "pydevd" not in answer.out


@pytest.mark.adapter("debugpy")
def test_a_recursion_without_end_stops_at_the_programs_own_call(cli: Callable[..., Any]) -> None:
    stop = cli("start", PROGRAM, "--", "mutual").out
    assert " at crashes.py:" in stop
    assert "pydevd" not in stop + cli("backtrace").out
    shown = stop.split("-> ")[1].splitlines()[0]
    assert "return" in shown, "the line of the call, not the one of the function's definition"
    cli("continue")
    output = cli("output", "--all").out
    assert "in first" in output
    assert "/debugpy/" not in output
    assert "_pydevd_bundle" not in output


@pytest.mark.adapter("js-debug")
def test_a_full_heap_of_v8_is_placed(cli: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "grows.js"
    script.write_text("const kept = [];\nfor (let i = 0; ; i++) kept.push({ i, text: 'x' + i });\n")
    answer = cli("crash", "--", "node", "--max-old-space-size=30", script, check=0)
    assert answer.out.startswith("crash: out of memory: JavaScript heap out of memory, in ")
    assert "grows.js:2" in answer.out


@pytest.mark.adapter("js-debug")
def test_an_error_in_a_long_line_is_a_crash_though_nodes_report_is_cut(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "bundle.js"
    padding = "".join(f"function f{number}(a){{return a+{number}}};" for number in range(9000))
    script.write_text(f"{padding}function price(i){{return i.price.amount}};price({{}});\n")
    answer = cli("crash", "--", "node", script, check=0)
    assert answer.out.startswith("crash: "), answer.out[:400]
    assert "in price bundle.js:1" in answer.out
    handled = tmp_path / "handled.js"
    handled.write_text("try { null.x } catch (error) { process.exit(1) }\n")
    assert "no crash seen: exited with status 1" in cli("crash", "--", "node", handled).out


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param("gdb", marks=pytest.mark.adapter("gdb")),
        pytest.param("lldb-dap", marks=pytest.mark.adapter("lldb-dap")),
    ],
)
def test_a_signal_that_was_sent_has_no_address(
    cli: Callable[..., Any], compile_program: Callable[..., Path], adapter: str
) -> None:
    program = compile_program("#include <signal.h>\nint main(void) { return raise(SIGSEGV); }\n")
    answer = cli("crash", "--json", "--adapter", adapter, "--", program, check=0).data["data"]
    assert (answer["address"], answer["address_kind"]) == (None, "sent")
    assert answer["cause"].startswith("SIGSEGV, sent by a process, perhaps by the program itself")


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param("gdb", marks=pytest.mark.adapter("gdb")),
        pytest.param("lldb-dap", marks=pytest.mark.adapter("lldb-dap")),
    ],
)
def test_a_fault_that_pythons_handler_sends_again_is_told_where_it_was(
    cli: Callable[..., Any], tmp_path: Path, adapter: str
) -> None:
    script = tmp_path / "peeks.py"
    script.write_text("import ctypes\ndef peek():\n    ctypes.string_at(16, 4)\npeek()\n")
    python = Path(sys.executable).resolve()
    answer = cli("crash", "--adapter", adapter, "--", python, script, check=0).out
    assert answer.startswith("crash: null pointer, at 0x10, in "), answer
    assert "< peek peeks.py:3 < <module> peeks.py:4" in answer


def _script(folder: Path, name: str, *lines: str) -> Path:
    file = folder / name
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        (
            "value.js",
            ("function f(n) { throw { code: n }; }", "f(4);"),
            ("crash: thrown value: { code: 4 }, in f value.js:1", "locals: n=4"),
        ),
        ("value.mjs", ("throw { a: 1 };",), ("crash: thrown value: { a: 1 }, in",)),
        ("syntax.js", ("let a = ;",), ("crash: SyntaxError: Unexpected token", "syntax.js:1")),
        (
            "causes.js",
            (
                "class Failed extends Error { code = 4; }",
                "function low() { throw new TypeError('low'); }",
                "try { low(); } catch (cause) { throw new Failed('top', { cause }); }",
            ),
            (
                "crash: Failed: top {code: 4}, in <anonymous> causes.js:3",
                "caused by: TypeError: low, in low causes.js:2",
            ),
        ),
        (
            "global.js",
            ("function f() { throw new (class E extends Error { x = this.y; })('m'); }", "f();"),
            ("crash: E: m {x: undefined}, in f global.js:1",),
        ),
        (
            "again.js",
            (
                "function makes() {",
                "  JSON.nosuch();",
                "}",
                "try { makes(); } catch (error) {",
                "  throw error;",
                "}",
            ),
            ("in makes again.js:2", "note: thrown on by <anonymous> again.js:5"),
        ),
        (
            "later.js",
            (
                "async function measures(chunk) { return chunk.code.length; }",
                "function wraps(error) { error.plugin = 'sizes'; throw error; }",
                "measures({}).catch((error) => wraps(error));",
            ),
            (
                "in measures later.js:1",
                "chunk.code=undefined",
                "note: thrown on by wraps later.js:2",
            ),
        ),
        (
            "deep.js",
            ("function down(n) { return down(n + 1) + 1; }", "down(0);"),
            ("crash: stack overflow", "note: V8 does not stop at a stack overflow"),
        ),
    ],
)
def test_what_ends_a_node_program_is_told_with_what_its_report_says(
    cli: Callable[..., Any],
    tmp_path: Path,
    name: str,
    lines: tuple[str, ...],
    says: tuple[str, ...],
) -> None:
    answer = cli("crash", "--", "node", _script(tmp_path, name, *lines), check=0).out
    assert all(one in answer for one in says), answer
    assert "debugger crash -- CMD" not in answer  # which this was


@pytest.mark.adapter("js-debug")
def test_an_error_is_not_taken_for_an_earlier_one_of_its_line_that_was_caught(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = _script(
        tmp_path,
        "caught.js",
        "const pick = (x) => x.a.b;",
        "try { pick({}); } catch (error) {}",
        "pick({ a: undefined });",
    )
    answer = cli("crash", "--no-why", "--", "node", script, check=0).out
    assert "by <anonymous> caught.js:3" in answer
    assert "thrown on" not in answer


@pytest.mark.adapter("js-debug")
def test_a_child_of_node_that_crashes_is_told_though_its_parent_ends_well(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = _script(
        tmp_path,
        "forks.js",
        "const { fork } = require('child_process');",
        "if (process.argv[2]) process.on('message', (m) => console.log(m.x.y));",
        "else fork(__filename, ['child']).send({ w: 2 });",
    )
    answer = cli("crash", "--", "node", script, check=0).out
    assert answer.startswith("crash: undefined: m.x is undefined"), answer
    assert "a process that the program started" in answer
    kept = cli("crash", "--keep", "--", "node", script, check=0).out
    assert "debugger stop --session crash (crash.1)" in kept, kept
    assert cli("print", "m").out.startswith("m = {w: 2}")


@pytest.mark.adapter("js-debug")
def test_a_module_is_kept_where_it_ended_by_a_second_run(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = _script(
        tmp_path,
        "module.mjs",
        "function f(o) { return o.price.x; }",
        "try { JSON.parse('{'); } catch {}",
        "f({});",
    )
    answer = cli("crash", "--keep", "--", "node", script, check=0).out
    assert answer.startswith("crash: undefined: o.price is undefined"), answer
    assert "it was run a second time" in answer
    assert cli("locals").out.startswith("o = {}")
    cli("stop")
    unreadable = _script(tmp_path, "reads.mjs", "import { x } from './module.mjs';")
    answer = cli("crash", "--keep", "--", "node", unreadable, check=0).out
    assert "in <module> reads.mjs:1" in answer
    assert "note: no session is kept" in answer
