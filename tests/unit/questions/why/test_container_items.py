"""Where the item of a container was put in, by the source."""

from __future__ import annotations

import pytest

from debugger.questions.why.container_items import (
    choose_name,
    find_stores,
    stored_value,
    taken_item,
)
from debugger.questions.why.statement_origin import OriginKind, origin_of_assignment

_LINES = [
    "heap.push(Scored(0, start));",
    "while let Some(Scored(cost, node)) = heap.pop() {",
    "    other.push(node);",
    "    heap.push(Scored(cost + 1, next));",
    "}",
]


@pytest.mark.parametrize(
    ("statement", "container", "method"),
    [
        ("while let Some(Scored(cost, node)) = heap.pop() {", "heap", "pop"),
        ("let node = self.work.pop_front().unwrap();", "self.work", "pop_front"),
        ("let Some(node) = work.pop() else {", "work", "pop"),
        ("node = *next_of.get(&node).unwrap();", "next_of", "get"),
        ("int node = queue_->front();", "queue_", "front"),
        ("Job job = jobs.top();", "jobs", "top"),
    ],
)
def test_a_call_that_takes_an_item_names_its_container(
    statement: str, container: str, method: str
) -> None:
    item = taken_item(origin_of_assignment(statement, "node"))
    assert item is not None
    assert (item.container, item.method) == (container, method)


@pytest.mark.parametrize("statement", ["let a = b + c;", "let a = read().pop();", "let a = pop();"])
def test_what_takes_nothing_out_of_a_named_container_is_none(statement: str) -> None:
    assert taken_item(origin_of_assignment(statement, "a")) is None


def test_the_stores_of_the_container_are_found_with_the_names_that_they_read() -> None:
    item = taken_item(origin_of_assignment(_LINES[1], "node"))
    assert item is not None
    stores = find_stores(_LINES, item, 2)
    assert [(one.line, one.method, one.names) for one in stores] == [
        (1, "push", ("start",)),
        (4, "push", ("cost", "next")),
    ]
    # Both have the value: the pattern's second part is the second part of what was put in.
    assert choose_name(_LINES[1].strip(), stores[1], "node", ["cost", "next"]) == "next"
    assert choose_name("let node = heap.pop();", stores[1], "node", ["next"]) == "next"
    assert choose_name("let node = heap.pop();", stores[1], "node", []) is None


def test_an_element_and_a_call_that_is_put_in_are_found() -> None:
    item = taken_item(origin_of_assignment("int a = by_key.at(k);", "a"))
    assert item is not None
    (store,) = find_stores(["by_key[k] = amount;"], item, 1)
    assert (store.method, store.names) == ("[]", ("amount",))
    call = stored_value("work.push_back(target_of(node));")
    assert call is not None
    assert call.function == "target_of"
    plain = stored_value("work.push_back(2 * node);")
    assert plain is not None
    assert (plain.kind, plain.operands) == (OriginKind.COMPUTED, ("node",))
    assert stored_value("work.size();") is None
