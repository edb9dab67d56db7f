"""`who-wrote` names the last writer of a value, and all others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker, program_text

C = program_text("counted_lines/who_wrote.c")
GO_LATER = """package main

type stats struct{ n int }

func (s *stats) add() {
	s.n++
}
func made() *stats { return &stats{} }

func main() {
	s := made()
	for i := 0; i < 4; i++ {
		s.add()
	}
}
"""


@pytest.fixture(scope="module")
def program(compile_program: Callable[..., Path]) -> Path:
    return compile_program(C)


def _line(text: str, part: str) -> int:
    (found,) = [number for number, one in enumerate(text.splitlines(), 1) if part in one]
    return found


def _wrote(cli: Callable[..., Any], *words: object, cwd: Path | None = None) -> dict[str, Any]:
    told = cli("who-wrote", "--json", *map(str, words), check=0, cwd=cwd, timeout=90)
    data: dict[str, Any] = told.data["data"]
    assert cli("sessions", check=0).out == "no sessions\n"
    return data


@pytest.mark.parametrize(
    "adapter", [pytest.param(one, marks=pytest.mark.adapter(one)) for one in ("lldb-dap", "gdb")]
)
def test_a_write_past_the_end_of_another_field_is_found(
    cli: Callable[..., Any], program: Path, adapter: str
) -> None:
    answer = _wrote(
        cli,
        "order->total",
        "--at",
        "check",
        "--adapter",
        adapter,
        "--",
        program,
        cwd=program.parent,
    )
    at = _line(C, "*to = 0;")
    assert answer["cause"].endswith(f"in name prog.c:{at}"), answer
    assert (answer["writes"], answer["later"]) == (7, 1)
    first, *_, last, after = answer["writers"]
    assert (first["frame"]["function"], first["count"]) == ("add", 5)
    assert (first["old"], first["final_new"]) == ("0", "1500")
    assert (last["last"], after["after"]) == (True, True)
    assert answer["notes"] == []


@pytest.mark.adapter("lldb-dap")
def test_a_local_is_watched_from_its_function_on_and_through_its_address(
    cli: Callable[..., Any], program: Path
) -> None:
    at = _line(C, "return number;")
    answer = _wrote(cli, "number", "--at", f"prog.c:{at}", "--", program, cwd=program.parent)
    places = [(one["frame"]["function"], one["new"]) for one in answer["writers"]]
    assert places == [("local", "3"), ("twice", "6"), ("local", "7")]
    assert answer["value"] == "7"


GLOBAL = """
static struct { int state, other; } g;
static void reset(void) { g.state = 0; }
int main(void) {
    for (int i = 0; i < 3; i++)
        reset();
    g.other = 5;
    return g.state;
}
"""
GO_GLOBAL = """
package main

var state, other int
var kept *int

