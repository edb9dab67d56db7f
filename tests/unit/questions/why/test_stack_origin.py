"""What a stack shows of a value's origin: the callers' arguments, the only assignment."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from debuggees import program_text
from debugger.model.answers.frames import FrameView, VariableView
from debugger.questions.crash.failed_condition import asserted_values
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


def test_an_argument_of_a_recursions_first_call_is_not_that_of_its_last(tmp_path: Path) -> None:
    path = tmp_path / "tree.c"
    path.write_text(
        "int sum(struct tree *t) {\n    return sum(t->left) + t->key;\n}\n"
        "int main(void) {\n    return sum(root);\n}\n"
    )
    origin, frame = ValueOrigin("t", "0x5"), FrameView(0, "sum", str(path), 2)
    main = CallerView(FrameView(3, "main", str(path), 5), "return sum(root);")
    # The calls of `sum` by itself are not listed: the argument of `main` is another one.
    assert find_origin(origin, frame, [main]) == origin
    direct = msgspec.structs.replace(main, frame=FrameView(1, "main", str(path), 5))
    assert find_origin(origin, frame, [direct]).text == "passed as t"


def test_the_only_assignment_of_a_local_is_inferred(file: str) -> None:
    found = find_origin(ValueOrigin("taken", "None"), FrameView(0, "local", file, 17), [])
    assert (found.text, found.certainty) == ("assigned to taken", "inferred")
    assert found.frame is not None
    assert found.frame.line == 15


_RUST = """fn put(bit: usize, length: usize) {
    assert!(bit < length, "no bit {} of {}", bit, length);
}
fn visit(x: Node, length: usize) {
    put(x.index(), length)
}
fn search(queue: &mut Vec<Node>, length: usize) {
    while let Some(node) = queue.pop() {
        if is_known(&node) { continue; }
        visit(node, length);
    }
}
"""


def test_an_index_of_rust_is_followed_through_conversions_to_the_pattern_that_bound_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ways.rs"
    path.write_text(_RUST)
    callers = [
        _caller(str(path), "ways::visit", 5, "put(x.index(), length)", x="{0:29}"),
        _caller(str(path), "ways::search", 10, "visit(node, length);", node="{0:29}"),
    ]
    frame = FrameView(0, "ways::put", str(path), 2)
    found = find_origin(ValueOrigin("bit", "29"), frame, callers)
    assert (found.text, found.certainty, found.links) == ("assigned to node", "inferred", 3)
    assert found.statement == "while let Some(node) = queue.pop()"
    # A call whose name promises nothing, and a value of several fields, are not the same value.
    other = [_caller(str(path), "ways::visit", 5, "put(x.degree(), length)", x="{0:29}")]
    assert find_origin(ValueOrigin("bit", "29"), frame, other).links == 1
    pair = [_caller(str(path), "ways::visit", 5, "put(x.index(), length)", x="{0:29, 1:3}")]
    assert find_origin(ValueOrigin("bit", "29"), frame, pair).certainty == "inferred"


def test_the_operands_of_an_assertion_with_a_message_are_those_of_its_condition(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ways.rs"
    path.write_text(_RUST)
    known = {"bit": "29", "length": "28", "other": "3"}
    found = asserted_values(FrameView(0, "ways::put", str(path), 2), known)
    assert found == {"bit": "29", "length": "28"}
    assert asserted_values(FrameView(0, "ways::visit", str(path), 5), known) == {}


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
