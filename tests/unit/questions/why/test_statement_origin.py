"""What a statement assigns, by its text."""

from __future__ import annotations

import pytest

from debugger.questions.why.statement_origin import (
    OriginKind,
    assigned_target,
    call_in_statement,
    classify_expression,
    is_reassigned,
    origin_of_assignment,
)

CONSTANT, OPERAND, CALL, COMPUTED = (
    OriginKind.CONSTANT,
    OriginKind.OPERAND,
    OriginKind.CALL,
    OriginKind.COMPUTED,
)


@pytest.mark.parametrize(
    ("statement", "target", "kind", "text"),
    [
        ("limit = 7;", "limit", CONSTANT, "7"),
        ("n->next = NULL;", "n->next", CONSTANT, "NULL"),
        ("unsigned x = 0x10u;", "x", CONSTANT, "0x10u"),
        ('const char *name = "a = b";', "name", CONSTANT, '"a = b"'),
        ("node->next = box->items[i].p;", "node->next", OPERAND, "box->items[i].p"),
        ("int *p = (int *) q;", "p", OPERAND, "q"),
        ("auto y = static_cast<long>(z);", "y", OPERAND, "z"),
        ("return it->second;", "x", OPERAND, "it->second"),
        ("let mut total: u64 = other as u64;", "total", OPERAND, "other"),
        ("a = 1, b = c;", "b", OPERAND, "c"),
        ("x = pick(a, b + 1);", "x", CALL, "pick(a, b + 1)"),
        ("auto v = cache.find(key);", "v", CALL, "cache.find(key)"),
        ("x = a * b + f(c);", "x", COMPUTED, "a * b + f(c)"),
        ("total += price;", "total", COMPUTED, "total + price"),
        ("if (x == y) z = w;", "z", OPERAND, "w"),
        ("for (int i = 0; i < n; i++) {", "i", COMPUTED, "i++"),
        ("Row row{++id, price(line)};", "row.price", COMPUTED, "{++id, price(line)}"),
    ],
)
def test_the_right_side_of_a_statement(
    statement: str, target: str, kind: OriginKind, text: str
) -> None:
    found = origin_of_assignment(statement, target)
    assert (found.kind, found.text) == (kind, text)


@pytest.mark.parametrize(
    ("statement", "target", "found"),
    [
        ("node->next = other;", "it", "node->next"),
        ("for (int i = 0; i < n; i++) table[i] = -i;", "job->id", "table[i]"),
        ("auto n = make(); n->next = make(); n->next->value = 4;", "p->value", "n->next->value"),
        ("a[0] = 1; b[9] = 2;", "c", ""),
        ("p->count++;", "x", "p->count++;"),
    ],
)
def test_what_a_statement_assigns_to(statement: str, target: str, found: str) -> None:
    assert assigned_target(statement, target) == found


def test_the_operands_of_a_sum_are_its_names() -> None:
    assert origin_of_assignment("x = a * b + f(c, &d->e);", "x").operands == ("a", "b", "c", "d->e")
    assert origin_of_assignment("count++;", "count").operands == ("count",)


def test_the_arguments_of_a_call_are_split_outside_of_brackets() -> None:
    found = classify_expression('copy(dst, "a, b", pair(1, 2))')
    assert found.function == "copy"
    assert found.arguments == ("dst", '"a, b"', "pair(1, 2)")


def test_the_call_of_a_method_is_found_in_a_statement() -> None:
    found = call_in_statement("if (!table.put(key, value)) return;", "Table::put(int, int)")
    assert found is not None
    assert found.arguments == ("key", "value")
    assert call_in_statement("f(f(1));", "f") is None


@pytest.mark.parametrize(
    "line", ["v = 3;", "v += 1;", "++v;", "v--;", "fill(&v);", "T *v = w;", "*v++ = 3;"]
)
def test_a_parameter_that_is_assigned_to_is_known(line: str) -> None:
    assert is_reassigned("v", [line])


READS = ["w = v;", "if (v == 3)", "a->v = 3;", "x && v", "&v->next"]


@pytest.mark.parametrize("line", [*READS, "*v = 3;", "if (w) *v += 3;"])
def test_a_parameter_that_is_only_read_is_not_reassigned(line: str) -> None:
    assert not is_reassigned("v", [line])


def test_a_field_of_a_call_is_the_calls_and_a_type_is_no_operand() -> None:
    origin = classify_expression("make_order(3).quantity")
    assert (origin.kind, origin.function, origin.field) == (
        OriginKind.CALL,
        "make_order",
        "quantity",
    )
    assert classify_expression("a(1).x + b(2).x").kind is OriginKind.COMPUTED
    assert classify_expression("Item{i, 100L * i - 300}").operands == ("i",)


def test_of_several_statements_on_a_line_the_one_that_writes_the_target_is_taken() -> None:
    line = "long *f(void) { long *s = malloc(24); s[0] = 0; s[2] = 4711; return s; }"
    assert origin_of_assignment(line, "s[2]").text == "4711"


def test_a_condition_is_no_call_and_an_unsafe_block_is_what_it_holds() -> None:
    assert classify_expression("if (argc > 0)").kind is OriginKind.UNKNOWN
    origin = origin_of_assignment("let h = unsafe { LIMIT };", "h")
    assert (origin.kind, origin.text) == (OriginKind.OPERAND, "LIMIT")
