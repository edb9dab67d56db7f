"""`crash` and `test` say in one line where the wrong value comes from, and the command for all."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker, program_text

ORDERS = """
class Order:
    def __init__(self, items):
        self.items = items
        self.customer = None


def total(order):
    return order.customer.name


print(total(Order([1, 2])))
"""
FIND = """
function find(list, n) {
  for (const one of list) if (one.n === n) return one;
  return undefined;
}
function show(user) {
  return user.name;
}
const found = find([{ n: 1, name: 'a' }], 2);
console.log(show(found));
"""
LIMITS = program_text("why/limits.py")
JS_LIMITS = program_text("why/limits.js")
SHARED = """
class Cart:
    items = []

    def add(self, price):
        self.items.append(price)

    def total(self):
        return sum(self.items)


first, second = Cart(), Cart()
first.add(2)
second.add(3)
assert second.total() == 3
"""
CART = """
def add(a, b):
    return a + b + 1


def test_sum():
    got = add(2, 3)
    assert got == 5
"""
ADDS = """
const test = require('node:test');
const assert = require('node:assert');
test('adds', () => {
  const got = [1, 2].length + 4;
  assert.strictEqual(got, 5);
});
"""


def _crash(cli: Callable[..., Any], *words: object, cwd: Path | None = None) -> dict[str, Any]:
    told = cli("crash", "--json", *words, check=0, timeout=120, **({"cwd": cwd} if cwd else {}))
    data: dict[str, Any] = told.data["data"]
    assert cli("sessions", check=0).out == "no sessions\n"
    return data


@pytest.mark.adapter("gdb")
@pytest.mark.adapter("lldb-dap")
def test_a_null_pointer_is_followed_to_the_return_that_made_it(cli: Callable[..., Any]) -> None:
    program = build_debuggee("why/popped.c")
    # A bound of seconds is not what is tested: gdb makes the first run as slow as the further ones.
    why = _crash(cli, "--adapter", "gdb", "--", program)["why"]
    assert (why["expression"], why["value"], why["certainty"]) == ("taken", "0x0", "rerun")
    assert why["frame"]["line"] in {
        find_marker("why/popped.c", "nothing"),
        find_marker("why/popped.c", "again"),
    }
    assert why["command"] == f"debugger why taken --at crash --adapter gdb -- {program}"
    whole = cli(*shlex.split(why["command"])[1:], check=0, timeout=120).out
    assert "pop" in whole


@pytest.mark.adapter("lldb-dap")
def test_a_literal_of_the_call_needs_no_other_run(cli: Callable[..., Any]) -> None:
    why = _crash(cli, "--", build_debuggee("why/popped.c"), "literal")["why"]
    assert (why["text"], why["certainty"]) == ("it is the literal NULL", "seen")
    assert why["frame"]["line"] == find_marker("why/popped.c", "literal")
    assert why["links"] == 1


@pytest.mark.adapter("lldb-dap")
def test_without_why_there_is_no_line_and_no_other_run(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    source = tmp_path / "counts.c"
    source.write_text(
        '#include <stdio.h>\nint main(void) {\n    FILE *f = fopen("runs", "a");\n'
        '    fputs("x", f);\n    fclose(f);\n    int *none = 0;\n    return *none;\n}\n'
    )
    subprocess.run(["gcc", "-g", source, "-o", tmp_path / "counts"], check=True)
    answer = _crash(cli, "--no-why", "--", tmp_path / "counts", cwd=tmp_path)
    assert answer["why"] is None
    assert (tmp_path / "runs").read_text() == "x"


@pytest.mark.adapter("debugpy")
def test_an_attribute_of_python_is_followed_to_its_assignment(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "orders.py").write_text(ORDERS)
    words = ["--", sys.executable, "orders.py"]
    answer = _crash(cli, *words, cwd=tmp_path)
    why = answer["why"]
    assert (why["expression"], why["value"]) == ("order.customer", "None")
    assert (why["frame"]["line"], why["certainty"]) == (5, "rerun")
    said = cli("crash", *words, check=0, cwd=tmp_path, timeout=120).out
    command = f"debugger why order.customer --at crash -- {sys.executable} orders.py"
    (line,) = [one for one in said.splitlines() if one.startswith("why: ")]
    assert "self.customer = None [rerun]" in line
    assert line.endswith(f"({command})")


@pytest.mark.adapter("js-debug")
def test_an_argument_of_javascript_is_followed_into_what_returned_it(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "find.js").write_text(FIND)
    why = _crash(cli, "--", "node", "find.js", cwd=tmp_path)["why"]
    assert (why["expression"], why["value"]) == ("user", "undefined")
    assert (why["frame"]["line"], why["certainty"], why["links"]) == (4, "rerun", 3)
    assert why["command"] == "debugger why user --at crash -- node find.js"


@pytest.mark.adapter("js-debug")
def test_a_crash_of_javascript_names_the_promise_that_nobody_awaited(
    cli: Callable[..., Any],
) -> None:
    folder = Path(__file__).parents[1] / "programs" / "origins"
    why = _crash(cli, "--", "node", "later.js", cwd=folder)["why"]
    line = find_marker("origins/later.js", "dropped")
    assert (why["expression"], why["frame"]["line"]) == ("chunk.code", line)
    assert why["text"].startswith("a promise that nobody awaited writes it later (later.js:")


PICK = """
fn pick(items: &[i32], at: usize) -> i32 {
    items[at]
}
fn last(n: usize) -> usize {
    n + 1
}
fn main() {
    let items = vec![1, 2, 3];
    let at = last(items.len());
    println!("{}", pick(&items, at));
}
"""


@pytest.mark.adapter("gdb")
def test_a_value_is_followed_from_a_panic_of_rust(cli: Callable[..., Any], tmp_path: Path) -> None:
    source, program = tmp_path / "pick.rs", tmp_path / "pick"
    source.write_text(PICK)
    subprocess.run(["rustc", "-g", source, "-o", program], check=True, capture_output=True)
    told = cli("--json", "why", "at", "--at", "crash", "--", program, check=0, timeout=120)
    links = told.data["data"]["links"]
    assert [(one["kind"], one["frame"]["line"]) for one in links[:3]] == [
        ("passed", 11),
        ("returned", 10),
        ("returned", 6),
    ]


@pytest.mark.adapter("gdb")
def test_a_core_file_is_explained_by_its_stack_alone(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = build_debuggee("why/popped.c")
    core = tmp_path / "core"
    save = ["-ex", "run", "-ex", f"generate-core-file {core}"]
    subprocess.run(["gdb", "-q", "-batch", *save, program], check=True, capture_output=True)
    why = _crash(cli, "--core", core, program)["why"]
    assert (why["text"], why["certainty"], why["command"]) == ("passed as taken", "seen", "")


@pytest.mark.adapter("debugpy")
def test_a_failed_test_of_python_names_the_line_and_the_command(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "test_sum.py").write_text(CART)
    words = ["--", sys.executable, "-m", "pytest", "-q", "test_sum.py"]
    answer = cli("test", "--json", *words, check=0, cwd=tmp_path, timeout=120).data["data"]
    why = answer["why"]
    assert (why["expression"], why["value"], why["certainty"]) == ("got", "6", "seen")
    made = [(one["frame"]["line"], one["text"]) for one in answer["made"]]
    assert (why["frame"]["line"], why["statement"]) in made
    whole = cli(*shlex.split(why["command"])[1:], check=0, cwd=tmp_path, timeout=120).out
    assert "got = add(2, 3)" in whole


@pytest.mark.adapter("js-debug")
def test_a_failed_test_of_node_names_the_line_and_the_command(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "adds.test.js").write_text(ADDS)
    told = cli("test", "--json", "--", "node", "--test", check=0, cwd=tmp_path, timeout=120)
    why = told.data["data"]["why"]
    assert (why["expression"], why["value"], why["certainty"]) == ("got", "6", "inferred")
    whole = cli(*shlex.split(why["command"])[1:], check=0, timeout=120).out
    assert "got = [1, 2].length + 4" in whole


@pytest.mark.adapter("delve")
def test_a_nil_pointer_of_a_go_file_is_followed_to_its_return(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "absent.go").write_text(program_text("why/absent.go"))
    why = _crash(cli, "--", "absent.go", cwd=tmp_path)["why"]
    assert (why["expression"], why["certainty"]) == ("found", "rerun")
    assert why["frame"]["line"] in {17, 21}
    assert why["command"] == "debugger why found --at crash -- absent.go"


def _lines_of(block: dict[str, Any], part: str) -> list[tuple[str, int]]:
    return [(one["function"], one["line"]) for one in block[part]]


@pytest.mark.parametrize("before", ["0", "7"], ids=["tcache", "fastbin"])
def test_a_crash_in_freed_memory_names_the_last_reference_and_who_stored_it(
    before: str, cli: Callable[..., Any]
) -> None:
    program, source = build_debuggee("why/freed_shared.c"), "why/freed_shared.c"
    told = _crash(cli, "--", program, before)
    block = told["freed_block"]
    assert (block["expression"], block["frame"]["function"]) == ("object", "sides_of")
    assert _lines_of(block, "freed")[:2] == [
        ("release_block", find_marker(source, "released")), ("drop", find_marker(source, "freed")),
    ]  # fmt: skip
    assert _lines_of(block, "dropped")[:2] == [
        ("drop", find_marker(source, "dropped")), ("drop_page", find_marker(source, "page")),
    ]  # fmt: skip
    assert block["holder"] == "page->items[i]"
    assert _lines_of(block, "stored") == [
        ("take_page", find_marker(source, "stored")), ("main", find_marker(source, "taken")),
    ]  # fmt: skip
    text = cli("crash", "--", program, before, check=0, timeout=120)
    assert "that reference, page->items[i], was stored by take_page" in text.out


def test_a_deleted_object_of_cpp_names_the_pointer_that_was_deleted_and_who_stored_it(
    cli: Callable[..., Any],
) -> None:
    source = "why/deleted_shared.cpp"
    block = _crash(cli, "--", build_debuggee(source))["freed_block"]
    assert _lines_of(block, "freed")[0] == ("Scene::clear", find_marker(source, "deleted"))
    assert not block["dropped"]
    # The block had another owner before the crash.
    again = [("main", find_marker(source, "again"))]
    assert (_lines_of(block, "reused"), _lines_of(block, "freed_again")) == (again, again)
    assert block["holder"] == "this->first"
    assert _lines_of(block, "stored")[0] == ("Scene::add", find_marker(source, "stored"))


def test_a_crash_without_freed_memory_names_no_block(
    compile_program: Callable[..., Path], cli: Callable[..., Any]
) -> None:
    source = """
    #include <stdlib.h>
    struct node { long value; struct node *next; };
    int main(void) {
        struct node *unused = malloc(sizeof *unused), *used = calloc(1, sizeof *used);
        free(unused);
        return used->next->value;
    }
    """
    told = _crash(cli, "--", compile_program(source))
    assert told["kind"] == "null_pointer"
    assert told["freed_block"] is None


def _line_of(source: str, text: str) -> int:
    return next(at for at, line in enumerate(source.splitlines(), 1) if text in line)


def test_a_raise_is_explained_by_both_calls_that_its_condition_compared(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    (tmp_path / "order.py").write_text(LIMITS)
    told = _crash(cli, "--", sys.executable, "order.py", cwd=tmp_path)
    assert (told["why"]["expression"], told["why"]["value"]) == ("order.count()", "2")
    assert told["why"]["frame"]["line"] == _line_of(LIMITS, "return len")
    limit = told["why_compared"]
    assert (limit["expression"], limit["value"]) == ("limit_of(order.kind)", "0")
    assert limit["text"] == "returned by limit_of (call 2): LIMITS has no key kind='SMALL'"
    # The key that was not found is followed to where it was made.
    assert _line_of(LIMITS, "upper()") in [one["line"] for one in limit["earlier"]]


@pytest.mark.adapter("js-debug")
def test_a_throw_is_explained_by_the_key_that_a_map_does_not_have(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    (tmp_path / "order.js").write_text(JS_LIMITS)
    told = _crash(cli, "--", "node", "order.js", cwd=tmp_path)
    limit = told["why_compared"]
    assert (limit["expression"], limit["value"]) == ("limitOf(order.kind)", "0")
    lines = [limit["frame"]["line"], *(one["line"] for one in limit["earlier"])]
    assert _line_of(JS_LIMITS, "LIMITS.get") in lines
    assert _line_of(JS_LIMITS, "toUpperCase") in lines


def test_a_failed_assertion_about_a_call_leads_to_what_the_call_read(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    (tmp_path / "cart.py").write_text(SHARED)
    why = _crash(cli, "--", sys.executable, "cart.py", cwd=tmp_path)["why"]
    assert (why["expression"], why["value"]) == ("second.total()", "5")
    assert why["earliest"] == "class attribute items, shared by all instances"
    assert why["earlier"][-1]["line"] == _line_of(SHARED, "items = []")


@pytest.mark.parametrize("check", ["assert second.total() == 3", "assertEqual(second.total(), 3)"])
def test_a_failed_test_about_a_call_leads_to_what_the_call_read(
    tmp_path: Path, cli: Callable[..., Any], check: str
) -> None:
    cart, _, _ = SHARED.partition("first, second")
    (tmp_path / "cart.py").write_text(cart)
    imports = (
        "import unittest\nfrom cart import Cart\nassertEqual = unittest.TestCase().assertEqual\n"
    )
    adds = f"    first, second = Cart(), Cart()\n    first.add(2)\n    second.add(3)\n    {check}\n"
    (tmp_path / "test_cart.py").write_text(f"{imports}def test_total():\n{adds}")
    told = cli(
        "test",
        "--json",
        "--",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        check=0,
        timeout=120,
        cwd=tmp_path,
    )
    why = told.data["data"]["why"]
    assert (why["expression"], why["value"]) == ("second.total()", "5")
    assert [(Path(one["file"]).name, one["line"]) for one in why["earlier"]] == [
        ("cart.py", _line_of(SHARED, "items = []"))
    ]


JS_CART = """
const shared = [];
exports.Cart = class {
  constructor(items = shared) { this.items = items; }
  add(price) { this.items.push(price); }
  total() { return this.items.reduce((sum, one) => sum + one, 0); }
};
"""
JS_ORDER = """
const test = require('node:test');
const assert = require('node:assert');
const { Cart } = require('./cart.js');
test('one', () => { new Cart().add(2); });
test('two', () => {
  const cart = new Cart();
  cart.add(3);
  assert.strictEqual(cart.total(), 3);
});
"""


@pytest.mark.adapter("js-debug")
def test_a_test_of_node_that_fails_only_among_others_is_followed_in_a_run_with_them(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    (tmp_path / "cart.js").write_text(JS_CART)
    (tmp_path / "cart.test.js").write_text(JS_ORDER)
    words = ["test", "--json", "--", "node", "--test", "cart.test.js"]
    told = cli(*words, check=0, timeout=120, cwd=tmp_path).data["data"]
    assert any("run with its file's others" in one for one in told["notes"])
    why = told["why"]
    assert (why["expression"], why["value"]) == ("cart.total()", "5")
    assert Path(why["frame"]["file"]).name == "cart.js"


@pytest.mark.adapter("js-debug")
def test_a_value_is_followed_with_options_that_node_takes_on_its_command_line_only(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    (tmp_path / "cart.js").write_text(JS_CART)
    (tmp_path / "cart.test.js").write_text(JS_ORDER)
    place = f"cart.test.js:{_line_of(JS_ORDER, 'strictEqual(')}"
    program = ["node", "--test-name-pattern=two$", "cart.test.js"]
    told = cli("why", "cart.total()", "--at", place, "--", *program, check=0, cwd=tmp_path)
    assert "cart.total() = 3 in" in told.out


@pytest.mark.adapter("debugpy")
def test_one_recording_of_python_answers_for_all_values_of_a_crash(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "ledger.py").write_text(program_text("why/ledger.py"))
    told = _crash(cli, "--", sys.executable, "ledger.py", cwd=tmp_path)
    first, second = told["why"], told["why_compared"]
    assert (first["expression"], first["value"]) == ("ledger.booked", "3")
    assert (second["expression"], second["value"]) == ("ledger.paid", "6")
    assert second["statement"] == "self.paid += n * 2"
    # The run that crashed, and the recorded one.
    assert (tmp_path / "runs").read_text() == "xx"
