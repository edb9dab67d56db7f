"""Variables in expressions of JavaScript are told from properties, keys and texts."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from debugger.sources.expression_names import rename_variables, variables_of

NAMES = {"item": "t", "total": "r", "rate": "x_1.rate"}


@pytest.mark.parametrize(
    ("expression", "renamed"),
    [
        ("item.total + total", "t.total + r"),
        ("item?.total ?? total", "t?.total ?? r"),
        ("{ item, total: item.total }", "{ item: t, total: t.total }"),
        ("[...item.list, rate]", "[...t.list, x_1.rate]"),
        ("`item ${item.name + `${total}`} total`", "`item ${t.name + `${r}`} total`"),
        ("'item' + \"total\" + item", "'item' + \"total\" + t"),
        ("/item/.test(item.name)", "/item/.test(t.name)"),
        ("total / item / 2", "r / t / 2"),
        ("a ? item : total", "a ? t : r"),
        ("item /* total */ // item\n+ 1", "t /* total */ // item\n+ 1"),
        ("list.map(item => item.total)", "list.map(item => item.total)"),
        ("list.map((one) => one + item)", "list.map((one) => one + t)"),
        ("{ item(total) { return total; } }", "{ item(total) { return total; } }"),
        ("(() => { let a = 1, item = [a, 2]; return item; })()", None),
        ("(() => { const { item } = it; return item; })()", None),
        ("(() => { for (const item of it) return item; })()", None),
        ("(() => { try { f(); } catch (item) { return item; } })()", None),
        (
            "(() => { let a = f(item, 1); if (item) { return a; } })()",
            "(() => { let a = f(t, 1); if (t) { return a; } })()",
        ),
    ],
)
def test_variables_are_renamed_and_nothing_else(expression, renamed):
    assert rename_variables(expression, NAMES) == (renamed or expression)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    "expression",
    [
        "[1, 2].map((t) => t + item.count)",
        "((r) => r.count + total)(item)",
        "(() => { const t = total; return t + item.count; })()",
    ],
)
def test_a_parameter_of_the_compiled_name_hides_no_variable(expression):
    made = rename_variables(expression, NAMES)
    script = (
        "const item = { count: 3 }, total = 4, t = item, r = total;"
        f"console.log(JSON.stringify([{expression}, {made}]))"
    )
    ran = subprocess.run(
        ["node", "-e", script], capture_output=True, text=True, timeout=60, check=True
    )
    before, after = json.loads(ran.stdout)
    assert before == after


def test_the_variables_of_an_expression_are_listed():
    assert variables_of("item.a + Math.max(total, console.log(b))") == ("item", "total", "b")
