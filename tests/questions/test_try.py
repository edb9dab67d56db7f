"""A change is tried at a stop, and the session stays where it was."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text
from mcp_client import connect_stdio

C = program_text("counted_lines/try.c")
PYTHON = program_text("counted_lines/try.py")
GO = program_text("counted_lines/try.go")
JS = """function add(order, count) {
  order.total += count;
  return order.total;
}
const order = { total: 0 };
for (let i = 0; i < 4; i++) {
  const now = add(order, i);
  console.log("round", i, now);
}
"""


def _line(text: str, part: str) -> int:
    (found,) = [number for number, one in enumerate(text.splitlines(), 1) if part in one]
    return found


def _c(part: str) -> str:
    return f"prog.c:{_line(C, part)}"


def _py(part: str) -> str:
    return f"prog.py:{_line(PYTHON, part)}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("try")
    for name, text in (("prog.c", C), ("prog.py", PYTHON), ("go/prog.go", GO), ("prog.js", JS)):
        (where / name).parent.mkdir(exist_ok=True)
        (where / name).write_text(text)
    (where / "go" / "go.mod").write_text("module prog\n\ngo 1.19\n")
    words = ["gcc", "-g", "-O0", "-w", "-o", "prog", "prog.c"]
    subprocess.run(words, cwd=where, check=True, timeout=60)
    return where


class SessionAtStop:
    """A session at a stop; what is tried in it leaves it there."""

    def __init__(self, cli: Callable[..., Any], folder: Path, *start: object) -> None:
        self.cli, self.folder = cli, folder
        self("start", *start)

    def __call__(self, *words: object, check: int = 0) -> Any:
        return self.cli(*map(str, words), cwd=self.folder, check=check, timeout=90)

    def observed(self) -> list[Any]:
        """Return what tells that nothing has moved: where it is, and all that it would say."""
        asked = (["status"], ["context"], ["sessions"])
        return [_without_refs(self("--json", *words).data["data"]) for words in asked]

    def tries(self, *words: object, check: int = 0) -> Any:
        """Try something, and check that the session is where it was."""
        before = self.observed()
        told = self("--json", "try", *words, check=check)
        assert self.observed() == before
        return told.data["data"] if check == 0 else told.data["error"]


def _without_refs(value: Any) -> Any:
    """Leave out the names of values, which count on with each look at them."""
    if isinstance(value, list):
        return [_without_refs(one) for one in value]
    if isinstance(value, dict):
        return {key: _without_refs(one) for key, one in value.items() if key != "ref"}
    return value


@pytest.mark.parametrize(
    "by",
    [
        pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap")),
        pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
        pytest.param(("--adapter", "codelldb"), marks=pytest.mark.adapter("codelldb")),
        pytest.param(("--backend", "lldb-cli"), marks=pytest.mark.adapter("lldb-dap")),
    ],
    ids=lambda by: by[1],
)
def test_values_are_set_in_a_second_run_and_a_function_returns_at_once(
    cli: Callable[..., Any], folder: Path, by: tuple[str, str]
) -> None:
    at = SessionAtStop(cli, folder, "prog", *by, "--break", _c("+= count * 10"))
    at("continue")
    words = ["count += 7; order->total=3", "--until", _c("return order->total")]
    told = at.tries(*words, "--expect", "order->total == 83")
    assert (told["expected"]["held"], told["reached"], told["differs"]) == (True, True, [])
    assert [one["previous"] for one in told["assigned"]] == ["1", "0"]
    assert {one["name"]: one["value"] for one in told["expected"]["operands"]} == {
        "order->total": "83"
    }
    # It crashes: that is an answer, and no trouble of the session's.
    told = at.tries("order->total=1000000", "--until", _c("return 3"), "--expect", "most > 0")
    assert (told["reached"], told["signal"], told["expected"]["held"]) == (False, "SIGSEGV", None)
    assert "was not reached: it stopped in main" in told["verdict"]
    assert [one["text"] for one in told["output"]][:2] == ["round 1: 1000010", "round 2: 1000030"]
    # Steps are made again, from the breakpoint's own hit.
    at("finish")
    at("next", "2")
    told = at.tries("order->total=5", "--until", _c('printf("round'), "--expect", "now == 25")
    assert (told["expected"]["held"], told["differs"]) == (True, [])
    at("breakpoint", "remove", "--all")
    at("break", "limit")
    at("continue")
    told = at.tries("return 77", "--until", _c("int *none"), "--expect", "most == 77")
    assert (told["expected"]["held"], told["returned"]) == (True, "77")
    at("stop")


@pytest.mark.parametrize(
    ("program", "place", "until", "expect"),
    [
        pytest.param("prog.js", 2, 8, "now == 50", marks=pytest.mark.adapter("js-debug")),
        pytest.param("./go", 7, 14, "i == 1", marks=pytest.mark.adapter("delve")),
    ],
)
def test_other_languages_are_tried_too(  # noqa: PLR0917 - the parameters of a row
    cli: Callable[..., Any], folder: Path, program: str, place: int, until: int, expect: str
) -> None:
    file = "prog.go" if program == "./go" else program
    at = SessionAtStop(cli, folder, program, "--break", f"{file}:{place}")
    at("continue")
    told = at.tries("count=50", "--until", f"{file}:{until}", "--expect", expect)
    assert (told["expected"]["held"], told["assigned"][0]["value"]) == (True, "50")
    assert any("in a register" in note for note in told["notes"]) == (program == "./go")
    assert "cannot make a function return" in at.tries("return 1", check=1)["message"]
    at("stop")


@pytest.mark.adapter("debugpy")
def test_what_does_not_hold_and_what_cannot_be_known_is_told(
    cli: Callable[..., Any], folder: Path
) -> None:
    add, done = _py("+= count * 10"), _py('print("done")')
    at = SessionAtStop(cli, folder, "prog.py", "--break", add)
    at("continue")
    # All that a program has of its own time or chance may be otherwise: that is said.
    told = at.tries("count=50", "--until", done, "--expect", "order.total == 3")
    assert told["expected"]["held"] is False
    assert told["verdict"] == "order.total == 3 does not hold (order.total=550)"
    # The object has it, too.
    assert [one["name"] for one in told["differs"]] == ["noise", "self"]
    told = at.tries("count=1000", "--until", done, "--expect", "order.total")
    assert (told["reached"], told["exception"]["type"]) == (False, "ValueError")
    told = at.tries("count=5", "--expect", "nosuch > 1")
    assert "it cannot be evaluated there: NameError" in told["expected"]["problem"]
    told = at.tries("count=5", "--until", done, "--expect", "order")
    assert told["expected"]["held"] is True  # what Python takes for true
    assert "no code at" in at.tries("count=5", "--until", 999, check=1)["message"]
    assert "nosuch" in at.tries("nosuch=5", "--until", done, check=1)["message"]
    # A breakpoint that came later than the run: the time is known by the values.
    at("breakpoint", "remove", "--all")
    at("break", _py('print("round'))
    at("continue")
    at("continue")
    told = at.tries("order.total=1", "--expect", "i == 3")
    assert (told["expected"]["held"], told["output"][0]["text"]) == (True, "round 2 1")
    at("breakpoint", "remove", "--all")
    told = at.tries("order.total=1001")
    assert told["verdict"].endswith("(ValueError: 1031)")
    # In the session itself it is not undone.
    told = at("--json", "try", "order.total=1", "--until", done, "--here").data["data"]
    assert told["is_here"]
    assert at("print", "order.total").out == "order.total = 31\n"
    at("stop")


@pytest.mark.adapter("debugpy")
def test_bad_words_are_refused(cli: Callable[..., Any], folder: Path) -> None:
    assert "no debug session" in cli("try", "x=3", cwd=folder, check=4).err
    at = SessionAtStop(cli, folder, "prog.py", "--break", "add")
    assert "expected NAME=VALUE or return VALUE" in at("try", "x", check=2).err
    assert "expected a change to try, such as 'x=3'" in at("try", check=2).err
    assert "--timeout is in seconds" in at("try", "count=3", "--timeout", "-1", check=2).err
    assert "no line in" in at("try", "count=3", "--until", "prog.py:1x", check=2).err
    at("stop")


@pytest.mark.adapter("lldb-dap")
def test_what_cannot_run_again_is_refused_and_tried_in_place(
    cli: Callable[..., Any], folder: Path
) -> None:
    at = SessionAtStop(cli, folder, "prog", "--break", "add")
    at("input", "a line")
    refused = at.tries("count=3", check=1)
    assert (refused["code"], "typed for it" in refused["message"]) == ("NOT_SUPPORTED", True)
    assert "--here" in refused["hint"]
    told = at("--json", "try", "count=3", "--here").data["data"]
    assert (told["is_here"], told["state"]) == (True, "stopped")
    at("breakpoint", "remove", "--all")
    at("continue")
    assert "the program has ended" in at("try", "count=3", check=4).err
    at("stop")


@pytest.mark.adapter("debugpy")
async def test_the_tool_answers(runtime_dir: Path, folder: Path) -> None:
    async with connect_stdio() as agent:
        await agent.call(
            "debug_launch", command=str(folder / "prog.py"), breakpoints=[_py("+= count * 10")]
        )
        told = await agent.call(
            "debug_try", changes=["count=50"], until=_py('print("round'), expect="order.total > 1"
        )
        assert told.data["held"] is True
        assert told.data["verdict"].startswith("order.total > 1 holds")
        assert "prog" in (await agent.call("debug_session")).text
        await agent.call("debug_session", action="stop")
