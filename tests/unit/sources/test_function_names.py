"""Names that users give functions are compared with those that languages give them."""

from __future__ import annotations

import pytest

from debugger.sources.function_names import choose_matches, rank_match, split_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("outer.<locals>.inner", ("outer", "inner")),
        ("geo::(anonymous namespace)::hidden", ("geo", "hidden")),
        ("<shop::Cart as shop::Priced>::total", ("Cart", "total")),
        ("_$LT$shop..Cart$u20$as$u20$shop..Priced$GT$::total", ("Cart", "total")),
        ("shop::{impl#0}::total", ("shop", "total")),
        ("shop::main::{closure#0}", ("shop", "main", "{closure}")),
        ("shop/util.(*Tree[go.shape.int]).Add", ("util", "Tree", "Add")),
        ("geo::Box<int>::operator()", ("geo", "Box", "operator()")),
        ("a::operator->", ("a", "operator->")),
        ("Cart.get total", ("Cart", "total")),
        ("Cart.#add", ("Cart", "add")),
        ("std::vector<f(int)>::push", ("std", "vector", "push")),
        ("<lambda>", ("<lambda>",)),
    ],
)
def test_a_name_is_split_without_what_nobody_types(name: str, parts: tuple[str, ...]):
    assert split_name(name) == parts


@pytest.mark.parametrize(
    ("wanted", "name", "rank"),
    [
        ("inner", "outer.<locals>.inner", 0),
        ("shop.outer.inner", "outer.<locals>.inner", 0),
        ("cart.shop.outer.inner", "outer.<locals>.inner", 0),
        ("outer.inner", "outer.<locals>.middle.<locals>.inner", 1),
        ("inner", "outer.<locals>.winner", None),
        ("other.inner", "outer.<locals>.inner", None),
        ("(*Tree).Add", "util.(*Tree).Add", 0),
        ("Priced::total", "<shop::Cart as shop::Priced<u8>>::total", 0),
        ("shop::Priced::total", "_$LT$shop..Cart$u20$as$u20$shop..Priced$GT$::total", 0),
        ("Other::total", "<shop::Cart as shop::Priced>::total", None),
        ("out*.inner", "outer.<locals>.inner", 0),
    ],
)
def test_a_name_fits_by_its_last_parts_or_with_parts_left_out(
    wanted: str, name: str, rank: int | None
):
    assert rank_match(wanted, name, "/cart/shop") == rank


def test_those_that_fit_by_their_last_parts_come_before_those_that_fit_at_all():
    names = ["a.x.b", "a.b", "z.a.b", "b"]
    assert choose_matches("a.b", names, lambda one: (one, "")) == ["a.b", "z.a.b"]
    assert choose_matches("z.b", names, lambda one: (one, "")) == ["z.a.b"]
    assert choose_matches("y.b", names, lambda one: (one, "")) == []
