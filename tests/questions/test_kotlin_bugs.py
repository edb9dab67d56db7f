"""Five bugs of Kotlin programs, each explained by one question."""

from __future__ import annotations

import pytest

from cli_commands import Cli
from debuggees import find_marker
from kotlin_programs import FOLDER, KotlinProgram, build_kotlin

pytestmark = pytest.mark.adapter("java")


@pytest.fixture(scope="module")
def program() -> KotlinProgram:
    return build_kotlin()


def at(marker: str) -> str:
    return f"Bugs.kt:{find_marker('kotlin/Bugs.kt', marker)}"


def explain(cli: Cli, program: KotlinProgram, bug: str, *words: str) -> str:
    command = ("java", "-cp", program.class_path, "shop.bugs.BugsKt", bug)
    return str(cli(*words, "--", *command, check=0, cwd=FOLDER, timeout=120).out)


def test_crash_shows_the_code_that_has_no_price(shared_cli: Cli, program: KotlinProgram) -> None:
    shown = explain(shared_cli, program, "bill", "crash")
    assert shown.splitlines()[0].endswith(f"in Catalogue.priceOf {at('priced')}")
    assert "why: prices.get(code)=null" in shown
    assert 'values: prices={"pen"=30, "ink"=null, "cap"=5}' in shown
    assert 'code="ink"' in shown
    assert f"called by BugsKt.bill {at('billed')}" in shown


def test_why_names_the_customer_whose_reward_all_share(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    shown = explain(shared_cli, program, "reward", "why", "discounts.get(0)", "--at", at("spent"))
    assert f"Customer.reward at {at('rewards')}: 20" in shown
    assert "ada.reward(20)" in shown


def test_holds_names_the_order_that_another_one_overwrites(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    total = "free + orders.values().stream().mapToInt(one -> (Integer) one).sum() == 10"
    shown = explain(shared_cli, program, "order", "holds", total, "--at", at("ordered"))
    assert f"first false at {at('ordered')} #3" in shown
    assert f"made false by {at('overwrites')} orders[code] = count" in shown


def test_calls_show_that_a_heavy_parcel_is_never_taken_for_fragile(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    """The function is outside of classes: it is named by its package."""
    shown = explain(shared_cli, program, "post", "calls", "shop.bugs.postage")
    third = shown[shown.index("#3") :]
    assert "parcel=Box(grams=1500, fragile=true)) → 799" in third
    assert "parcel.grams > 1000 -> 799" in third
    assert "1099" not in third


def test_hang_names_the_part_that_waits_for_its_own_pool(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    shown = explain(shared_cli, program, "report", "hang", "--after", "0.5")
    assert shown.splitlines()[0].endswith(f"in BugsKt.report {at('awaited')}")
    assert "(reports): waits for part (CompletableFuture)" in shown
    assert at("starved") in shown


def test_a_crash_in_what_a_library_inlined_is_at_the_call(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    shown = explain(shared_cli, program, "cheapest", "crash")
    assert shown.splitlines()[0].endswith(f"in BugsKt.cheapest {at('cheapest')}")
    assert "no line numbers" not in shown
    assert "created in" not in shown


def test_what_no_coroutine_catches_has_its_values_and_their_origin(
    shared_cli: Cli, program: KotlinProgram
) -> None:
    """The library catches it and reports it: a second run stops where it is thrown."""
    shown = explain(shared_cli, program, "launch", "crash")
    assert shown.splitlines()[0].startswith("survived: NullPointerException")
    assert shown.splitlines()[0].endswith(f"in Catalogue.priceOf {at('priced')}")
    assert 'code="ink"' in shown
    assert "why: prices.get(code)=null" in shown
    assert "it was run a second time" in shown
