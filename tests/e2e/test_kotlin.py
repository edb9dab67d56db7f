"""Real Kotlin programs: inline functions, lambdas, coroutines, a crash and a failing test."""

from __future__ import annotations

from typing import Any

import pytest

from cli_commands import Cli, answer_data
from debuggees import find_marker
from kotlin_programs import CONSOLE, FOLDER, KotlinProgram, build_kotlin

pytestmark = pytest.mark.adapter("java")
MAIN = "shop.ShopKt"


@pytest.fixture(scope="module")
def program() -> KotlinProgram:
    return build_kotlin()


def line(marker: str) -> int:
    return find_marker("kotlin/Shop.kt", marker)


def at(marker: str) -> str:
    return f"Shop.kt:{line(marker)}"


def kotlin(cli: Cli, *words: str) -> Any:
    return answer_data(cli("--json", *words, check=0, cwd=FOLDER, timeout=120))


def start(cli: Cli, program: KotlinProgram, *breaks: str, words: tuple[str, ...] = ()) -> Any:
    options = [f"--break={one}" for one in breaks]
    return kotlin(cli, "start", "java", *options, "--", "-cp", program.class_path, MAIN, *words)


def locals_of(stop: Any) -> dict[str, str]:
    return {one["name"]: one["value"] for one in stop["locals"]}


def test_a_method_is_stopped_in_inspected_stepped_and_ends(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    cli = shared_cli
    stop = start(cli, program, at("sum"))
    assert (stop["frame"]["function"], stop["frame"]["line"]) == ("Cart.total", line("sum"))
    assert stop["frame"]["file"] == str(FOLDER / "Shop.kt")
    found = locals_of(stop)
    assert (found["sum"], found["item"]) == ("0", 'Item(name="pen", price=30)')
    shown = cli("print", "item.price * 2", check=0, cwd=FOLDER).out
    assert shown.strip() == "item.price * 2 = 60"
    shown = cli("print", "size", check=0, cwd=FOLDER).out
    assert shown.strip() == "size = 2"  # a property without a field
    cli("up", check=0, cwd=FOLDER)
    shown = cli("print", "this.size + size", check=0, cwd=FOLDER).out
    assert shown.strip() == "this.size + size = 4"  # in an extension function, which is static
    changed = kotlin(cli, "next")["changed"]
    assert [one["value"] for one in changed if one["name"] == "sum"] == ["30"]
    cli("breakpoint", "remove", "--all", check=0, cwd=FOLDER)
    stop = kotlin(cli, "finish")
    assert (stop["frame"]["function"], stop["returned"]["value"]) == ("ShopKt.describe", "60")
    end = kotlin(cli, "continue")
    assert (end["reason"], end["exit_code"]) == ("exit", 0)
    assert [one["text"] for one in end["output"]] == ["2 [PEN, INK] 60"]


def test_lines_are_counted_once_around_inlined_code(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    words = ("path", "--around", "ShopKt.main", "--", "java", "-cp", program.class_path, MAIN)
    (main,) = kotlin(shared_cli, *words)["places"]
    found = {one["line"]: one["times"] for one in main["lines"]}
    assert (found[line("names") + 1], found[line("parsed")]) == (1, 1)
    assert max(found) == line("parsed")  # no lines of inlined code behind the file's end


def why(cli: Cli, program: KotlinProgram, name: str) -> Any:
    words = ("why", name, "--at", at("shown"), "--timeout", "300", "--", "java", "-cp")
    return kotlin(cli, *words, program.class_path, MAIN)


def test_why_names_the_branch_of_a_when_that_gave_a_value(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    """All branches jump to one instruction, and none falls through to it."""
    found = why(shared_cli, program, "paid")
    assert found["links"][-1]["text"] == "ShopKt.fee returned it"
    assert found["ending"] == f"4 is a literal at {at('far')}"


def test_why_follows_a_variable_that_a_lambda_assigns_through_inlined_code(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    """kotlinc puts such a variable into an object, and marks the end of inlined code by a nop."""
    found = why(shared_cli, program, "last")
    texts = [one["text"] for one in found["links"]]
    assert texts == ["last written", "destination assigned"]
    assert found["links"][0]["frame"]["line"] == line("last")
    assert (found["ended"], found["ending"][:13]) == ("allocation", "new ArrayList")


def test_inline_functions_lambdas_and_coroutines_have_the_names_of_the_source(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    """An inline function is compiled into its caller, and a coroutine into a state machine."""
    stop = start(shared_cli, program, at("fetched"), at("accept"), at("names"), at("place"))
    pending = next(one for one in stop["notes"] if "breakpoint 4" in one)
    assert f"no class that is loaded has code at line {line('place')}; the nearest" in pending
    assert stop["frame"]["function"] == "ShopKt.fetch"
    assert locals_of(stop)["name"] == '"pen"'
    assert locals_of(kotlin(shared_cli, "continue"))["name"] == '"ink"'
    stop = kotlin(shared_cli, "continue")
    assert (stop["frame"]["function"], stop["frame"]["line"]) == ("ShopKt.main", line("accept"))
    assert locals_of(stop)["item"] == 'Item(name="pen", price=30)'
    assert locals_of(stop)["found"] == "0"
    step = kotlin(shared_cli, "next")
    assert step["frame"]["line"] == line("dear")  # the lambda, inlined too
    assert locals_of(kotlin(shared_cli, "continue"))["found"] == "1"
    stop = kotlin(shared_cli, "continue")
    assert (stop["frame"]["line"], locals_of(stop)["dear"]) == (line("names"), "2")
    kotlin(shared_cli, "stop")


def test_crash_names_both_exceptions(shared_cli: Cli, program: KotlinProgram) -> None:
    words = ("--", "java", "-cp", program.class_path, MAIN, "x12")
    shown = shared_cli("crash", *words, check=0, cwd=FOLDER, timeout=120).out
    cause = f"crash: IllegalArgumentException: no price: x12, in ShopKt.parse {at('thrown')}"
    assert shown.splitlines()[0] == cause
    assert f'For input string: "x12", in ShopKt.parse {at("parse")}' in shown
    assert f"called by ShopKt.main {at('parsed')}" in shown


def test_a_failing_test_is_explained(shared_cli: Cli, program: KotlinProgram) -> None:
    words = ("java", "-jar", str(CONSOLE), "-cp", program.class_path, "-c", "shop.CartTest")
    found = answer_data(
        shared_cli("--json", "test", "--", *words, check=0, cwd=FOLDER, timeout=120)
    )
    assert found["test"] == "shop.CartTest.addsAll()"
    assert found["cause"].startswith("assertion failed: expected: <8> but was: <7>")
    place = (found["frame"]["function"], found["frame"]["line"])
    assert place == ("CartTest.addsAll", find_marker("kotlin/CartTest.kt", "asserted"))
    assert found["made"][-1]["text"] == "val total = cart.total()"
