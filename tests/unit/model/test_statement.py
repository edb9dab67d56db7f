"""What a statement reads, without anything that has an effect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.model.statement import MemoryAccess, join_statement, parse_reads, parts_of


def accesses(text: str, *, is_python: bool = False) -> list[tuple[str, str, str]]:
    found = parse_reads(text, hash_comments=is_python).accesses
    return [(one.base, one.how, one.inner) for one in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("value = first->value; // first->other", [("first", "->", "value")]),
        ("return *place;", [("place", "*", "")]),
        ("int *place = from->next;", [("from", "->", "next")]),
        ("area = width * height;", []),
        ("a->b[i + 1].c", [("a", "->", "b"), ("a->b", "[]", "i+1"), ("a->b[i+1]", ".", "c")]),
        ("return sum / (among - 2);", [("among-2", "/", "")]),
        ("x % n", [("n", "/", "")]),
        ("intdiv(10, rows)", [("rows", "/", "")]),
        ("return array_sum($l) / count($l);", [("$l", "/", "length")]),
        ("return total / count(list);", [("list", "/", "length")]),
        # Of PHP a dot joins texts.
        ("echo 'n: ' . $a . $v->name . strtoupper($b);", [("$v", "->", "name")]),
        ("echo $a.$v->name.'x'.$b;", [("$v", "->", "name")]),
        ("$name = $obj.name;", [("$obj", ".", "name")]),
        ("Math.floorMod(f(a, b), c - d)", [("Math", ".", "floorMod"), ("c-d", "/", "")]),
        ("whole.divide(count(n), MODE)", [("whole", ".", "divide"), ("MODE", "/", "")]),
        ("whole.divide(count(n))", [("whole", ".", "divide")]),
        ("order?.lines[at].sku", [
            ("order", ".", "lines"), ("order?.lines", "[]", "at"), ("order?.lines[at]", ".", "sku"),
        ]),
        ("`to ${customer.name}`", [("customer", ".", "name")]),
        ('"to->nowhere"', []),
        ("let x: Vec<'a> = y.z;", [("y", ".", "z")]),
    ],
)  # fmt: skip
def test_what_is_read_is_named(text: str, found: list[tuple[str, str, str]]) -> None:
    assert accesses(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = a // b  # c / d", [("b", "/", "")]),
        ("f'{order.total:>8}'", [("order", ".", "total")]),
        ("cfg['a']['b']", [("cfg", "[]", "'a'"), ("cfg['a']", "[]", "'b'")]),
    ],
)
def test_python_is_read_as_python(text: str, found: list[tuple[str, str, str]]) -> None:
    assert accesses(text, is_python=True) == found


def test_nothing_with_an_effect_is_named() -> None:
    found = parse_reads("list[next()] = pop(queue)->head + (*at++) + table[i = 3].name;")
    assert not any(
        "(" in name or "=" in name or "++" in name
        for name in (*found.operands, *(one.base for one in found.accesses if one.how != "[]"))
    )


def test_what_a_declaration_of_rust_writes_is_not_read() -> None:
    assert parse_reads("let off = sum * rate / 100;").operands == ("sum", "rate")
    assert parse_reads("let mut off = off - sum;").operands == ("off", "sum")
    assert parse_reads("int off = sizes.at(key);").operands == ("key",)
    assert parse_reads("const int &off = sizes.at(key);").operands == ("key",)
    assert parse_reads("let is_same: bool = a == b;").operands == ("a", "b")


def test_the_arguments_of_a_template_are_types_and_no_values() -> None:
    assert parse_reads("return from_json(j, std::forward<T>(val));").operands == ("j", "val")
    assert parse_reads("let n = text.parse::<u32>() / of;").operands == ("of",)
    assert set(parse_reads("if (a < b && c > (d))").operands) >= {"a", "b", "c"}


def test_the_parameters_of_a_closure_are_not_named() -> None:
    found = parse_reads("let newest = fitting.iter().map(|one| &one.version).max().unwrap();")
    assert not any("one" in (read.base, read.whole) for read in found.accesses)
    assert "one" not in found.operands
    found = parse_reads("let n = all.fold(of, |sum, (at, one)| sum + one.price * at);")
    assert {"sum", "one", "at"}.isdisjoint(found.operands)
    assert {"a", "b", "c"} <= set(parse_reads("x = f(a | b, b | c);").operands)


def test_a_statement_over_several_lines_is_joined() -> None:
    lines = ["total = add(first,  // one", "    second[at],", "    third);", "next();"]
    assert join_statement(lines) == "total = add(first, second[at], third);"
    assert join_statement(["if (x->y) {", "    z();"]) == "if (x->y) {"


@given(st.text(max_size=200), st.booleans())
def test_any_text_can_be_read(text: str, is_python: bool) -> None:
    found = parse_reads(text, hash_comments=is_python)
    assert len(found.accesses) <= 12
    assert len(found.operands) <= 12


def test_what_an_assignment_only_writes_is_no_operand():
    assert parse_reads("total = 5 + stack.pop", hash_comments=True).operands == ("stack.pop",)
    assert "total" in parse_reads("total = total + rate").operands
    assert "total" in parse_reads("total == rate").operands


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("row[name] - count", ("row", "name", "count")),
        ('row["name"]', ("row",)),
        ("row[:count]", ("row",)),
        ("row", ()),
        ("rows.count", ()),
    ],
)
def test_the_parts_of_an_expression_are_what_it_names(
    expression: str, parts: tuple[str, ...]
) -> None:
    assert parts_of(expression, ("row", "name", "count", "w")) == parts


@pytest.mark.parametrize(
    ("text", "base", "length"),
    [
        ("return s / len(v)", "v", "len(v)"),
        ("return total / int64(len(o.items))", "o.items", "len(o.items)"),
        ("return s / v.size();", "v", "v.size()"),
        ("return s / (int)v.size();", "v", "v.size()"),
        ("return s / (double) o->list.size();", "o->list", "o->list.size()"),
        ("return s / static_cast<int>(v.size());", "v", "v.size()"),
        ("sum % (v.len())", "v", "v.len()"),
        ("return $sum / count($v);", "$v", "count($v)"),
    ],
)
def test_a_length_that_divides_is_told_with_its_container(
    text: str, base: str, length: str
) -> None:
    divisions = [one for one in parse_reads(text).accesses if one.how == "/"]
    assert divisions == [MemoryAccess(base, "/", "length", length)]


def test_a_cast_divisor_is_the_variable_that_is_converted() -> None:
    divisions = [one for one in parse_reads("a / (size_t)b").accesses if one.how == "/"]
    assert divisions == [MemoryAccess("b", "/", "", "b")]


@pytest.mark.parametrize("text", ["s / sum(v)", "s / (len(v) + 1)", "s / len(load(v))"])
def test_what_is_no_length_of_a_variable_is_no_length(text: str) -> None:
    assert not [one for one in parse_reads(text).accesses if one.inner == "length"]


def test_an_object_of_its_own_method_is_read_as_a_divisor() -> None:
    for text in ("self.w / self.h", "this.w / this.h"):
        for is_python in (True, False):
            accesses = parse_reads(text, hash_comments=is_python).accesses
            assert text.partition(" / ")[2] in [one.base for one in accesses if one.how == "/"]
