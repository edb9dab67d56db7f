"""The functions that `holds` checks are found in the text of sources, by any of their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import PROGRAMS
from debugger.questions.holds.checked_lines import (
    list_functions,
    matching_functions,
    near_function_names,
)

FOLDER = PROGRAMS / "scopes"


@pytest.fixture
def sources() -> list[str]:
    return [str(FOLDER / f"scopes.{one}") for one in ("go", "cpp", "rs")]


@pytest.mark.parametrize(
    ("number", "names"),
    [
        (0, ["Tree.Add", "counter", "counter.func1", "counter.add", "counter.func2"]),
        (1, ["geo.Box.area", "geo.area", "main", "main.Local.grow"]),
        (2, ["shop.Cart.total", "main", "main.nested"]),
    ],
)
def test_functions_have_the_names_of_what_is_around_them(
    sources: list[str], number: int, names: list[str]
) -> None:
    found = dict.fromkeys(one.name for one in list_functions(sources[number]))
    assert list(found) == names


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("add", 12), ("counter.add", 12), ("counter.func1", 12), ("shop.(*Tree).Add", 6),
        ("Tree*", 6), ("geo::Box::area", 4), ("geo::Box*", 4), ("Local::grow", 14),
        ("geo::area", 8), ("Cart::total", 7), ("main::nested", 13),
    ],
)  # fmt: skip
def test_a_name_means_the_functions_that_it_ends(
    sources: list[str], pattern: str, first: int
) -> None:
    found = matching_functions(pattern, sources)
    assert {one.first for one in found} == {first}


def test_a_name_that_no_source_has_is_near_to_others(sources: list[str]) -> None:
    assert matching_functions("totl", sources) == []
    assert "shop.Cart.total" in near_function_names("totl", sources)


def test_functions_of_kotlin_are_blocks_or_expressions(tmp_path: Path) -> None:
    source = tmp_path / "Shop.kt"
    source.write_text(
        "data class Item(val name: String)\n"
        "class Cart {\n"
        "    fun add(item: Item) { items += item }\n"
        "    private suspend fun <T> load(\n        from: T,\n    ): Int {\n"
        "        return 1\n    }\n"
        "    companion object {\n        fun make() = Cart()\n    }\n"
        "}\n"
        "fun List<Item>.total(): Int =\n    this.map { it.name.length }\n        .sum()\n"
    )
    found = [(one.name, one.first, one.last) for one in list_functions(str(source))]
    assert found == [
        ("Cart.add", 3, 3),
        ("Cart.load", 7, 8),
        ("Cart.make", 10, 10),
        ("total", 13, 15),
    ]
