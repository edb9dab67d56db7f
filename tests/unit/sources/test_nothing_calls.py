from __future__ import annotations

import pytest

from debugger.sources.nothing_calls import (
    describe_nothing_call,
    find_nothing_call,
    find_null_call,
    python_statement,
)

ATTRIBUTE = "'NoneType' object has no attribute 'rows'"
ITERABLE = "'NoneType' object is not iterable"
READ = "Cannot read properties of undefined (reading 'rows')"
OPERANDS = "unsupported operand type(s) for +:"
UNDEFINED = "undefined is not iterable (cannot read property Symbol(Symbol.iterator))"


@pytest.mark.parametrize(
    ("statement", "message", "call"),
    [
        ("return repo.find(key).rows", ATTRIBUTE, "repo.find(key)"),
        ("x = a.b(1).c(2).rows.e", ATTRIBUTE, "a.b(1).c(2)"),
        ("f(g(x).rows).z", ATTRIBUTE, "g(x)"),
        ("a().rows + b().rows", ATTRIBUTE, ""),
        ("repo.find(key).name", ATTRIBUTE, ""),
        ('find(x)["v"]', "'NoneType' object is not subscriptable", "find(x)"),
        ("handlers.get(n)(1)", "'NoneType' object is not callable", "handlers.get(n)"),
        ("for one in find(x): print(one)", ITERABLE, "find(x)"),
        ("return [one for one in find(x)]", ITERABLE, "find(x)"),
        ("return sum(find(x)) + len(y)", ITERABLE, "find(x)"),
        ("print(*find(x))", ITERABLE, "find(x)"),
        ('list(find(x)["tags"])', ITERABLE, 'find(x)["tags"]'),
        ("a, b = pair(x)", "cannot unpack non-iterable NoneType object", "pair(x)"),
        ("a = pair(x)", "cannot unpack non-iterable NoneType object", ""),
        ("len(find(x))", "object of type 'NoneType' has no len()", "find(x)"),
        ("return get(1) + get(2)", f"{OPERANDS} 'int' and 'NoneType'", "get(2)"),
        ("return get(1) + get(2)", f"{OPERANDS} 'NoneType' and 'int'", "get(1)"),
        ("if get(1) < 3:", "'<' not supported between instances of 'NoneType' and 'int'", "get(1)"),
        ("return repo.find(key).rows;", READ, "repo.find(key)"),
        ("return repo.find(key)['rows'];", READ, "repo.find(key)"),
        ("'abc'.match(/x/)[1]", "Cannot read properties of null (reading '1')", "'abc'.match(/x/)"),
        ("const [a] = find(b);", UNDEFINED, "find(b)"),
        ("[...find(b)]", "find is not a function or its return value is not iterable", "find(b)"),
        ("find(b)()", "find(...) is not a function", "find(b)"),
        (
            "const { rows } = find(b);",
            "Cannot destructure property 'rows' of 'find(...)' as it is undefined.",
            "find(b)",
        ),
        ("find(b).rows", "undefined method `rows' for nil:NilClass", "find(b)"),
        ("$r->find($b)->rows;", 'Attempt to read property "rows" on null', "$r->find($b)"),
        ("find(b).rows", "key not found: 3", ""),
        ("return it.next().value.rows;", READ, "it.next().value"),
        ("return page(1).items[0].rows;", READ, "page(1).items[0]"),
        ("return it.next().rows().value;", READ, "it.next()"),
        ("return Shop().owner.rows", ATTRIBUTE, "Shop().owner"),
    ],
)  # fmt: skip
def test_the_call_is_the_one_whose_result_the_message_is_about(
    statement: str, message: str, call: str
) -> None:
    assert find_nothing_call(statement, message) == call


def test_a_pointer_that_a_call_returned_is_followed_by_an_arrow() -> None:
    assert find_null_call("return find(r, k)->v;") == "find(r, k)"
    assert find_null_call("return a->b(1)->c + find(k)->d;") == ""
    assert find_null_call("return count(r)[0];") == ""


def test_what_was_done_to_nothing_is_told() -> None:
    assert describe_nothing_call("find(x)", ATTRIBUTE, "AttributeError") == (
        "None: find(x) returned None, .rows of it is read (AttributeError)"
    )
    assert describe_nothing_call("find(x)", ITERABLE, "TypeError") == (
        "find(x) returned None: 'NoneType' object is not iterable (TypeError)"
    )


def test_the_statement_of_a_line_in_its_middle_has_no_body() -> None:
    source = "def a():\n  for one in (\n    c\n    .get(1)\n    .all()\n  ):\n    b()\n"
    assert python_statement(source, 4) == "for one in ( c.get(1).all() ):"
    assert python_statement(source, 7) == "b()"
    assert python_statement("def (", 1) == ""
