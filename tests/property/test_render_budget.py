"""Any answer, however hostile, stays within its budget and on its lines."""

from __future__ import annotations

import functools
import json
import re
import types
import typing
from collections.abc import Mapping
from enum import Enum

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Struct, UnsetType

from debugger.cli.answer_text import FORMATTERS, format_answer
from debugger.model import answers
from debugger.output import OutputStyle, to_data, to_json
from debugger.questions.group.answer import RemoteShellEnd
from debugger.questions.probe.answer import Probe
from debugger.questions.runner.answer import EvidenceReport

SGR = re.compile(r"\x1b\[[0-9;:]*m")
# What moves a cursor, begins a line, turns the writing around or cannot be encoded.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
LEAST_JSON = 20  # tokens: below this not even `truncated` fits

HOSTILE = st.sampled_from(
    [
        "",
        "x",
        "\n",
        "\r\n",
        "\t",
        "\x00",
        "\x1b[2J",
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x9b",
        "\u202e",
        "\u2066",
        "\u2028",
        "\ud800",
        '"\\',
        "é𝄞",
        "{a, b, c}",
        "[link=x]",
        "stopped: ",
        " … ",
        " (5 characters)",
        "/a/b.c",
    ]
)


def texts(times):
    """Give texts, the hostile ones among them also several times one after another."""
    return st.one_of(
        HOSTILE,
        st.text(max_size=8),
        st.builds(lambda part, times: part * times, HOSTILE, st.sampled_from(times)),
        st.lists(HOSTILE, max_size=5).map("".join),
    )


NUMBER = st.one_of(st.integers(0, 3), st.integers(-(2**70), 2**70))
WORDS = {
    "state": ["stopped", "running", "terminated", "odd"],
    "reason": ["breakpoint", "step", "exception", "signal", "watchpoint", "exit", "goto"],
    "kind": ["line", "function", "address", "watchpoint", "exception"],
    "stream": ["stdout", "stderr", "console"],
}


def leaves(text):
    """Give the strategy of each type that holds no other."""
    return {
        str: text,
        int: NUMBER,
        bool: st.booleans(),
        float: st.floats(),
        type(None): st.none(),
        UnsetType: st.just(UNSET),
        typing.Any: st.one_of(text, NUMBER, st.floats(), st.lists(text, max_size=3)),
    }


LEAVES = leaves(texts([3, 100, 3000]))
# Of what lists repeat: one answer of longer ones would have millions of characters.
SHORT_LEAVES = leaves(texts([3, 100]))


# How often a list is repeated, by how deep it lies: lists in lists would grow beyond all bounds.
TIMES = ([1, 9, 60], [1, 4], [1])
DEEPEST = 6  # a list so deep is empty: a tree of frames may be in a tree of frames without end


@functools.cache
def of_type(wanted, depth=0):
    """Give values of a type as the answers annotate it; each strategy is made once."""
    if wanted in LEAVES:
        return SHORT_LEAVES[wanted] if depth > 0 else LEAVES[wanted]
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in {types.UnionType, typing.Union}:
        return st.one_of(*(of_type(one, depth) for one in inner))
    if origin is tuple and Ellipsis not in inner:
        return st.tuples(*(of_type(one, depth + 1) for one in inner))
    if origin is tuple:
        # The same thing many times is as long as many things, and sooner made.
        few = st.lists(of_type(inner[0], depth + 1), max_size=3)
        times = TIMES[min(depth, len(TIMES) - 1)]
        many = st.builds(lambda found, times: tuple(found * times), few, st.sampled_from(times))
        return many if depth < DEEPEST else st.just(())
    if origin in {dict, Mapping}:
        return st.dictionaries(*(of_type(one, depth + 1) for one in inner), max_size=3)
    is_tuple_with_names = issubclass(wanted, tuple) and hasattr(wanted, "_fields")
    assert is_tuple_with_names or issubclass(wanted, Struct | Enum), wanted
    is_enum = issubclass(wanted, Enum)
    return st.sampled_from(wanted) if is_enum else st.deferred(lambda: of_struct(wanted, depth))


@functools.cache
def of_struct(kind, depth=0):
    """Give answers of a kind: any field may have any value of its type, or a word it knows."""
    hints = typing.get_type_hints(kind)
    return st.builds(
        kind,
        **{
            name: st.sampled_from(WORDS[name]) | of_type(hint, depth)
            if name in WORDS
            else of_type(hint, depth)
            for name, hint in hints.items()
        },
    )


# Answers that show a text as it is, which may be an empty line alone.
VERBATIM = (answers.Output, answers.MemoryView, EvidenceReport)
SILENT = RemoteShellEnd  # a launcher would take a text for its programs' output
ANSWERS = st.one_of(*map(of_struct, FORMATTERS))
BUDGETS = st.one_of(st.integers(-1, 60), st.sampled_from([200, 1000, 5000]))


@given(
    answer=ANSWERS, budget=BUDGETS, style=st.sampled_from(OutputStyle), width=st.integers(-1, 200)
)
def test_a_text_never_exceeds_its_budget_nor_lets_a_control_character_through(
    answer, budget, style, width
):
    shown = format_answer(answer, budget=budget, style=style, width=width)
    plain = SGR.sub("", shown) if style is OutputStyle.TERMINAL else shown
    assert len(plain) <= 4 * max(budget, 0)
    assert CONTROL.search(plain) is None
    plain.encode()
    # Rows as CSV have been printed before.
    is_printed = isinstance(answer, Probe) and answer.csv is not None
    # --follow has shown those that it counts.
    is_printed |= isinstance(answer, answers.Events) and not answer.events and bool(answer.total)
    if budget > 0 and not isinstance(answer, (*VERBATIM, SILENT)) and not is_printed:
        assert plain


@given(answer=ANSWERS, budget=st.integers(LEAST_JSON, 2000))
def test_json_never_exceeds_its_budget_and_says_what_was_cut(answer, budget):
    whole = to_data(answer, budget=None)
    line = to_json(answer, budget=budget)
    assert len(line) <= 4 * budget
    assert "\n" not in line
    data = json.loads(line)
    if len(to_json(answer, budget=None)) <= 4 * budget:
        assert data == whole
        return
    assert data["truncated"]["budget"] == budget
    assert data["truncated"]["cut"]
    assert set(data) - {"truncated"} <= set(whole)
    unsaid = set(whole) - set(data)
    assert not unsaid or len(data["truncated"]["cut"]) <= 2


@given(stop=of_struct(answers.Stop), budget=st.integers(1, 1000))
def test_the_head_of_a_stop_is_the_last_to_go_and_the_same_on_a_terminal(stop, budget):
    def first(budget, style=OutputStyle.PLAIN):
        shown = format_answer(stop, budget=budget, style=style, width=80)
        return SGR.sub("", shown).split("\n")[0]

    head, shown = first(100_000), first(budget)
    if len(head) <= 4 * budget:
        assert shown == head
    else:
        assert shown == head[: 4 * budget - 1] + "…"
    assert {first(budget, style) for style in OutputStyle} == {shown}
