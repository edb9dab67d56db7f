"""`holds` counts the checks of an invariant, and names the statement that first made it false."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, build_debuggee
from mcp_client import connect_stdio

FOLDER = PROGRAMS / "holds"
SHOP = (sys.executable, str(FOLDER / "shop.py"))


def line_with(name: str, part: str) -> int:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    (found,) = [number for number, one in enumerate(lines, 1) if part in one]
    return found


@pytest.fixture
def check(cli: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Return what asks the question, and checks that no session is left."""

    def run(*words: object) -> dict[str, Any]:
        answer = cli("holds", "--json", *map(str, words), cwd=FOLDER, timeout=90)
        data: dict[str, Any] = answer.data["data"]
        unknown = (one["outcome"] == "never evaluated" for one in data["invariants"])
        assert answer.exit == (1 if all(unknown) else 0)
        assert cli("sessions", check=0).out == "no sessions\n"
        return data

    return run


def statement_of(answer: dict[str, Any]) -> tuple[str, int, str]:
    (one,) = answer["invariants"]
    found = one["made_false_by"]
    assert found is not None, one
    return Path(found["frame"]["file"]).name, found["frame"]["line"], found["text"]


def changes_of(answer: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    (one,) = answer["invariants"]
    operands = one["made_false_by"]["operands"]
    return [(each["expression"], each.get("before"), each["after"]) for each in operands]


def test_an_alias_in_a_callee_breaks_an_invariant_of_python(check: Callable[..., Any]) -> None:
    answer = check("self.count == len(self.items)", "--each", "Order.*", "--", *SHOP)
    (one,) = answer["invariants"]
    assert (one["outcome"], one["true"], one["failed"]) == ("broken", 100, 12)
    assert "AttributeError" in one["error"]
    bad = one["first_false"]
    assert (bad["kind"], bad["frame"]["function"], bad["ordinal"]) == ("entry", "Order.total", 20)
    at = line_with("shop.py", "del items[at]")
    assert statement_of(answer) == ("shop.py", at, "del items[at]")
    assert changes_of(answer) == [("self.count", "3", "3"), ("len(self.items)", "3", "2")]
    (order,) = one["objects"]
    assert (order["type"], order["ordinal"], order["made"]["function"]) == (
        "Order",
        8,
        "make_order",
    )
    assert [each["function"] for each in one["made_false_by"]["callers"]][:2] == [
        "Discounts.apply",
        "main",
    ]


def test_a_parameter_that_is_false_at_the_entry_names_the_call(
    check: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "cart.py").write_text("def total(count):\n    return count\n", encoding="utf-8")
    script = tmp_path / "buy.py"
    script.write_text(
        "import cart\n\nfor count in (1, 2, 3):\n    cart.total(count)\n", encoding="utf-8"
    )
    # The module is a part of the name.
    answer = check("count < 3", "--each", "cart.total", "--", sys.executable, script)
    assert statement_of(answer) == ("buy.py", 4, "cart.total(count)")
    assert changes_of(answer) == [("count", "2", "3")]


def test_a_function_that_no_source_has_is_refused_with_near_names(
    cli: Callable[..., Any],
) -> None:
    refused = cli("holds", "1", "--each", "Order.totl", "--", *SHOP, check=1, cwd=FOLDER)
    assert "there is Order.total" in refused.err
    assert "hint: debugger holds EXPR --each Order.total -- " in refused.err


def test_a_local_that_is_bound_anew_is_followed(check: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "shrink.py"
    script.write_text(
        "def shrink(rows):\n"
        "    while len(rows) > 1:\n"
        "        rows = rows[:-1]\n"
        "        use(rows)\n"
        "def use(rows):\n"
        "    return len(rows)\n"
        "shrink(list(range(6)))\n"
    )
    answer = check("len(rows) > 2", "--in", "shrink", "--", sys.executable, script)
    assert statement_of(answer) == ("shrink.py", 3, "rows = rows[:-1]")


STATEMENTS = {
    # The last good check is at the return of `same`, within the statement.
    "n < 3": (
        "n = 0\ndef same(x):\n    return x\nfor a in range(6):\n    n += same(a)\n",
        ("--in",),
    ),
    # No other check follows the last line of a module.
    "m < 3": ("m = 0\nm = 2\nm = 5\n", ("--in",)),
    "k < 3": ("def call():\n    return k\nk = 0\ncall()\nk = 5\nm = 1\n", ("--each", "*")),
    # The constructor is no code of the program's own.
    "a.n < 3": (
        (
            "from dataclasses import dataclass\n@dataclass\nclass A:\n    n: int = 0\n"
            "def make():\n    a = A(1)\n    a = A(5)\n    return a\nmake()\n"
        ),
        ("--in",),
    ),
    # The generator is suspended within the line.
    "len(rows) < 3": (
        (
            "rows = []\ndef each():\n    for x in range(5):\n"
            "        yield rows.append(x)\nfor x in each():\n    m = 1\n"
        ),
        ("--in",),
    ),
}
_BROKEN_AT = {"n < 3": 5, "m < 3": 3, "k < 3": 5, "a.n < 3": 7, "len(rows) < 3": 4}


@pytest.mark.parametrize("expression", STATEMENTS)
def test_the_statement_is_the_one_that_ran(
    check: Callable[..., Any], tmp_path: Path, expression: str
) -> None:
    source, (option, *pattern) = STATEMENTS[expression]
    script = tmp_path / "made_false.py"
    script.write_text(source)
    answer = check(expression, option, *(pattern or [script]), "--", sys.executable, script)
    at = _BROKEN_AT[expression]
    assert statement_of(answer) == ("made_false.py", at, source.splitlines()[at - 1].strip())


def test_an_object_that_was_never_right_is_followed_from_its_construction(
    check: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "boxes.py"
    script.write_text(
        "class Box:\n"
        "    def __init__(self, low, high):\n"
        "        self.low = low\n"
        "        self.high = high\n"
        "def area(box):\n"
        "    return box.high - box.low\n"
        "for one in [Box(1, 2), Box(3, 5), Box(9, 2)]:\n"
        "    area(one)\n"
    )
    answer = check("box.low <= box.high", "--at", "area", "--", sys.executable, script)
    assert statement_of(answer) == ("boxes.py", 4, "self.high = high")
    assert any("never seen true" in one for one in answer["invariants"][0]["notes"])


def test_the_returned_value_and_several_invariants_are_checked_in_one_run(
    check: Callable[..., Any],
) -> None:
    answer = check("result > 0", "nothing > 1", "order.count > 1", "--each", "*e*", "--", *SHOP)
    by_text = {one["expression"]: one for one in answer["invariants"]}
    assert by_text["nothing > 1"]["outcome"] == "never evaluated"
    assert "NameError" in by_text["nothing > 1"]["error"]
    assert by_text["order.count > 1"]["failed"]
    assert answer["runs"] <= 3


def test_a_returned_value_is_made_false_by_its_return_statement(
    check: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "prices.py"
    script.write_text(
        "def price(count):\n    if count > 1:\n        return -count\n    return count\n"
        "for count in (0, 1, 2):\n    price(count)\n"
    )
    answer = check("result >= 0", "--each", "price", "--", sys.executable, script)
    assert statement_of(answer) == ("prices.py", 3, "return -count")


def test_what_is_false_from_the_beginning_or_never_reached_is_said(
    cli: Callable[..., Any], check: Callable[..., Any]
) -> None:
    text = cli("holds", "order.count > 99", "--at", "check", "--", *SHOP, check=0).out
    assert "false from the beginning" in text
    answer = check("order.count > 0", "--at", "never_called_here", "--", *SHOP)
    assert answer["unreached"] == ["never_called_here"]
    assert answer["invariants"][0]["outcome"] == "never evaluated"
    assert answer["notes"][0].startswith("never_called_here: no function never_called_here")


def test_a_known_good_value_is_bound_and_written_into_an_expression_of_c(
    check: Callable[..., Any], cli: Callable[..., Any], tmp_path: Path
) -> None:
    known = tmp_path / "known.json"
    known.write_text(json.dumps({"least": 3, "none": None}))
    words = ("--in", "evict", "--against", known, "--", "node", "cache.js")
    answer = check("rows.length >= known.least", *words)
    assert statement_of(answer)[2] == "rows.splice(at, 1);"
    words = ("--at", "drop_gifts", "--against", known, "--", *SHOP)
    answer = check("known['none'] is None", *words)
    assert answer["invariants"][0]["outcome"] == "held"
    native = build_debuggee("holds/stack.c")
    against = ("--at", "push", "--against", known, "--", native)
    answer = check("known.least == 3", *against)
    assert answer["invariants"][0]["expression"] == "3 == 3"
    assert answer["invariants"][0]["outcome"] == "held"
    refused = cli("holds", "known", *against)
    assert refused.exit != 0
    assert "known is an object of 2" in refused.err


NATIVE = [
    pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
    pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap")),
    pytest.param((), marks=[pytest.mark.adapter("frida"), pytest.mark.adapter("lldb-dap")]),
]


@pytest.mark.parametrize("by", NATIVE)
def test_a_callee_breaks_an_invariant_of_c(check: Callable[..., Any], by: tuple[str, ...]) -> None:
    program = build_debuggee("holds/stack.c")
    answer = check("s->count <= s->capacity", "--at", "is_valid", *by, "--", program)
    at = line_with("stack.c", "s->count++;")
    assert statement_of(answer) == ("stack.c", at, "s->count++;")
    assert changes_of(answer) == [("s->count", "4", "5"), ("s->capacity", "4", "4")]
    (one,) = answer["invariants"]
    assert (one["true"], one["first_false"]["ordinal"]) == (9, 10)
    callers = [each["function"] for each in one["made_false_by"]["callers"]]
    assert callers[:2] == ["push_all", "main"]


@pytest.mark.adapter("lldb-dap")
def test_an_invariant_that_calls_the_programs_function_is_stepped_to(
    check: Callable[..., Any],
) -> None:
    program = build_debuggee("holds/stack.c")
    words = ("--at", f"stack.c:{line_with('stack.c', 'return s->count')}")
    answer = check("is_valid(s)", *words, "--adapter", "lldb-dap", "--", program)
    assert statement_of(answer)[2] == "s->count++;"
    assert answer["runs"] > 2


@pytest.mark.adapter("gdb")
def test_functions_of_cpp_are_checked_at_entry_and_exit(check: Callable[..., Any]) -> None:
    program = build_debuggee("holds/ring.cpp")
    words = ("--each", "Ring.*", "--adapter", "gdb", "--", program)
    answer = check("this->size_ <= this->limit_", *words)
    assert statement_of(answer) == ("ring.cpp", line_with("ring.cpp", "size_++;"), "size_++;")
    assert answer["invariants"][0]["first_false"]["kind"] == "return"


@pytest.mark.adapter("js-debug")
def test_a_variable_of_javascript_is_not_checked_before_its_declaration(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    text = "function add(a) {\n  const s = a * 2;\n  return s;\n}\n[0, 1, 2].map(add);\n"
    (tmp_path / "add.js").write_text(text)
    words = ("--in", "add", "--", "node", "add.js")
    answer = cli("--json", "holds", "s < 4", *words, check=0, cwd=tmp_path).data["data"]
    assert statement_of(answer) == ("add.js", 2, "const s = a * 2;")
    at_entry = ("--at", "add.js:2", "--", "node", "add.js")
    shown = cli("holds", "s < 4", *at_entry, check=1, cwd=tmp_path).out
    assert "never evaluated" in shown
    assert "s is declared in line 2" in shown


@pytest.mark.adapter("lldb-dap")
def test_a_method_of_rust_breaks_an_invariant(check: Callable[..., Any]) -> None:
    program = build_debuggee("holds/account.rs")
    words = ("--at", f"account.rs:{line_with('account.rs', 'let left')}", "--", program)
    answer = check("account.balance >= account.limit", *words)
    at = line_with("account.rs", "self.balance -= amount;")
    assert statement_of(answer) == ("account.rs", at, "self.balance -= amount;")


@pytest.mark.adapter("frida", "lldb-dap", "delve")
@pytest.mark.parametrize("name", ["average.c", "average.go"])
def test_a_parameter_that_is_wrong_at_the_crash_was_passed_by_its_caller(
    check: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    shutil.copy(FOLDER / name, tmp_path / name)
    program = build_debuggee(f"holds/{name}") if name.endswith(".c") else tmp_path / name
    answer = check("n != 0", "--at", "crash", "--", program)
    at = line_with(name, "sum += average(100, n)")
    assert statement_of(answer)[:2] == (name, at)
    assert changes_of(answer)[0][2] == "0"


@pytest.mark.adapter("frida", "lldb-dap", "delve")
@pytest.mark.parametrize(
    ("invariant", "place", "statement"),
    [
        # A container behind a reference, changed by a function on one line.
        ("basket.items.size() < 3", "weigh", ("ring.cpp", "items.push_back(item)")),
        # The bytes before the end of the writing instruction are no instruction of their own.
        ("days[0] > 0", "review", ("account.rs", "days[0] = -9")),
        # No watched memory changes: the line of the check has not made it false.
        ("len(s.counts) == 0", "shelf.look", ("props.go", 'here.counts["jam"]++')),
    ],
)
def test_the_statement_that_changed_a_container_is_named(
    check: Callable[..., Any],
    tmp_path: Path,
    invariant: str,
    place: str,
    statement: tuple[str, str],
) -> None:
    name, part = statement
    shutil.copy(FOLDER / name, tmp_path / name)
    program = tmp_path / name if name.endswith(".go") else build_debuggee(f"holds/{name}")
    answer = check(invariant, "--at", place, "--", program)
    assert statement_of(answer)[:2] == (name, line_with(name, part))


@pytest.mark.adapter("delve")
def test_the_length_of_a_slice_of_go_is_watched(check: Callable[..., Any], tmp_path: Path) -> None:
    shutil.copy(FOLDER / "props.go", tmp_path / "props.go")
    words = ("--each", "object.*", "--", tmp_path / "props.go")
    answer = check("o.lastSorted <= len(o.names)", *words)
    at = line_with("props.go", "o.names = append(o.names[:at]")
    assert statement_of(answer)[:2] == ("props.go", at)
    assert changes_of(answer) == [("o.lastSorted", "3", "3"), ("len(o.names)", "3", "2")]


@pytest.mark.adapter("js-debug")
def test_a_reference_in_a_function_breaks_an_invariant_of_javascript(
    check: Callable[..., Any],
) -> None:
    words = ("--each", "Cache.*", "--", "node", "cache.js")
    answer = check("this.count === this.rows.length", *words)
    at = line_with("cache.js", "rows.splice(at, 1);")
    assert statement_of(answer) == ("cache.js", at, "rows.splice(at, 1);")
    assert changes_of(answer) == [("this.count", "3", "3"), ("this.rows.length", "3", "2")]
    callers = [each["function"] for each in answer["invariants"][0]["made_false_by"]["callers"]]
    assert callers[:2] == ["trim", "main"]


@pytest.mark.adapter("js-debug")
def test_a_callback_on_one_line_is_named_for_what_it_changed(
    shared_cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "sum.js").write_text(
        "let sum = 0;\n"
        "[1, 2, 3, 4, 5].forEach((x) => { sum += x; check(); });\n"
        "function check() { void sum;\n}\n"
    )
    words = ("holds", "--json", "sum < 10", "--at", "sum.js:3", "--", "node", "sum.js")
    (found,) = shared_cli(*words, cwd=tmp_path, check=0).data["data"]["invariants"]
    assert found["made_false_by"]["frame"]["line"] == 2
    assert [(one["before"], one["after"]) for one in found["made_false_by"]["operands"]] == [
        ("6", "10")
    ]


def test_the_answer_is_short_and_says_the_facts_first(cli: Callable[..., Any]) -> None:
    answer = cli("holds", "self.count == len(self.items)", "--each", "Order.*", "--", *SHOP)
    first, *rest = answer.out.splitlines()
    assert first.startswith("holds: self.count == len(self.items): true 100 times, first false at")
    assert any("made false by shop.py" in one for one in rest)
    assert len(answer.out) <= 1500


async def test_the_tool_answers_as_the_command(runtime_dir: Path) -> None:
    async with connect_stdio(toolset="all") as agent:
        answer = await agent.call(
            "debug_holds",
            expression="order.count == len(order.items)",
            at=["check"],
            command=list(SHOP),
            cwd=str(FOLDER),
        )
    (one,) = answer.data["holds"]["invariants"]
    assert (one["outcome"], one["true"]) == ("broken", 19)
    assert one["made_false_by"]["text"] == "del items[at]"


def test_a_generator_a_thread_and_a_child_process_are_checked(
    check: Callable[..., Any],
) -> None:
    command = ("--", sys.executable, FOLDER / "forks.py")
    expected = ("forks.py", line_with("forks.py", "self.n += by"))
    assert statement_of(check("self.n < 50", "--each", "Sum.up", *command))[:2] == expected
    assert statement_of(check("one.n < 4", "--in", "steps", *command))[:2] == expected
    answer = check("self.n < 8", "--each", "Sum.up", *command)
    assert answer["invariants"][0]["true"] == 11


@pytest.mark.adapter("delve")
def test_a_call_in_an_invariant_of_go_is_refused_with_what_works(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    shutil.copy(FOLDER / "props.go", tmp_path / "props.go")
    words = ("o.valid()", "--each", "object.*", "--", tmp_path / "props.go")
    told = cli("holds", "--json", *words, check=1, timeout=120).data["data"]
    assert told["invariants"][0]["outcome"] == "never evaluated"
    assert any("o.valid() needs fields, len() and cap() instead" in one for one in told["notes"])


def test_a_second_run_that_takes_too_long_is_said_to_be_that(
    check: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "again.py"
    script.write_text(
        "import os, threading\n"
        "def check(n): return n\n"
        "for n in range(5):\n"
        "    check(n)\n"
        f"    if n == 1 and os.path.exists({str(tmp_path / 'ran')!r}):\n"
        "        threading.Event().wait()\n"
        f"open({str(tmp_path / 'ran')!r}, 'w').close() or check(9)\n"
    )
    answer = check("n < 9", "--at", "check", "--timeout", 6, "--", sys.executable, script)
    (one,) = answer["invariants"]
    assert (one["outcome"], one["true"]) == ("broken", 5)
    assert one["why_unknown"] == "the second run took longer than 6 s: --timeout 18 may find it"


def test_an_invariant_that_takes_long_is_narrowed_by_evaluating_it_after_few_lines(
    check: Callable[..., Any],
) -> None:
    program = (sys.executable, FOLDER / "passes.py")
    at = f"passes.py:{line_with('passes.py', 'one(table)')}"
    answer = check("is_whole(table)", "--at", at, "--", *program)
    # The lines of the window alone are more than can be evaluated after one by one.
    assert statement_of(answer) == (
        "passes.py",
        line_with("passes.py", "rows.remove(row)"),
        "rows.remove(row)",
    )
    assert answer["runs"] in {3, 4}  # a slow machine may need one more
    (one,) = answer["invariants"]
    assert [(each["expression"], each["before"], each["after"]) for each in one["between"]] == [
        ("one", "prune", "order")
    ]


def test_the_condition_that_chose_what_is_changed_is_named_though_its_call_has_returned(
    check: Callable[..., Any],
) -> None:
    program = (sys.executable, FOLDER / "passes.py")
    at = f"passes.py:{line_with('passes.py', 'one(table)')}"
    answer = check("table.rows.count('needed') == 1", "--at", at, "--", *program)
    assert answer["runs"] == 2
    decided = answer["invariants"][0]["decided_by"][0]
    assert decided["frame"]["function"] == "chosen_rows"
    assert decided["text"] == "row != 'keep' and uses[row] <= 2"
    lines = (decided["frame"]["line"], decided["last_line"])
    assert lines == (line_with("passes.py", 'row != "keep"'), line_with("passes.py", "<= 2"))


def test_a_second_run_that_is_out_of_time_says_what_the_checks_showed(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "twice.py"
    script.write_text(
        "import pathlib\n"
        "marker = pathlib.Path('ran')\n"
        "is_second = marker.exists()\n"
        "marker.touch()\n"
        "def prune(rows):\n"
        "    rows.pop()\n"
        "    while is_second:\n"
        "        pass\n"
        "def run(rows):\n"
        "    for one in (len, prune, sorted):\n"
        "        one(rows)\n"
        "run([2, 1])\n"
    )
    words = ("--at", "twice.py:11", "--timeout", "6", "--", sys.executable, script)
    answer = cli("holds", "len(rows) > 1", *words, check=0, cwd=tmp_path, timeout=60)
    assert "the second run took longer than 6 s: --timeout 18 may find it" in answer.out
    assert "between the checks: one prune → sorted" in answer.out
