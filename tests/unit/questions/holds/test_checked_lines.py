"""The functions that `holds` checks are found in the text of sources, by any of their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.questions.holds.checked_lines import (
    list_functions,
    matching_functions,
    near_function_names,
)

GO = """package shop

type Tree struct{ items []int }

func (t *Tree) Add(item int) int {
	t.items = append(t.items, item)
	return len(t.items)
}

func counter(start int) func(int) int {
	add := func(count int) int {
		start += count
		return start
	}
	go func() {
		start = 0
	}()
	return add
}
"""
CPP = """namespace geo {
template <class T> struct Box {
    T area(T height) {
        return height;
    }
};
int area(int side) {
    return side;
}
}
int main() {
    struct Local {
        int grow(int by) {
            return by;
        }
    };
    if (area(2)) {
        return 1;
    }
}
"""
RUST = """mod shop {
    pub trait Priced {
        fn total(&self) -> i32;
    }
    impl Priced for Cart {
        fn total(&self) -> i32 {
            self.count
        }
    }
}
fn main() {
    fn nested(count: i32) -> i32 {
        count
    }
}
"""


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    texts = {"shop.go": GO, "box.cpp": CPP, "cart.rs": RUST}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [str(tmp_path / name) for name in texts]


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
