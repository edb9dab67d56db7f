from __future__ import annotations

import pytest

from debugger.sources.python_suspect import (
    PythonSuspect,
    failed_text,
    find_comprehended,
    find_suspect,
    place_found,
)

ADDED = "unsupported operand type(s) for +: 'int' and 'NoneType'"
ITEM = "sequence item 1: expected str instance, int found"
NOT_NONE = "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"
LESS = "'<' not supported between instances of 'NoneType' and 'int'"


@pytest.mark.parametrize(
    ("statement", "part", "text"),
    [
        ("made[n] = lambda: table[n]", "table[n]", "table[n]"),
        ("a, b = line.split()", "a, b", "a, b = line.split()"),
        ("for key in seen:", "seen", "for key in seen:"),
        ("for a, b in rows:", "a, b", "for a, b in rows:"),
        ("for key in seen:", "for key in seen:\n    drop(key)", "for key in seen:"),
        ("x = a(b) + c(d)", "c(d)", "c(d)"),
        ("x = a[1] == b[2]", "a[1]", "a[1]"),
        ("raise Error(text)", "raise Error(text)", "raise Error(text)"),
        ("x = a[1]", "of another line", "x = a[1]"),
        ("x = a[1]", "", "x = a[1]"),
    ],
)
def test_what_failed_is_the_marked_part_but_for_a_target(
    statement: str, part: str, text: str
) -> None:
    assert failed_text(statement, part) == text


@pytest.mark.parametrize(
    ("text", "exception", "message", "expression"),
    [
        ('row["size"]', "TypeError", "'coroutine' object is not subscriptable", "row"),
        ("n.kids.append(b)", "AttributeError", "'Node' object has no attribute 'kids'", "n"),
        ("a.x + b.x", "AttributeError", "'A' object has no attribute 'x'", ""),
        ('row["a"]', "TypeError", "list indices must be integers or slices, not str", "row"),
        ("rows[key]", "TypeError", "list indices must be integers or slices, not str", "key"),
        ("a, b = line.split('=')", "ValueError", "too many values to unpack (expected 2)", "line"),
        ("a, b = pair", "ValueError", "not enough values to unpack (expected 2, got 1)", "pair"),
        ("a, b = chunk(xs)", "ValueError", "too many values to unpack (expected 2)", ""),
        (
            "for k in seen.keys():",
            "RuntimeError",
            "dictionary changed size during iteration",
            "seen",
        ),
        ('"total: " + t', "TypeError", 'can only concatenate str (not "method") to str', "t"),
        ('",".join(tags)', "TypeError", ITEM, "tags[1]"),
        (
            '",".join(t.name for t in tags)',
            "TypeError",
            ITEM,
            "tags[1].name",
        ),
        ('",".join(f(t) for t in tags)', "TypeError", ITEM, ""),
        ("x", "ValueError", "too many values to unpack (expected 2)", ""),
        ("if x", "TypeError", "no message", ""),
    ],
)  # fmt: skip
def test_the_expression_is_found(text: str, exception: str, message: str, expression: str) -> None:
    found = find_suspect(text, exception, message, {})
    assert (found.expression if found is not None else "") == expression


@pytest.mark.parametrize(
    ("text", "message", "template", "search"),
    [
        ("sum(p.values())", ADDED, "p[{}]", "p.items() if _one is None"),
        ("sum(p)", ADDED, "p[{}]", "enumerate(p) if _one is None"),
        ("sum(r.n for r in p)", ADDED, "p[{}].n", "enumerate(p) if _one.n is None"),
        ("sorted(p, key=lambda r: r['a'])", LESS, 'p[{}]["a"]', 'if _one["a"] is None'),
        ("p.sort()", LESS, "p[{}]", "enumerate(p) if _one is None"),
        ("set(p)", "unhashable type: 'list'", "p[{}]", "type(_one).__name__ == 'list'"),
    ],
)
def test_an_element_is_searched(text: str, message: str, template: str, search: str) -> None:
    found = find_suspect(text, "TypeError", message, {})
    assert found is not None
    assert (found.template, search in found.search) == (template, True)


def test_of_several_items_the_outer_one_failed_where_the_interpreter_marks_it() -> None:
    message = "'int' object is not subscriptable"
    found = find_suspect('d[k][i]["x"]', "TypeError", message, {}, is_marked=True)
    assert found == PythonSuspect("d[k][i]")
    assert find_suspect('d[k][i]["x"]', "TypeError", message, {}) is None


