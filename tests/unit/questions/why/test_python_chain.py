"""Chains of links that are built from a recorder's graph."""

from __future__ import annotations

from typing import Any

from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind
from debugger.questions.why.python_chain import OriginLinkRecord, OriginRecord, build_chain

PLACE = ("/none/app.py", "main", 3)


def link(kind: str, how: str, *sources: tuple[str, int, str | None], **more: object) -> Any:
    """Return a link of the graph."""
    values = {"kind": kind, "how": how, "place": PLACE, "sources": sources, **more}
    return OriginLinkRecord(**values)  # type: ignore[arg-type]


def chain(*links: object, most: int = 12) -> Any:
    """Return the answer for a graph whose first link gave the value."""
    record = OriginRecord(
        1, PLACE, "0", "copy", sources=(("x", 0, "0"),), links=tuple(links)  # type: ignore[arg-type]
    )  # fmt: skip
    return build_chain("x", "app.py:3", record, {1: "MainThread"}, most)[0]


def test_a_constant_ends_a_chain() -> None:
    answer = chain(link("name", "copy", ("y", 1, "0"), name="x"), link("name", "constant"))
    assert [one.kind for one in answer.links] == [LinkKind.WRITTEN, LinkKind.WRITTEN]
    assert answer.ended is ChainEnd.CONSTANT


def test_of_several_operands_the_one_with_the_same_value_is_followed() -> None:
    first = link("name", "computed", ("a", 1, "4"), ("b", 2, "0"), value="0")
    answer = chain(
        first, link("name", "constant", name="a"), link("argument", "constant", name="b")
    )
    assert answer.links[1].text.startswith("passed as b")
    assert [one.is_followed for one in answer.links[0].operands] == [False, True]


def test_operands_of_which_none_stands_out_are_all_named() -> None:
    first = link("name", "computed", ("a", 1, "4"), ("b", 2, "5"), value="9")
    answer = chain(first, link("name", "constant", name="a"), link("name", "constant", name="b"))
    assert answer.ended is ChainEnd.NOT_FOLLOWED
    assert answer.ending == "none of its operands stands out: debugger why a --at app.py:3 -- CMD"
    assert len(answer.links[0].details) == 2


def test_a_nan_is_followed_to_the_operand_that_is_one() -> None:
    first = link("name", "computed", ("a", 1, "nan"), ("b", 2, "5"), value="nan")
    answer = chain(first, link("name", "constant", name="a"), link("name", "constant", name="b"))
    assert answer.links[1].text == "assigned to a"


def test_an_inferred_link_says_so_and_a_cycle_ends() -> None:
    answer = chain(link("part", "part", ("x", 0, "0"), name="[0]", inferred=True))
    assert answer.links[0].certainty is LinkCertainty.INFERRED
    assert answer.ended is ChainEnd.BOUND


def test_a_chain_has_at_most_its_links() -> None:
    some = [
        link("name", "copy", ("x", at + 1, "0"), place=("/none/app.py", "main", at))
        for at in range(20)
    ]
    answer = chain(*some, link("name", "constant"), most=5)
    assert (len(answer.links), answer.ended) == (5, ChainEnd.BOUND)


def test_the_rounds_of_a_loop_that_keep_a_value_are_one_link() -> None:
    some = [link("name", "computed", ("x", at + 1, "0"), value="0") for at in range(20)]
    answer = chain(*some, link("argument", "constant", value="0"), most=5)
    assert [one.kind for one in answer.links] == [LinkKind.WRITTEN, LinkKind.PASSED]
    assert answer.links[0].details == ("19 later rounds left the value as it is",)


def test_a_value_without_a_seen_write_is_not_guessed() -> None:
    answer = chain(link("name", "copy", ("row.price", -1, "0")))
    assert answer.ended is ChainEnd.NOT_FOLLOWED
    assert answer.ending is not None
    assert "nothing of the program's own code was seen to set it" in answer.ending
