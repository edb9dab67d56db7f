"""`path`, `calls` and `diff` answer whatever the program does, and leave nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text
from mcp_client import connect_stdio

SCRIPT = program_text("counted_lines/recorded.py")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "script.py"
    path.write_text(SCRIPT)
    return path


def words(script: Path, *rest: str) -> list[str]:
    return [sys.executable, str(script), *rest]


@pytest.mark.parametrize(
    ("rest", "says"),
    [
        (["order", "a", "free"], "order(kinds=('a', 'free')) :7 → 1"),
        (["fail", "a"], "raised ValueError: no a"),
        (["many"], "order(kinds=['a', 'b']) :7 x3,000 → 2"),
        (["thread", "a"], "order(kinds=('a',)) :7 → 1"),
        (["moves", "a"], "order(kinds=('a',)) :7 → 1"),
        (["killed", "a"], "ended by signal SIGKILL"),
        (["forked", "a"], "ran 2 functions, which are not told here"),
        (["loud"], "characters, the last:"),
        (["reads"], "order(kinds=['']) :7 → 0"),
    ],
)
def test_the_path_of_whatever_runs_is_told(
    cli: Callable[..., Any], script: Path, rest: list[str], says: str
) -> None:
    answer = cli("path", "--", *words(script, *rest), check=0)
    assert says in answer.out, str(answer)
    assert len(answer.out) <= 4001
    assert cli("sessions", check=0).out == "no sessions\n"


POOL = Path(__file__).parent.parent / "programs" / "recorded" / "worker_fails.py"


@pytest.mark.parametrize(
    ("said", "head", "says"),
    [
        ("path", "path: exited with status 1", "path --process failing shows what"),
        ("path --process failing", "path of process 2 (pid ", "half(amount=1..4) :6 x4"),
        ("path --around score", "path of process 2 (pid ", "worker_fails.py:10 was called 4"),
        ("calls score", "calls: score was called 4 times", "score(amount=3, parts=0) raised"),
    ],
)
def test_child_processes_can_be_asked_about(
    cli: Callable[..., Any], said: str, head: str, says: str
) -> None:
    answer = cli(*said.split(), "--", sys.executable, POOL, check=0)
    assert answer.out.startswith(head), str(answer)
    assert says in answer.out, str(answer)


def test_a_process_that_is_not_there_is_refused(cli: Callable[..., Any], script: Path) -> None:
    words_ = words(script, "order", "a")
    assert "there is no process 3: 1 process" in cli("path", "--process", "3", "--", *words_).err
    failing = cli("path", "--process", "failing", "--", *words_).err
    assert "no exception left a function in 1 process" in failing
    assert "--process is failing, or a number" in cli("path", "--process", "x", "--", *words_).err


def test_standard_input_is_given(cli: Callable[..., Any], script: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("abc\n")
    answer = cli("path", "--stdin", tmp_path / "in", "--", *words(script, "reads"), check=0)
    assert "order(kinds=['abc']) :7 → 3" in answer.out


def test_what_never_ends_is_told_in_part_and_is_ended(
    cli: Callable[..., Any], script: Path
) -> None:
    answer = cli("path", "--timeout", "3", "--", *words(script, "spin"), check=3)
    assert "still running after 3." in answer.out
    assert "spin :17" in answer.out
    assert "had not ended" in answer.out


def test_a_call_that_does_not_end_is_told_as_far_as_it_came(
    cli: Callable[..., Any], script: Path
) -> None:
    answer = cli("calls", "spin", "--timeout", "3", "--", *words(script, "spin"), check=3)
    assert "1 call of spin; still running after 3." in answer.out
    assert "#1 spin() was not seen to end" in answer.out


def test_the_way_to_a_function_is_told(cli: Callable[..., Any], script: Path) -> None:
    answer = cli("path", "--around", "price", "--", *words(script, "order", "a", "b"), check=0)
    assert "price script.py:3 was called 2 times, by:" in answer.out
    assert "> main script.py:29 > order script.py:10 x2" in answer.out


def test_what_ran_between_two_functions_is_told(cli: Callable[..., Any], script: Path) -> None:
    said = words(script, "order", "a", "b")
    data = cli("path", "--json", "--between", "order", "price", "--", *said).data["data"]
    assert [one["function"] for one in data["rows"]] == ["<module>", "main", "order", "price"]
    assert data["between"] == ["order", "price"]
    refused = cli("path", "--between", "price", "--", *said, check=2)
    assert refused.err.startswith("error: path: --between needs a value\n")
    answer = cli("path", "--between", "price", "fail", "--", *said, check=0)
    assert "fail was not called after price" in answer.out


def test_what_only_a_failing_run_passed_is_most_suspicious(
    cli: Callable[..., Any], script: Path
) -> None:
    bad, good = words(script, "fail", "a"), words(script, "order", "a")
    answer = cli("path", "--", *bad, "--vs", *good, check=0)
    assert "1 failing run, 1 passing" in answer.out
    data = cli("path", "--json", "--", *bad, "--vs", *good).data["data"]
    assert data["suspects"][0]["function"] == "fail"
    assert data["suspects"][0]["score"] == 1.0
    lines = {(one["line"], one["last"]) for one in data["suspect_lines"]}
    assert any(first <= 14 <= last for first, last in lines)


def test_runs_that_end_alike_are_compared_and_that_is_said(
    cli: Callable[..., Any], script: Path
) -> None:
    said = words(script, "order", "a")
    answer = cli("path", "--", *said, "--vs", *said, check=0)
    assert "all runs passed: the first counts as the one that is wrong" in answer.out
    assert "all runs came to the same functions and lines of their own code;" in answer.out


def test_a_call_is_told_line_by_line(cli: Callable[..., Any], script: Path) -> None:
    answer = cli("calls", "order", "--", *words(script, "order", "a", "free", "bcd"), check=0)
    assert "#1 order(kinds=('a', 'free', 'bcd')) → 4 script.py:7" in answer.out
    assert "loop at 9: 3 rounds" in answer.out
    assert "total=1..4" in answer.out
    assert "price(kind='a') script.py:3 → 1" in answer.out


def test_calls_are_chosen_by_number_and_by_condition(cli: Callable[..., Any], script: Path) -> None:
    said = words(script, "order", "a", "free", "bcd")
    assert "#3 price(kind='bcd') → 3" in cli("calls", "price", "--nth", "3", "--", *said).out
    answer = cli("calls", "price", "--when", "kind == 'free'", "--", *said, check=0)
    assert "price was called 3 times, 1 shown line by line" in answer.out
    assert 'branch 4 if kind == "free": → 5 x1' in answer.out
    answer = cli("calls", "price", "--when", "nosuch", "--", *said, check=0)
    assert "no such call is among them" in answer.out
    assert "--when could not be evaluated 3 times: NameError" in answer.out


def test_of_many_calls_some_are_told_and_all_are_counted(
    cli: Callable[..., Any], script: Path
) -> None:
    answer = cli("calls", "order", "--limit", "1", "--", *words(script, "many"), check=0)
    assert "order was called 3,000 times, 1 shown line by line" in answer.out
    assert "#2 order(kinds=['a', 'b']) → 2" in answer.out


def test_the_call_that_raised_is_among_those_told(cli: Callable[..., Any], script: Path) -> None:
    answer = cli("calls", "fail", "--", *words(script, "fail", "a"), check=0)
    assert "#1 fail(kinds=('a',)) raised ValueError: no a at line 1" in answer.out


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (["calls", "forked"], "forked was not called: it is forked in "),
        (["calls", "oder"], "no function oder ran; there is order"),
        (["path", "--around", "script.py:18"], "no function with script.py:18 ran"),
        (["diff", "--function", "spin", "--vs-stdin", "/dev/null"], "spin was not called"),
    ],
)
def test_what_did_not_run_is_named(
    cli: Callable[..., Any], script: Path, said: list[str], says: str
) -> None:
    answer = cli(*said, "--", *words(script, "order", "a"), cwd=script.parent, check=1)
    assert says in answer.err, str(answer)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (["calls", "order", "--nth", "0"], "--nth counts from 1"),
        (["calls", "order", "--depth", "99"], "--depth is 0 to 20"),
        (["calls", "order", "--limit", "0"], "--limit is 1 to 50"),
        (["calls", "order", "--when", "a b"], "is not a Python expression"),
        (["path", "--around", "order", "--vs", "x"], "--vs compares whole runs"),
        (["diff"], "two commands are compared, not 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    cli: Callable[..., Any], script: Path, said: list[str], says: str
) -> None:
    if "x" in said:
        said = [*said[:-1], f"{sys.executable} {script} order a"]
    answer = cli(*said, "--", *words(script, "order", "a"), check=2)
    assert says in answer.err, str(answer)


def test_where_two_runs_part_is_told_with_the_value_that_differed_first(
    cli: Callable[..., Any], script: Path
) -> None:
    a, b = words(script, "order", "a", "free"), words(script, "order", "a", "bcd")
    answer = cli("diff", "--", *a, "--vs", *b, check=0)
    assert "at script.py:4 in price" in answer.out.splitlines()[0]
    assert "kind: 'free' / 'bcd'  (given to price script.py:3)" in answer.out
    assert "then A:\n  script.py:5  return 0" in answer.out
    assert "then B:\n  script.py:6  return len(kind)" in answer.out
    one = cli("diff", "--function", "price", "--", *a, "--vs", *b, check=0)
    assert "the runs of price part after" in one.out


def test_runs_that_do_the_same_are_told_so(cli: Callable[..., Any], script: Path) -> None:
    said = words(script, "order", "a")
    answer = cli("diff", "--", *said, "--vs", *said, check=0)
    assert "both runs did the same" in answer.out
    assert "with the same values" in answer.out


def test_one_program_is_compared_with_two_inputs(
    cli: Callable[..., Any], script: Path, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text("free\n")
    answer = cli("diff", "--vs-stdin", tmp_path / "in", "--", *words(script, "reads"), check=0)
    assert "kinds: [''] / ['free']" in answer.out


def test_a_source_before_and_after_a_change_is_compared(
    cli: Callable[..., Any], script: Path, tmp_path: Path
) -> None:
    changed = SCRIPT.replace("def price", "LATER = 1\ndef price").replace("return 0", "return 5")
    (tmp_path / "script.py").write_text(changed)
    b = [sys.executable, str(tmp_path / "script.py"), "order", "free"]
    answer = cli("diff", "--function", "order", "--", *words(script, "order", "free"), "--vs", *b)
    assert "both runs passed the same lines" in answer.out, str(answer)
    assert "with different values" in answer.out.splitlines()[0]
    assert "returned: 0 / 5  (from price script.py:3)" in answer.out


def test_an_answer_is_evidence_that_its_command_asks_again(
    cli: Callable[..., Any], script: Path
) -> None:
    said = words(script, "order", "a")
    cli("calls", "order", "--nth", "1", "--", *said, check=0)
    cli("path", "--around", "order", "--", *said, check=0)
    listed = cli("evidence", check=0).out
    assert "debugger calls order --nth 1 -- " in listed
    assert "debugger path --around order -- " in listed


async def test_the_tools_of_an_agent_answer_the_same(runtime_dir: Path, script: Path) -> None:
    said = words(script, "order", "a", "free")
    # In the script's folder: a name that did not run is looked for in all sources below.
    async with connect_stdio(toolset="all", cwd=script.parent) as agent:
        told = await agent.call("debug_path", command=said)
        assert "order(kinds=('a', 'free'))" in told.text
        assert told.data["path"]["runs"][0]["exit_code"] == 0
        told = await agent.call("debug_calls", function="order", command=said, nth=1)
        assert told.data["calls"]["lives"][0]["value"] == "1"
        other = f"{sys.executable} {script} order a bcd"
        told = await agent.call("debug_diff", command=said, versus=other)
        assert told.data["diff"]["left"][0]["text"] == "return 0"
        assert "no function nosuch ran" in await agent.refused(
            "debug_path", command=said, around="nosuch"
        )


HOT = """
static volatile long seen;
__attribute__((noinline)) long leaf(long i) { return seen += i; }
__attribute__((noinline)) long hot(long i) { return leaf(i) + 1; }
int main(void) {
    long sum = 0;
    for (long i = 0; i < 200000; i++) sum += hot(i);
    return sum == 0;
}
"""
NATIVE = program_text("counted_lines/recorded_native.c")


@pytest.fixture(scope="module")
def native(compile_program: Callable[..., Path]) -> Path:
    return compile_program(NATIVE, name="shop")


@pytest.mark.adapter("frida")
def test_the_path_of_a_native_program_is_told_by_its_traced_calls(
    cli: Callable[..., Any], native: Path
) -> None:
    answer = cli("path", "--", native, "a", "free", check=0)
    assert "order(kinds=" in answer.out
    assert "price(kind=" in answer.out
    assert "x2 → 0..1" in answer.out
    assert "total 1" in answer.out
    answer = cli("path", "--around", "price", "--", native, "a", check=0)
    assert "price shop.c:5 was called 1 time, by:\n  order shop.c:10" in answer.out
    # In a folder of its own: other programs' sources below would have an `unused`, too.
    answer = cli("path", "--around", "unused", "--", native, cwd=native.parent)
    assert "unused was not called" not in answer.err
    assert "ended by signal SIGABRT" in cli("path", "--", native, "a" * 9, check=0).out
    assert cli("sessions", check=0).out == "no sessions\n"


@pytest.mark.adapter("frida")
def test_calls_that_were_too_many_to_be_told_are_counted_and_said_to_be_so(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    answer = cli("path", "--", compile_program(HOT, name="hot"), check=0)
    assert "400,000 calls of 2 functions" in answer.out
    assert "hot.c:4 x200,000" in answer.out
    assert "note: sampled, for they are called too often: " in answer.out


@pytest.mark.adapter("frida")
def test_runs_of_a_native_program_are_compared(cli: Callable[..., Any], native: Path) -> None:
    answer = cli("path", "--", native, "abcdef", "--vs", native, "a", check=0)
    assert "shop.c:18  static int unused(int n) { return n; }" in answer.out
    answer = cli("diff", "--", native, "abcdef", "--vs", native, "a", check=0)
    assert "returned: 6 / 1  (from price shop.c:5)" in answer.out
    assert "call of unused(n=1)" in answer.out


@pytest.mark.adapter("frida")
@pytest.mark.adapter("lldb-dap")
def test_of_a_native_program_it_is_said_that_lines_and_main_are_not_recorded(
    cli: Callable[..., Any], native: Path
) -> None:
    words = [native, "ab"]
    note = "its calls were recorded, not lines, nor main itself"
    answer = cli("diff", "--", *words, "--vs", *words, check=0)
    assert "both runs made the same calls" in answer.out
    assert note in answer.out
    answer = cli("path", "--around", "main", "--", *words, check=1)
    assert "the calls that main makes are recorded, not main itself" in answer.err
    answer = cli("calls", "main", "--", *words, check=0)
    assert "what main called is told by debugger path -- CMD" in answer.out
    assert "inlined" not in answer.out


@pytest.mark.adapter("frida")
@pytest.mark.adapter("lldb-dap")
def test_what_a_call_of_a_native_program_called_is_told_by_a_second_run(
    cli: Callable[..., Any], native: Path
) -> None:
    answer = cli("calls", "order", "--", native, "a", "free", check=0)
    assert "order was called 1 time" in answer.out
    assert '  called:\n    price(kind="a" | "free") shop.c:5 x2 → 0..1' in answer.out
    assert "→ 1 shop.c:11" in answer.out  # what came of it, which stepping does not tell
    assert "what it called is of a second run" in answer.out
    answer = cli("calls", "order", "--when", "count > 0", "--", native, "a", check=0)
    assert "is not reported of filtered calls" in answer.out


CROWD = program_text("counted_lines/recorded_crowd.c")


@pytest.mark.adapter("frida")
@pytest.mark.adapter("lldb-dap")
def test_other_threads_do_not_come_into_a_call_that_is_stepped_through(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    crowd = compile_program(CROWD, "-pthread", name="crowd")
    answer = cli("calls", "run", "--", crowd, check=0)
    assert "sum=0 → 8" in answer.out
    assert "another thread" not in answer.out
    answer = cli("calls", "add", "--", crowd, check=0)
    assert "#1 add(n=7) → 8" in answer.out  # of one line: LLDB stops before its arguments are there
    answer = cli("path", "--", crowd, check=0)
    assert "ended what the program left running" in answer.out
    assert "await" not in answer.out


@pytest.mark.adapter("lldb-dap")
def test_a_call_of_a_native_program_is_stepped_through(
    cli: Callable[..., Any], native: Path
) -> None:
    answer = cli("calls", "order", "--", native, "a", "bc", check=0)
    assert "order was called 1 time; exited with status 0" in answer.out
    assert "\n#1 order(" in answer.out
    assert "total=1 → 3" in answer.out
    assert ": 2 rounds; at=0..1 more=0..2 total=1..3" in answer.out
    answer = cli("calls", "price", "--nth", "2", "--", native, "a", "free", check=0)
    assert "#2 price(kind=" in answer.out
    assert "7  return 0;" in answer.out
    assert "was not called" in cli("calls", "unused", "--", native, "a", check=1).err
    assert cli("sessions", check=0).out == "no sessions\n"
