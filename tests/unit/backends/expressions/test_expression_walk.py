"""Expressions are followed through what a debugger shows, or left to the debugger."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from debugger.backends.expressions.expression_walk import (
    assign_shown,
    evaluate_shown,
    may_need_shown,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose, Frame, Variable

_RUST = Frame(index=0, handle=1, function="main", file="/src/main.rs", line=3)
_CPP = Frame(index=0, handle=1, function="main", file="/src/main.cpp", line=3)
_VEC = "alloc::vec::Vec<i32>"


class ShownProgram:
    """Shows some values, and evaluates what is listed, as a debugger does."""

    def __init__(
        self, plain: Mapping[str, Variable], children: Mapping[int, list[Variable]]
    ) -> None:
        self.plain = plain
        self.children = children
        self.asked: list[str] = []
        self.assigned: list[tuple[object, ...]] = []

    async def evaluate_plain(
        self, expression: str, frame: Frame, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate what is listed."""
        del frame, purpose
        self.asked.append(expression)
        if expression not in self.plain:
            raise DebuggerError(ErrorCode.EVALUATION_FAILED, f"plain: {expression}")
        return self.plain[expression]

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return a part of the children."""
        return self.children[handle][start : None if count is None else start + count]

    async def count_elements(self, handle: int) -> int | None:
        """Count the children."""
        return len(self.children[handle])

    async def assign_plain(self, target: str, value: str, frame: Frame) -> None:
        """Refuse, as LLDB does what it cannot evaluate."""
        del value, frame
        raise DebuggerError(ErrorCode.EVALUATION_FAILED, f"plain: {target}")

    async def assign_child(self, handle: int, name: str, value: str) -> None:
        """Note what is set."""
        self.assigned.append((handle, name, value))


def _program() -> ShownProgram:
    """Return what LLDB shows of a Vec of pointers to points, a map, and a slice."""
    return ShownProgram(
        {
            "points": Variable("points", "size=2", _VEC, handle=1),
            "ages": Variable("ages", "size=2", "std::map<std::string, int>", handle=2),
            "raw": Variable("raw", "0x10", "int *", handle=9),
            "*raw": Variable("*raw", "3", "int"),
            "raw[1]": Variable("raw[1]", "7", "int"),
            "nothing": Variable("nothing", "0x0", "Point *"),
            "count": Variable("count", "3", "int"),
        },
        {
            1: [
                Variable("[0]", "0x20", "pointer to Point", handle=3),
                Variable("[1]", "strong=1 {x:4}", "alloc::rc::Rc<Point>", handle=4),
            ],
            2: [
                Variable("[0]", '{first:"ann", second:30}', "std::pair", handle=5),
                Variable("[1]", "{...}", "std::pair", handle=6),
            ],
            3: [Variable("x", "1", "int")],
            4: [Variable("value", "{x:4}", "Point", handle=7)],
            5: [Variable("first", '"ann"', "s"), Variable("second", "30", "int")],
            6: [Variable("first", '"bob"', "s"), Variable("second", "40", "int")],
            7: [Variable("x", "4", "int")],
        },
    )


async def _value(expression: str, frame: Frame = _RUST) -> str:
    found = await evaluate_shown(_program(), expression, frame, EvaluationPurpose.PRINT)
    assert found.name in {expression, "raw[1]"}
    return found.value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("points[0].x", "1"),
        ("points[1].x + count", "7"),
        ("points.len() > 2 || points[1].x == 4", "true"),
        ("-points[1].x / 3", "-1"),
        ('ages["bob"]', "40"),
        ('ages.contains_key("zoe")', "false"),
        ("points[count - 3].x", "1"),
        ("points.len() == 0 && points[9].x == 1", "false"),
        ("points[1].x as f64 / 8.0", "0.5"),
        ("(points[1].x << 6) as u8", "0"),
    ],
)
async def test_paths_calculations_and_methods_are_followed(expression: str, value: str):
    assert await _value(expression) == value


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("points[2]", r"no element \[2\]: there are 2 elements"),
        ("points[1].y", "Point has no member 'y'; it has x"),
        ('ages["zoe"]', 'no key "zoe": there are 2 elements'),
        ("points[1].x / (count - 3)", "a division by zero"),
        ('points[1].x == "a"', "== of a number and a text"),
    ],
)
async def test_what_is_not_there_is_said(expression: str, says: str):
    with pytest.raises(DebuggerError, match=says):
        await _value(expression)


async def test_an_index_of_a_plain_pointer_is_left_to_the_debugger_in_cpp_and_refused_in_rust():
    assert await _value("raw[1]", _CPP) == "7"
    with pytest.raises(DebuggerError, match="a pointer of C"):
        await _value("raw[1]")


async def test_the_debuggers_own_error_is_kept_where_nothing_can_be_followed():
    with pytest.raises(DebuggerError, match="plain: nothing->x"):
        await _value("nothing->x", _CPP)
    with pytest.raises(DebuggerError, match="plain: f\\(points\\)"):
        await _value("f(points)", _CPP)


async def test_a_child_is_set_by_its_parent_and_a_value_that_did_not_change_is_an_error():
    program = _program()
    with pytest.raises(DebuggerError, match="did not set it: it is 4"):
        await assign_shown(program, "points[1].x", "9", _RUST)
    assert program.assigned == [(7, "x", "9")]
    await assign_shown(program, 'ages["bob"]', "40", _CPP)
    assert program.assigned[1:] == [(6, "second", "40")]


def test_only_forms_that_a_debugger_may_fail_at_are_taken_from_it():
    assert not may_need_shown("count + 1", "/src/main.cpp")
    assert not may_need_shown("point.x", "/src/main.cpp")
    assert may_need_shown("point.x", "/src/main.rs")
    for expression in ("points[1]", "points.size()", 'name == "ann"', "a ? f.b() : 1"):
        assert may_need_shown(expression, "/src/main.cpp")
