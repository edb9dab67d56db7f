"""`calls` steps through functions of Node and Go, and reports how each call ended."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

NODE = program_text("counted_lines/stepped.js")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stepped") / "app.js"
    path.write_text(NODE)
    return path


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("function", "nth", "says"),
    [
        ("Cart.of", 1, "#1 Cart.of(prices=(2) [1, 2]) → Cart app.js:4"),
        ("Cart.#add", 2, "#2 Cart.#add(price=2) → 2 app.js:9"),
        ("Cart.total", 1, "#1 Cart.get total() → 3 app.js:13"),
        ("app.js:14", 1, "#1 Cart.get total() → 3 app.js:13"),
        ("Gift.constructor", 1, "#1 Gift(name='g') → Gift app.js:20"),
        ("helpers.half", 1, "#1 half(value=3) → 1.5 app.js:32"),
        ("later", 1, "#1 later(value=5) → Promise app.js:35"),
        ("main", 1, "#1 main() → Promise app.js:42"),
        (
            "check",
            3,
            "#3 check(price=-1) raised an exception: it was caught further out at line 25",
        ),
        ("check", 4, "#4 check(price=-2) raised RangeError: negative at line 25"),
    ],
)
def test_any_function_of_node_is_stepped_through_to_its_end(
    cli: Callable[..., Any], node: Path, function: str, nth: int, says: str
) -> None:
    run = ["--nth", str(nth), "--", "node", node.name]
    answer = cli("calls", function, *run, cwd=node.parent, check=0)
    assert says in answer.out, str(answer)
    assert "note: stepped through: debugger path --around app.js:" in answer.out
    has_awaited = "calls that began while one of these awaited something" in answer.out
    assert has_awaited == (function in {"later", "main"})
    assert "36  return first * 2;" in answer.out or function != "later"


@pytest.mark.adapter("js-debug")
def test_three_calls_are_stepped_through_where_no_number_is_given(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "four.js").write_text(
        "function tax(n) {\n  return n * 2;\n}\nfor (const n of [1, 2, 3, 4]) tax(n);\n"
    )
    answer = cli("calls", "tax", "--", "node", "four.js", cwd=tmp_path, check=0)
    assert [f"#{n} tax(n={n}) → {2 * n}" in answer.out for n in (1, 2, 3, 4)] == [True] * 3 + [
        False
    ]


@pytest.mark.adapter("js-debug")
def test_a_return_that_v8_does_not_stop_at_ends_a_call_all_the_same(
    cli: Callable[..., Any], node: Path
) -> None:
    answer = cli("calls", "lasts", "--limit", "2", "--", "node", node.name, cwd=node.parent)
    assert "#1 lasts(n=3) returned app.js:50" in answer.out, str(answer)
    assert "#2 lasts(n=0) → undefined app.js:50" in answer.out


@pytest.mark.adapter("js-debug")
def test_what_is_no_function_of_node_is_told_with_the_nearest(
    cli: Callable[..., Any], node: Path
) -> None:
    run = ["--", "node", node.name]
    answer = cli("calls", "app.js:33", *run, cwd=node.parent, check=1)
    assert "app.js:33 is in no function; there is helpers.half" in answer.err
    answer = cli("calls", "helpers.haf", *run, cwd=node.parent, check=1)
    assert "no function helpers.haf in the text of 1 script" in answer.err
    assert "there is half" in answer.err
    answer = cli("path", "--around", "app.js:32", *run, cwd=node.parent, check=0)
    assert "half app.js:32 was called 1 time" in answer.out


GO = program_text("counted_lines/stepped.go")


@pytest.mark.adapter("delve")
def test_a_panic_is_how_a_call_of_go_ended(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "cart.go").write_text(GO)
    run = ["--", "go", "run", "cart.go"]
    answer = cli("calls", "cart.add", *run, cwd=tmp_path, check=0)
    for says in (
        "price=2) → 2 cart.go:7",
        "price=-1) raised panic: main.safe.func1, which was deferred, runs next at line 9",
        "price=-5) raised panic: negative at line 9",
    ):
        assert says in answer.out, str(answer)
    own = cli("calls", "main.safe", *run, cwd=tmp_path, check=0)
    assert "call 1 was not seen to end: a panic runs main.safe.func1" in own.out, str(own)
    missed = cli("calls", "cart.ad", *run, cwd=tmp_path, check=1)
    assert (
        "no function cart.ad in the program (cart.go, and its libraries); there is main.(*cart).add"
        in missed.err
    )


NO_LOOP = program_text("counted_lines/stepped_no_loop.rs")


@pytest.mark.adapter("lldb-dap")
def test_a_statement_that_ends_where_it_began_is_no_loop(
    cli: Callable[..., Any], tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    (tmp_path / "a.rs").write_text(NO_LOOP)
    subprocess.run([require_tool("rustc"), "-g", "a.rs"], check=True, cwd=tmp_path, timeout=60)
    answer = cli("calls", "kind", "--depth", "0", "--", "./a", cwd=tmp_path).out
    assert "back at" not in answer
    assert "loop at" not in answer


INLINED = """\
#include <stdio.h>
static int price(int at) {
    int found = at * 3;
    printf("%d\\n", found);
    return found + 1;
}
int main(void) { return price(2) > 100; }
"""


@pytest.mark.adapter("lldb-dap")
@pytest.mark.adapter("frida")
def test_of_an_inlined_function_it_is_said_that_its_calls_are_not_whole(
    cli: Callable[..., Any], tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    (tmp_path / "a.c").write_text(INLINED)
    words = [require_tool("gcc"), "-g", "-O2", "-o", "a", "a.c"]
    subprocess.run(words, check=True, cwd=tmp_path, timeout=60)
    told = cli("calls", "price", "--json", "--", "./a", cwd=tmp_path)
    assert any("the compiler has inlined it" in one for one in told.data["data"]["notes"])