def test_no_element_is_searched_where_the_key_runs_code() -> None:
    assert find_suspect("sorted(p, key=size)", "TypeError", LESS, {}) is None
    assert find_suspect("sum(f(x) for x in p)", "TypeError", ADDED, {}) is None
    assert find_suspect("sum(f(x), key=g)", "TypeError", "and 'str'", {}) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("sum(f(x))", ADDED), ('",".join(f(x))', ITEM), ("sorted(f(x))", LESS)],
)
def test_of_what_a_call_returned_the_recorder_finds_the_item(text: str, message: str) -> None:
    assert find_suspect(text, "TypeError", message, {}) == PythonSuspect("f(x)")


@pytest.mark.parametrize(
    ("text", "message", "found"),
    [
        ("add(*f(x))", "add() argument after * must be an iterable, not NoneType", "f(x)"),
        ("{'a': 1, **f(x)}", "'NoneType' object is not a mapping", "f(x)"),
        ("add(y, **x)", "add() argument after ** must be a mapping, not NoneType", "x"),
        ("[*a, *b.c]", "Value after * must be an iterable, not NoneType", "b.c"),
        ("[*a, *b]", "Value after * must be an iterable, not int", ""),
        ("all.update(f(x))", "'NoneType' object is not iterable", "f(x)"),
    ],
)
def test_what_is_behind_a_star_or_is_gone_through_is_found(
    text: str, message: str, found: str
) -> None:
    suspect = find_suspect(text, "TypeError", message, {"a": "[1]", "b.c": "None"})
    assert (suspect.expression if suspect is not None else "") == found
    assert suspect is None or suspect.is_nothing is (found == "f(x)")


def test_a_call_that_gave_nothing_and_a_used_up_iterator_are_found() -> None:
    message = (
        "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"
    )
    found = find_suspect("int(m.group(2))", "TypeError", message, {})
    assert found == PythonSuspect("m.group(2)", is_nothing=True)
    values = {"total": "3", "values": "<generator object read at 0x7f>"}
    found = find_suspect(
        "total / len(list(values))", "ZeroDivisionError", "division by zero", values
    )
    assert found == PythonSuspect("values")


def test_an_element_is_named_by_the_index_or_key_that_was_found() -> None:
    suspect = PythonSuspect(search="…", template="p[{}].n")
    assert place_found(suspect, "2") == "p[2].n"
    assert place_found(suspect, "'b'") == 'p["b"].n'
    assert [place_found(suspect, one) for one in ("None", "", "<Key object at 0x7f>")] == [""] * 3


NONE_FIRST = "unsupported operand type(s) for +: 'NoneType' and 'int'"
NO_LENGTH = "object of type 'NoneType' has no len()"
NO_NAME = "'NoneType' object has no attribute 'name'"


@pytest.mark.parametrize(
    ("statement", "part", "message", "template"),
    [
        ("return {k: v.w / v.n for k, v in d.items()}", "v.w / v.n", "by zero", "d[{}].n"),
        ("x = [len(v) for v in d.values()]", "len(v)", NO_LENGTH, "d[{}]"),
        ("x = {r['a'] + 1 for r in rows}", "r['a'] + 1", NONE_FIRST, 'rows[{}]["a"]'),
        ("f([r.owner.name for r in a.rows])", "r.owner.name", NO_NAME, "a.rows[{}].owner"),
        ("x = [r.a + r.b for r in rows]", "r.a + r.b", NONE_FIRST, "rows[{}].a"),
        ("x = [r + 1 for r in rows if r]", "r + 1", NONE_FIRST, ""),
        ("x = [r + 1 for r in load()]", "r + 1", NONE_FIRST, ""),
        ("x = [f(r) + 1 for r in rows]", "f(r) + 1", NONE_FIRST, ""),
        ("x = [r + 1 for row in rows for r in row]", "r + 1", NONE_FIRST, ""),
        ("x = [r + 1 for r in rows]", "y + 1", NONE_FIRST, ""),
        ("x = [int(r) for r in rows]", "int(r)", "invalid literal", ""),
    ],
)
def test_the_element_at_which_a_comprehension_failed_is_searched(
    statement: str, part: str, message: str, template: str
) -> None:
    exception = "ZeroDivisionError" if message == "by zero" else "TypeError"
    found = find_comprehended(statement, part, exception, message)
    assert (found.template if found is not None else "") == template
