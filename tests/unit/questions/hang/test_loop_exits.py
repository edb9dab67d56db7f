"""The ways out of a loop, and its cycle of objects, are found in its source and its turns."""

from __future__ import annotations

from pathlib import Path

from debugger.model.debugger_words import Runtime
from debugger.questions.hang.link_writers import find_writing_lines
from debugger.questions.hang.loop_exits import outline_loop
from debugger.questions.hang.turn_values import (
    ObservedValue,
    find_cycle,
    number_objects,
    parse_value,
)

C = """
static int walk(struct node *at, int limit) {
    int n = 0;
    for (;;) {
        struct node *next = at->next;
        if (next == NULL || n > limit)
            return n;
        switch (at->kind) {
        case 1:
            break;
        }
        at = at->next;
        n++;
    }
}
"""


def test_the_exits_of_a_loop_without_a_condition_are_those_of_its_body() -> None:
    found = outline_loop("walk.c", C.splitlines(), 4)
    assert found is not None
    assert found.first_line == 5
    # The `break` of the switch does not leave the loop.
    assert [(one.line, one.text, one.is_header) for one in found.exits] == [
        (6, "next == NULL || n > limit", False)
    ]
    assert [(one.line, one.name, one.link) for one in found.steps] == [(12, "at", "at->next")]
    assert found.names == ("at", "next", "n", "limit")


def test_the_header_of_a_loop_is_a_condition_and_may_hold_the_step() -> None:
    lines = ["for (p = list; p != NULL; p = p->next) {", "    use(p);", "}"]
    found = outline_loop("walk.c", lines, 1)
    assert found is not None
    assert [(one.text, one.is_header) for one in found.exits] == [("p != NULL", True)]
    assert [(one.line, one.link) for one in found.steps] == [(1, "p->next")]


def test_a_for_of_go_with_a_condition_alone_goes_on_while_it_is_true() -> None:
    heads = {"for n != 1 {": "n != 1", "for i := range rows {": "", "for _, x := range rows {": ""}
    for head, condition in heads.items():
        found = outline_loop("a.go", [head, "\tn++", "}"], 1)
        assert found is not None
        assert [one.text for one in found.exits] == [condition], head


def test_a_condition_that_calls_something_is_quoted_and_only_its_operands_are_read() -> None:
    lines = ["while True:", "    if queue.is_done(limit):", "        break", "    x = queue[0]"]
    found = outline_loop("walk.py", lines, 1)
    assert found is not None
    assert [(one.text, one.operands) for one in found.exits] == [
        ("queue.is_done(limit)", ("queue", "limit"))
    ]
    assert found.steps == ()


def test_objects_that_come_again_in_the_same_order_are_a_cycle() -> None:
    values = [ObservedValue("Node", one) for one in ("7", "9", "4", "7", "9", "4", "7")]
    assert find_cycle(values) == 3
    assert number_objects(values[:4]) == ["#1", "#2", "#3", "#1"]
    assert find_cycle(values[:5]) == 0  # not yet seen twice
    assert find_cycle([ObservedValue("1"), ObservedValue("1")]) == 0  # numbers are no objects
    assert find_cycle([ObservedValue("Node", one) for one in "123456"]) == 0


def test_a_pointer_of_native_code_is_its_own_identity_and_null_has_none() -> None:
    kind = "struct node *"
    assert parse_value("0x55aa {next:0x0}", kind, Runtime.NATIVE) == ObservedValue(
        "0x55aa {next:0x0}", "0x55aa"
    )
    null = parse_value("0x0", kind, Runtime.NATIVE)
    assert null is not None
    assert not null.identity
    assert parse_value("'33|Node'", "str", Runtime.PYTHON) == ObservedValue("Node", "33")
    assert parse_value("<error>", "", Runtime.PYTHON) is None


def test_lines_that_set_an_item_or_field_of_that_name_are_found_with_their_object(
    tmp_path: Path,
) -> None:
    source = tmp_path / "tree.py"
    source.write_text(
        "child[Name('/Next')] = first\n"
        "# child['/Next'] = None\n"
        "if child['/Next'] == first:\n"
        "    self.items[0].next = child\n"
    )
    items = find_writing_lines('node["/Next"]', str(source), str(tmp_path))
    assert [(one.line, one.owner) for one in items] == [(1, "child")]
    fields = find_writing_lines("node.next", str(source), str(tmp_path))
    assert [(one.line, one.owner) for one in fields] == [(4, "self.items[0]")]
    assert find_writing_lines("parent[at]", str(source), str(tmp_path)) == []


def test_a_step_by_another_name_is_one_of_the_variable_that_goes_on() -> None:
    lines = ["while at:", "    after = at.next", "    use(at)", "    at = after"]
    found = outline_loop("walk.py", lines, 1)
    assert found is not None
    assert [(one.line, one.name, one.link) for one in found.steps] == [(2, "at", "at.next")]
