"""Questions about a minified program are asked and answered with the names of its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from debuggees import PROGRAMS

FOLDER = PROGRAMS / "minified"
LINES = (FOLDER / "cart.ts").read_text().splitlines()
pytestmark = pytest.mark.adapter("js-debug")


def place_of(part: str) -> str:
    (found,) = [number for number, one in enumerate(LINES, 1) if part in one]
    return f"cart.ts:{found}"


@pytest.fixture(params=["esbuild.js", "terser.js"])
def ask(cli: Callable[..., Any], request: pytest.FixtureRequest) -> Callable[..., str]:
    """Return what asks a question about one of the scripts, and gives the text of the answer."""

    def run(*words: str, program: tuple[str, ...] = ()) -> str:
        command = (*words, "--", "node", request.param, *program)
        return str(cli(*command, cwd=FOLDER, timeout=90).out)

    return run


def test_a_probe_reads_variables_of_the_source(ask: Callable[..., str]) -> None:
    at = place_of("if (cart.addItem")
    text = ask("probe", "--at", at, "`${name} ${entry}`, cart.items.length", "--when", "count > 5")
    assert '1  "pen pen,1.5,10"  0' in text
    assert "2  " not in text


def test_a_removed_variable_is_answered_with_what_to_write(ask: Callable[..., str]) -> None:
    text = ask("probe", "--at", place_of("return `${rounded}"), "rounded, amount")
    assert "here: write what it is computed from: Math.round(amount * 100) / 100" in text
    assert "1  135" in text


def test_the_writes_of_a_variable_and_their_functions_have_their_names(
    ask: Callable[..., str],
) -> None:
    text = ask("who-wrote", "runningTotal", "--at", place_of("return runningTotal"))
    assert "was last written: 15 → 135, in Cart.totalPrice" in text


def test_an_invariant_is_narrowed_to_a_statement_of_the_source(ask: Callable[..., str]) -> None:
    text = ask("holds", "subtotal < 100", "--at", place_of("this.items.push"))
    assert f"made false by {place_of('const subtotal')} const subtotal = item.price" in text
    assert "[subtotal 15 → 120]" in text
    assert "in Cart.addItem" in text


def test_frames_are_named_as_in_the_source(ask: Callable[..., str]) -> None:
    text = ask("crash", program=("pen,1,2;ink,-4,2",))
    assert "crash: RangeError: bad entry 1: ink,-4,2" in text
    assert "called by readOrders cart.ts" in text
    calls = ask("calls", "readOrders")
    assert "#1 readOrders(text='pen,1.5,10;book,30,4')" in calls
