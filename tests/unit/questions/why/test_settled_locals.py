"""Which lines alone can have given a local of Rust its value."""

from __future__ import annotations

import pytest

from debugger.questions.why.settled_locals import assigning_lines, settled_lines


def _settled(body: str, *, field: str = "", reading: tuple[str, ...] = ()) -> tuple[int, ...]:
    lines = ["fn run() {", *body.splitlines(), "}"]
    span = (1, len(lines))
    return settled_lines(
        "run.rs", lines, span, "one", field=field, is_reading=lambda name: name in reading
    )


def test_a_binding_and_each_assignment_count() -> None:
    assert _settled("let one = read();\nshow(&one);") == (2,)
    assert _settled("let mut one = 0;\nif ready {\n    one = read();\n}") == (2, 4)
    assert _settled("while let Some(Pair(_, one)) = heap.pop() {\n    use_it(one);\n}") == (2,)
    assert _settled("let (one, two) = both();\nlet one = one + 1;") == (2, 3)


@pytest.mark.parametrize(
    "rest",
    ["change(&mut one);", "one.push(1);", "let Some(ref mut one) = two;", "one.count = 2;"],
)
def test_what_may_change_a_mutable_local_otherwise_leaves_none(rest: str) -> None:
    assert _settled(f"let mut one = read();\n{rest}") == ()


@pytest.mark.parametrize(
    "text",
    [
        "let one = Cell::new(5);\nchange(&one);",
        "let one: Arc<Mutex<i32>> = make();\nchange(&one);",
        "let one = AtomicI32::new(5);\nchange(&one);",
        "let one = make();\none.fetch_add(1, Ordering::SeqCst);",
        "let one = make();\none.set(one.get() + 1);",
    ],
)
def test_what_changes_without_mut_leaves_none(text: str) -> None:
    assert _settled(text) == ()


def test_a_loop_is_no_binding_that_a_breakpoint_sees() -> None:
    assert _settled("for one in list {\n    show(one);\n}") == ()


def test_an_arm_of_a_match_binds_the_names_of_its_pattern() -> None:
    assert _settled("match found {\n    Some(one) => show(one),\n    None => (),\n}") == (3,)


def test_methods_that_only_read_and_other_fields_leave_the_lines() -> None:
    assert _settled("let mut one = read();\nlet half = one.half();", reading=("half",)) == (2,)
    assert _settled("let mut one = Span { days, ..rest };\none.sign = 1;", field="days") == (2,)
    assert _settled("let mut one = Span { days, ..rest };\none.days = 1;", field="days") == ()


def test_another_language_has_none() -> None:
    assert settled_lines("a.cpp", ["void f() {", "int one = g();", "}"], (1, 3), "one") == ()


def _assigning(body: str, file: str = "run.c") -> tuple[int, ...]:
    lines = ["int run(void) {", *body.splitlines(), "}"]
    return assigning_lines(file, lines, (1, len(lines)), "left")


def test_the_lines_of_c_that_begin_with_an_assignment_count() -> None:
    assert _assigning("int left = 0;\nleft = f(n);\nif (left)\n    left++;") == (2, 3, 5)
    assert _assigning("unsigned long left = 0;\nx = y->left;\nleft += 2;", "run.cpp") == (2, 4)
    assert _assigning("int left = 0;\nif (left == 3) x = left;") == ()  # one is watched as well


@pytest.mark.parametrize(
    "rest",
    [
        "read(&left);",
        "if (n) left = 2;",
        "for (left = 0; left < 3; left++) ;",
        "SWAP(left, right);",
        "right = left = 2;",
    ],
)
def test_what_may_change_a_local_of_c_otherwise_leaves_none(rest: str) -> None:
    assert _assigning(f"int left = 0;\nleft = 1;\n{rest}") == ()


@pytest.mark.parametrize(
    ("rest", "is_known"),
    [
        ("change(left, 2);", False),
        ("int &other = left;", False),
        ("auto set = [&] { set_all(); };", False),
        ("std::cin >> left;", False),
        ("while (left) step();", True),
        ("print(left + 1);", True),
    ],
)
def test_in_cpp_a_reference_leaves_none(rest: str, is_known: bool) -> None:
    assert (_assigning(f"int left = 0;\nleft = 1;\n{rest}", "run.cpp") == (2, 3)) is is_known
