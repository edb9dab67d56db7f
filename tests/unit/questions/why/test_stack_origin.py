"""What a stack shows of a value's origin: the callers' arguments, the only assignment."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import program_text
from debugger.model.answers.frames import FrameView, VariableView
from debugger.questions.runner.answer import CallerView, ValueOrigin
from debugger.questions.why.stack_origin import find_origin, is_complete, parameter_names

TEXT = program_text("why/stack_origin.py")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "used.py"
    path.write_text(TEXT)
    return str(path)


def _caller(file: str, function: str, line: int, text: str, **values: str) -> CallerView:
    views = tuple(VariableView(name, value) for name, value in values.items())
    return CallerView(FrameView(1, function, file, line), text, views)


def test_a_parameter_is_followed_through_two_calls_to_a_literal(file: str) -> None:
    callers = [
        _caller(file, "outer", 6, "return use(1, given)", given="None"),
        _caller(file, "<module>", 1, "outer(None)"),
    ]
    origin = ValueOrigin("taken", "None")
    found = find_origin(origin, FrameView(0, "use", file, 2), callers)
    assert (found.text, found.certainty, found.links) == ("it is the literal None", "seen", 2)
    assert is_complete(found)


def test_an_argument_whose_value_is_not_known_is_inferred(file: str) -> None:
    callers = [_caller(file, "outer", 6, "return use(1, given)")]
    found = find_origin(ValueOrigin("taken", "None"), FrameView(0, "use", file, 2), callers)
    assert (found.text, found.certainty) == ("passed as taken", "inferred")
    assert not is_complete(found)


def test_a_parameter_that_its_function_changes_is_not_followed(file: str) -> None:
    callers = [_caller(file, "<module>", 1, "changes(5)")]
    origin = ValueOrigin("taken", "None")
    assert find_origin(origin, FrameView(0, "changes", file, 11), callers) == origin


def test_arguments_by_name_are_not_counted_as_positions(file: str) -> None:
    callers = [_caller(file, "<module>", 1, "use(taken=None, a=3)")]
    origin = ValueOrigin("taken", "None")
    assert find_origin(origin, FrameView(0, "use", file, 2), callers) == origin


def test_the_only_assignment_of_a_local_is_inferred(file: str) -> None:
    found = find_origin(ValueOrigin("taken", "None"), FrameView(0, "local", file, 17), [])
    assert (found.text, found.certainty) == ("assigned to taken", "inferred")
    assert found.frame is not None
    assert found.frame.line == 15


def test_a_field_is_not_followed_without_a_run(file: str) -> None:
    origin = ValueOrigin("taken.value", "None")
    assert find_origin(origin, FrameView(0, "use", file, 2), []) == origin


@pytest.mark.parametrize(
    ("path", "head", "function", "names"),
    [
        ("a.c", "static int use(struct node *p, int items[4], char **argv) {", "use",
         ("p", "items", "argv")),
        ("a.cc", "int geo::Box::area(const Size& by, int k = 3) const {", "geo::Box::area",
         ("by", "k")),
        ("a.go", "func (s *Store) Add(a, b int, names []string) error {", "main.(*Store).Add",
         ("a", "b", "names")),
        ("a.rs", "fn pick<T>(items: &[T], mut at: usize) -> T {", "r::pick", ("items", "at")),
        ("a.py", "def total(self, items=(), *, by: int = 3):", "Cart.total",
         ("self", "items", "by")),
        ("a.js", "function show(user, { name }, by = 3) {", "show", ("user", "by")),
    ],
)  # fmt: skip
def test_parameters_are_read_from_the_definition(
    path: str, head: str, function: str, names: tuple[str, ...]
) -> None:
    assert parameter_names(path, [head], 1, function) == names
