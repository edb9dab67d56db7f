"""The argument that a call gave a parameter, and nothing where it is not certain."""

from __future__ import annotations

import pytest

from debugger.questions.who_wrote.value_writers import CallArgument, ParameterNames, call_of

TWO = ParameterNames(("total", "n"))
METHOD = ParameterNames(("self", "total", "n"), ("flag",))


@pytest.mark.parametrize(
    ("statement", "function", "call"),
    [
        ("x = average(a + b, n)", "average", CallArgument("average(a + b, n)", "a + b")),
        (
            "average(f(1, 2), [3, 4])",
            "average",
            CallArgument("average(f(1, 2), [3, 4])", "f(1, 2)"),
        ),
        ("average('a, (b', n=2)", "average", CallArgument("average('a, (b', n=2)", "'a, (b'")),
        ("average(n=2, total=-1)", "average", CallArgument("average(n=2, total=-1)", "-1")),
        ("average(n=2)", "average", CallArgument("average(n=2)", left_out=True)),
        ("average()", "m.average", CallArgument("average()", left_out=True)),
        ("average(*both)", "average", CallArgument("average(*both)")),
        ("average(**both)", "average", CallArgument("average(**both)")),
        ("map(average, rows)", "average", CallArgument("map(average, rows)")),
        ("average(1) + average(2)", "average", CallArgument("average(1) + average(2)")),
        ("my_average(1)", "average", CallArgument("my_average(1)")),
        ("inner(7)", "main.<locals>.inner", CallArgument("inner(7)", "7")),
        ("average(1, # goes on", "average", CallArgument("average(1, # goes on")),
        ("<not a call>", "<module>", CallArgument("<not a call>")),
    ],
)
def test_the_argument_of_the_only_call_is_told(
    statement: str, function: str, call: CallArgument
) -> None:
    assert call_of(statement, function, "total", TWO, unpacks=True) == call


@pytest.mark.parametrize(
    ("statement", "function", "name", "argument"),
    [
        ("box.put(1, 2)", "Box.put", "total", "1"),
        ("self.boxes[0].put(1, 2)", "Box.put", "n", "2"),
        ("Box.put(box, 1, 2)", "Box.put", "total", "1"),
        ("Box(1, 2)", "Box.__init__", "n", "2"),
        ("box.put(1, 2, flag=3)", "Box.put", "flag", "3"),
        ("box.put(1, 2)", "Box.put", "self", None),
        ("box.put(1, 2)", "Box.put", "more", None),
    ],
)
def test_a_methods_own_object_is_no_argument(
    statement: str, function: str, name: str, argument: str | None
) -> None:
    assert call_of(statement, function, name, METHOD, unpacks=True).argument == argument


@pytest.mark.parametrize(
    ("statement", "function", "argument"),
    [
        ("return average(*all, b);", "average", "*all"),
        ("stats->average(a, b);", "Stats::average(int, int)", "a"),
        ("average<int>(a = 3, b);", "average<int>", "a = 3"),
    ],
)
def test_in_c_a_star_reads_and_an_assignment_is_a_value(
    statement: str, function: str, argument: str
) -> None:
    assert call_of(statement, function, "total", TWO, unpacks=False).argument == argument