func main() {
	kept = new(int)
	*kept = 4
	state = 0
	other = 5
	println(state, other)
}
"""
NATIVE = [
    pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
    pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap")),
    pytest.param(("--backend", "frida"), marks=pytest.mark.adapter("frida")),
]


@pytest.mark.parametrize("by", NATIVE)
def test_a_global_that_got_the_same_value_again_is_not_said_to_be_unwritten(
    cli: Callable[..., Any], compile_program: Callable[..., Path], by: tuple[str, str]
) -> None:
    path = compile_program(GLOBAL)
    at = f"{path.name}.c:{_line(GLOBAL, 'return g')}"
    same = _wrote(cli, "g.state", "--at", at, *by, "--", path, cwd=path.parent)
    assert same["cause"].endswith(
        "nothing was seen to change it; a write of the value that it has already is not seen"
    )
    other = _wrote(cli, "g.other", "--at", at, *by, "--", path, cwd=path.parent)
    assert other["cause"].endswith(f"0 → 5, in main {path.name}.c:{_line(GLOBAL, 'other = 5')}")


@pytest.mark.adapter("delve")
def test_the_line_of_go_that_wrote_is_named_and_not_the_next(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "wrote.go").write_text(GO_GLOBAL)
    at = f"wrote.go:{_line(GO_GLOBAL, 'println')}"
    answer = _wrote(cli, "main.other", "--at", at, "--", tmp_path / "wrote.go", cwd=tmp_path)
    assert answer["cause"].endswith(f"0 → 5, in main.main wrote.go:{_line(GO_GLOBAL, '= 5')}")
    heap = _wrote(cli, "*main.kept", "--at", at, "--", tmp_path / "wrote.go", cwd=tmp_path)
    assert not any("--adapter gdb" in one for one in heap["notes"])


@pytest.mark.adapter("delve")
def test_all_writes_behind_the_place_are_counted_in_go(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "later.go").write_text(GO_LATER)
    answer = _wrote(cli, "s.n", "--at", "add", "--", tmp_path / "later.go", cwd=tmp_path)
    assert answer["later"] == 4
    assert answer["cause"].startswith("s.n=0 at add: no change before it was seen")


@pytest.mark.adapter("lldb-dap")
def test_the_nth_time_and_an_end_bound_what_is_told(cli: Callable[..., Any], program: Path) -> None:
    words = ["all", "--at", "add", "--hit", "3", "--until", "name", "--", program]
    answer = _wrote(cli, *words, cwd=program.parent)
    assert (answer["value"], answer["writes"], answer["later"]) == ("2", 2, 3)
    words = ["all", "--at", "add", "--when", "all == 2", "--until", "name", "--", program]
    answer = _wrote(cli, *words, cwd=program.parent)
    assert (answer["value"], answer["writes"], answer["later"]) == ("2", 2, 3)
    words = ["all", "--at", "check", "--limit", "2", "--", program]
    assert any("--limit" in one for one in _wrote(cli, *words, cwd=program.parent)["notes"])


PASSED = program_text("counted_lines/who_wrote_passed.c")


NATIVE = [
    pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap")),
    pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
    pytest.param(("--adapter", "codelldb"), marks=pytest.mark.adapter("codelldb")),
    pytest.param(("--backend", "lldb-cli"), marks=pytest.mark.adapter("lldb-dap")),
]


@pytest.mark.parametrize("by", NATIVE, ids=lambda by: by[1])
def test_a_parameter_that_nothing_wrote_was_passed_by_the_caller(
    cli: Callable[..., Any], compile_program: Callable[..., Path], by: tuple[str, str]
) -> None:
    program = compile_program(PASSED)

    def asked(*words: str) -> dict[str, Any]:
        words = (*words, *by, "--", str(program))
        return _wrote(cli, *words, cwd=program.parent)

    at = _line(PASSED, "sum += average(")
    # Each of the calls has its parameter at the same place.
    answer = asked("total", "--at", "average", "--hit", "2")
    assert answer["cause"] == (
        f"total=3 was passed at prog.c:{at} as sum + i: average(sum + i, i)"
    ), answer
    assert (answer["frame"]["function"], answer["frame"]["line"]) == ("main", at)
    assert (answer["writes"], answer["later"], answer["notes"]) == (0, 0, [])
    answer = asked("left", "--at", "deep", "--hit", "3")
    at = _line(PASSED, "return deep(left")
    assert answer["cause"] == f"left=1 was passed at prog.c:{at} as left - 1: deep(left - 1)"
    # The second call begins with what the first has left there.
    answer = asked("total", "--at", f"prog.c:{_line(PASSED, 'total += 1')}", "--hit", "2")
    assert answer["cause"].endswith("as 4: moved(4)"), answer
    assert (answer["writes"], answer["later"]) == (0, 1)
    answer = asked("total", "--at", f"prog.c:{_line(PASSED, 'return total')}")
    at = _line(PASSED, "total += 1")
    assert answer["cause"].endswith(f"was last written: 3 → 4, in moved prog.c:{at}"), answer


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize(
    ("words", "says", "status"),
    [
        (["total"], "hint: debugger who-wrote total --at LOC", 2),
        (["prog.c:3", "total"], "hint: debugger who-wrote total --at prog.c:3 -- ./program", 2),
        (["nosuch", "--at", "check", "--", "./prog"], "nosuch", 1),
        (["all", "--at", "nosuch", "--", "./prog"], "no function nosuch in the program", 1),
        (["all", "--at", "add", "--hit", "99", "--", "./prog"], "not reached 99 times, but 6", 1),
        (["all", "--at", "add", "--limit", "0", "--", "./prog"], "--limit is 1 to", 2),
        (["all", "--at", "add", "--when", "all > 99", "--", "./prog"], "with all > 99 was not", 1),
        (["1 + 1", "--at", "add", "--", "./prog"], "error: ", 1),
    ],
)
def test_what_cannot_be_answered_says_why(
    cli: Callable[..., Any], program: Path, words: list[str], says: str, status: int
) -> None:
    assert says in cli("who-wrote", *words, check=status, cwd=program.parent).err
    assert cli("sessions", check=0).out == "no sessions\n"


PYTHON = program_text("counted_lines/who_wrote.py")


@pytest.mark.parametrize(
    ("expression", "at", "value", "function", "writes"),
    [
        ("stock.total", "audit", "1", "restore", 5),
        ("stock.shelves['a']", "audit", "5", "fill", 2),
        ("expected", "script.py:17", "6", "audit", 2),
    ],
)
def test_the_assignments_of_one_object_are_told_and_no_others(  # noqa: PLR0917 - parameters
    cli: Callable[..., Any],
    tmp_path: Path,
    expression: str,
    at: str,
    value: str,
    function: str,
    writes: int,
) -> None:
    (tmp_path / "script.py").write_text(PYTHON)
    words = [expression, "--at", at, "--", sys.executable, "script.py"]
    answer = _wrote(cli, *words, cwd=tmp_path)
    assert (answer["value"], answer["writes"]) == (value, writes), answer
    assert answer["frame"]["function"].endswith(function)
    (last,) = [one for one in answer["writers"] if one["last"]]
    assert last["final_new"] == value


CALLS = program_text("counted_lines/who_wrote_calls.py")


@pytest.mark.parametrize(
    ("words", "cause", "line"),
    [
        (
            ["total", "--at", "average", "--hit", "2"],
            "total=12 was passed at script.py:{} as 10 + i: average(10 + i, n=i)",
            "average(10 + i",
        ),
        (
            ["n", "--at", "average", "--hit", "4"],
            "n=1 is its default, as the call at script.py:{} does not give it: average(7)",
            "average(7)",
        ),
        (
            ["item", "--at", "Box.put"],
            'item=\'a\' was passed at script.py:{} as "a": put("a", 1)',
            "Box().put",
        ),
        (
            ["total", "--at", "average", "--hit", "5"],
            "total=1 came with the call at script.py:{}: list(map(average, [1]))",
            "map(average",
        ),
        (
            ["total", "--at", "script.py:6"],
            "total=6 at script.py:6 was last written: 5 → 6, in moved script.py:{}",
            "total += 1",
        ),
    ],
)
def test_a_parameter_of_python_that_nothing_wrote_was_passed_by_the_caller(
    cli: Callable[..., Any], tmp_path: Path, words: list[str], cause: str, line: str
) -> None:
    (tmp_path / "script.py").write_text(CALLS)
    answer = _wrote(cli, *words, "--", sys.executable, "script.py", cwd=tmp_path)
    at = _line(CALLS, line)
    assert answer["cause"] == cause.format(at), answer
    assert answer["frame"]["line"] == at


def test_a_condition_says_which_time_is_meant(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PYTHON)
    words = ["self.total", "--at", "Stock.add", "--when", "count == 3 and self.total == 3"]
    answer = _wrote(cli, *words, "--", sys.executable, "script.py", cwd=tmp_path)
    before = [one for one in answer["writers"] if not one["after"]]
    assert (answer["value"], before[-1]["final_new"]) == ("3", "3"), answer


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["stock.total", "--at", "audit", "--when", "nosuch"], "could not be evaluated: NameError"),
        (["stock.total", "--at", "audit", "--when", "1 +"], "is not a Python expression"),
        (["total", "--at", "audit"], "there is no total at audit"),
        (["stock.total", "--at", "nosuch"], "nosuch was not reached"),
        (["stock.sum()", "--at", "audit"], "cannot be watched"),
    ],
)
def test_what_python_does_not_have_is_said(
    cli: Callable[..., Any], tmp_path: Path, words: list[str], says: str
) -> None:
    (tmp_path / "script.py").write_text(PYTHON)
    answer = cli("who-wrote", *words, "--", sys.executable, "script.py", cwd=tmp_path)
    assert answer.exit != 0
    assert says in answer.err


@pytest.mark.adapter("js-debug")
def test_writes_of_a_variable_of_node_are_recorded(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "prog.js").write_text(
        "let sum = 1;\nsum += 2;\nfunction show(r) {\n  return r + sum;\n}\nshow(4);\n"
    )
    command = ("--", "node", "prog.js")
    answer = _wrote(cli, "sum", "--at", "prog.js:4", *command, cwd=tmp_path)
    assert [one["frame"]["line"] for one in answer["writers"]] == [1, 2]
    assert (answer["writers"][-1]["old"], answer["writers"][-1]["new"]) == ("1", "3")
    assert answer["method"] == "its own scripts rewritten to record writes, in one run"
    assert answer["notes"] == []
    passed = _wrote(cli, "r", "--at", "prog.js:4", *command, cwd=tmp_path)
    assert passed["cause"] == "r=4 was passed at prog.js:6 as 4: show(4)"
    # A function's name is no place of the recorder: breakpoints are set then.
    answer = _wrote(cli, "sum", "--at", "show", *command, cwd=tmp_path)
    assert [one["frame"]["line"] for one in answer["writers"]] == [2]
    assert "breakpoints at 1 line " in answer["method"]
    assert "line 1 of prog.js may write it, too, and was not watched" in answer["notes"]
    assert any("every variable sum" in one for one in answer["notes"])
    words = ["who-wrote", "nosuch.field", "--at", "prog.js:4", *command]
    failed = cli(*words, cwd=tmp_path, check=1)
    assert "nosuch.field has no value at prog.js:4: nosuch is not defined" in failed.err


WRITES = Path(__file__).parent.parent / "programs" / "recorded" / "writes.py"
AWAITED = WRITES.parents[1] / "why" / "awaited.py"


def _python_writes(cli: Callable[..., Any], expression: str, after: str) -> list[str]:
    """Return each write before a place as `LINE old → new`."""
    source = WRITES.read_text()
    at = f"writes.py:{_line(source, f'# after {after}')}"
    answer = _wrote(cli, expression, "--at", at, "--", sys.executable, WRITES, cwd=WRITES.parent)
    assert answer["notes"] == []
    lines = source.splitlines()
    return [
        f"{lines[one['frame']['line'] - 1].strip()}: {one['old']} → {one['final_new']}"
        for one in answer["writers"]
        if not one["after"]
    ]


def test_a_change_within_a_container_is_the_line_s_that_made_it(cli: Callable[..., Any]) -> None:
    assert _python_writes(cli, "STATE['a']", "all") == [
        'STATE = {"a": []}: None → []',
        'list_of("a").append(3): [] → [3]',
    ]
    assert _python_writes(cli, "some", "containers")[1:] == ["some.discard(1): {1, 2} → {2}"]
    assert _python_writes(cli, "matrix", "containers")[1:] == [
        "matrix[0][1] = 9: [[1, 2], [3, 4]] → [[1, 9], [3, 4]]"
    ]


def test_each_binding_and_each_change_of_a_loop_s_name_is_counted(
    cli: Callable[..., Any],
) -> None:
    assert _python_writes(cli, "row", "rows") == [
        "for row in made:: None → {'qty': 2}",
        "row[\"qty\"] *= 10: {'qty': 1} → {'qty': 20}",
    ]


def test_a_field_is_followed_from_its_making_on_however_it_is_written(
    cli: Callable[..., Any],
) -> None:
    assert _python_writes(cli, "item.qty", "fields") == [
        'item = Item("a"): None → 1',
        "item.qty = 5: 1 → 5",
        'vars(item)["qty"] = 6: 5 → 6',
        "item.qty += 1: 6 → 7",
    ]


def test_what_a_line_of_another_thread_has_written_is_not_the_line_s_that_runs_meanwhile(
    cli: Callable[..., Any],
) -> None:
    made, written = _python_writes(cli, "item.qty", "threads")
    assert made == 'item = Item("a"): None → 1'
    assert written.startswith("item.qty = 5; is_set.set();")


def test_an_attribute_that_a_class_has_for_its_instances_is_followed_in_the_class(
    cli: Callable[..., Any],
) -> None:
    at = f"writes.py:{_line(WRITES.read_text(), '# after classes')}"
    command = ("--at", at, "--", sys.executable, WRITES)
    answer = _wrote(cli, "second.limit", *command, cwd=WRITES.parent)
    assert [(one["old"], one["new"]) for one in answer["writers"]] == [("5", "4")]
    assert answer["notes"][0].startswith("second.limit: the class Shared has it from its body")
    answer = _wrote(cli, "second.rows", *command, cwd=WRITES.parent)
    assert [(one["old"], one["new"]) for one in answer["writers"]] == [("[]", "[1]")]
    assert _python_writes(cli, "counts['a']", "classes") == ['counts["a"] += 3: None → 3']


@pytest.mark.parametrize(
    ("expression", "marked", "writes"),
    [
        ("self.data", "got", [("begun_with", None, "{}"), ("stored", "{}", "{1: 10, 2: 20}")]),
        ("n", "ended", [("begun", None, "1"), ("counted", "1", "3")]),
    ],
)
def test_writes_of_what_waits_in_between_are_those_of_their_lines(
    cli: Callable[..., Any], expression: str, marked: str, writes: list[tuple[Any, ...]]
) -> None:
    at = [f"{AWAITED}:{find_marker(AWAITED, marked)}", "--nth", "2" if marked == "got" else "1"]
    answer = _wrote(cli, expression, "--at", *at, "--", sys.executable, AWAITED)
    seen = [one for one in answer["writers"] if not one["after"]]
    assert [(one["frame"]["line"], one["old"], one["final_new"]) for one in seen] == [
        (find_marker(AWAITED, line), old, new) for line, old, new in writes
    ]


def test_a_property_is_said_to_be_one(cli: Callable[..., Any]) -> None:
    at = f"writes.py:{_line(WRITES.read_text(), '# after fields')}"
    words = ("item.double", "--at", at, "--", sys.executable, WRITES)
    answer = _wrote(cli, *words, cwd=WRITES.parent)
    assert "double is a property" in answer["notes"][0]


def test_a_line_that_the_file_has_not_is_refused_with_the_number_of_its_lines(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = tmp_path / "boxes.py"
    program.write_text("x = 1\nprint(x)\n")
    words = ("--", sys.executable, program)
    beyond = cli("who-wrote", "x", "--at", "boxes.py:60", *words, check=1, cwd=tmp_path)
    assert "boxes.py:60 was not reached: the file has 2 lines" in beyond.err


def test_of_a_line_without_code_the_next_that_has_some_is_named(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = tmp_path / "adds.py"
    program.write_text("x = 0\ndef add(n):\n    global x\n\n    x += n\nadd(2)\nprint(x)\n")
    words = ("--", sys.executable, program)
    refused = cli("who-wrote", "x", "--at", "adds.py:4", *words, check=1, cwd=tmp_path)
    assert "adds.py:4 was not reached: line 4 has no code" in refused.err
    assert f"hint: debugger who-wrote x --at adds.py:5 {' '.join(map(str, words))}" in refused.err
    refused = cli("why", "x", "--at", "adds.py:4", *words, check=1, cwd=tmp_path)
    assert "line 4 has no code; nearest: 2, 3, 5, 6\n" in refused.err
    assert f"hint: debugger why x --at adds.py:5 {' '.join(map(str, words))}" in refused.err


@pytest.mark.parametrize(
    "adapter", [pytest.param(one, marks=pytest.mark.adapter(one)) for one in ("lldb-dap", "gdb")]
)
def test_a_write_behind_the_place_is_none_before_it(cli: Callable[..., Any], adapter: str) -> None:
    place = f"set_again.c:{find_marker('set_again.c', 'added')}"
    words = ["state", "--at", place, "--nth", "3", "--adapter", adapter]
    answer = _wrote(cli, *words, "--", build_debuggee("set_again.c"))
    assert answer["value"] == "2"
    assert (answer["writes"], answer["writers"][0]["final_new"]) == (2, "2")
    assert answer["notes"] == []


def test_a_variable_of_the_function_around_is_not_said_to_have_no_writes(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "counter.py"
    script.write_text(
        "def counter(start):\n    def add(count):\n        nonlocal start\n"
        "        start += count\n        return start\n    return add\n\n"
        "add = counter(5)\nadd(3)\nadd(4)\n",
        encoding="utf-8",
    )
    words = ["start", "--at", "counter.py:4", "--nth", "2", "--", sys.executable, script]
    refused = cli("who-wrote", *map(str, words), check=1, cwd=tmp_path)
    assert "is a variable of a function around it" in refused.err
    assert "hint: debugger why start --at counter.py:4 --nth 2" in refused.err


_SCRIPTS = {
    "debugpy": ("add.py", "def add(a):\n    s = a * 2\n    return s\n[*map(add, range(4))]\n"),
    "js-debug": (
        "add.js",
        "function add(a) {\n  const s = a * 2;\n  return s;\n}\n[0, 1].map(add)\n",
    ),
    "rdbg": ("add.rb", "def add(a)\n  s = a * 2\n  s\nend\n4.times { |i| add(i) }\n"),
}


@pytest.mark.parametrize(
    "adapter", [pytest.param(one, marks=pytest.mark.adapter(one)) for one in _SCRIPTS]
)
def test_the_writer_of_a_value_at_a_step_of_a_session_is_found(
    cli: Callable[..., Any], tmp_path: Path, adapter: str
) -> None:
    name, text = _SCRIPTS[adapter]
    (tmp_path / name).write_text(text)
    cli("start", name, "--break", f"{name}:2", check=0, cwd=tmp_path)
    cli("continue", check=0)
    cli("next", check=0)
    answer = cli("--json", "who-wrote", "s", check=0).data["data"]
    cli("stop", check=0)
    assert (answer["value"], answer["frame"]["line"]) == ("2", 2)
    without = cli("who-wrote", "s", check=2)
    assert "--at LOC is missing" in without.err
