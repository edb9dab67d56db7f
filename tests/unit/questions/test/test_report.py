"""Runners are recognised, failures parsed, and the lines behind an assertion found."""

from __future__ import annotations

import msgspec
import pytest

from debuggees import program_text
from debugger.errors import DebuggerError
from debugger.questions.test import test_reports, test_rerun, test_runners
from debugger.questions.test.value_sources import find_value_sources

GO = """\
--- FAIL: TestTotal (0.00s)
    --- FAIL: TestTotal/two (0.00s)
        cart_test.go:24: 750, want 1050
FAIL
FAIL\texample.com/shop/cart\t0.007s
ok  \texample.com/shop/other\t0.003s
FAIL
"""
RUST = """\
test tests::empty ... ok
test tests::whole ... FAILED

---- tests::whole stdout ----

thread 'tests::whole' (26060) panicked at src/lib.rs:24:9:
assertion `left == right` failed
  left: 750
 right: 1050
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.47s
"""
TAP = program_text("counted_lines/report.tap")
GTEST = """\
[ RUN      ] Cart.Total
cart_test.cc:14: Failure
Expected equality of these values:
  got
    Which is: 750
  1050
[  FAILED  ] Cart.Total (0 ms)
[==========] 2 tests from 1 test suite ran. (0 ms total)
"""


@pytest.mark.parametrize(
    ("read", "text", "wanted"),
    [
        (test_reports.parse_go, GO, ("TestTotal/two", "750, want 1050", "cart_test.go", 24)),
        (test_reports.parse_cargo, RUST, ("tests::whole", "left: 750", "src/lib.rs", 24)),
        (
            test_reports.parse_tap,
            TAP,
            ("total > counts all", "750 !== 1050", "/src/cart.test.js", 12),
        ),
        (test_reports.parse_gtest, GTEST, ("Cart.Total", "Which is: 750", "cart_test.cc", 14)),
    ],
)
def test_one_failure_is_read_with_its_place(read, text, wanted) -> None:
    [failed] = read(text, "").failed
    name, said, file, line = wanted
    assert (failed.name, failed.file, failed.line) == (name, file, line)
    assert said in failed.message


def test_a_failure_of_go_belongs_to_its_package() -> None:
    assert [one.of for one in test_reports.parse_go(GO, "").failed] == ["example.com/shop/cart"]


def test_an_error_of_the_compiler_has_its_place() -> None:
    told = "error[E0308]: mismatched types\n --> tests/bad.rs:1:31\nerror: could not compile `a`\n"
    assert test_reports.parse_cargo("", told).errors == ("tests/bad.rs:1:31: mismatched types",)


@pytest.mark.parametrize(
    ("words", "runner"),
    [
        (["A=1", "python3", "-m", "pytest"], test_runners.PYTHON),
        (["go", "test", "./..."], test_runners.GO),
        (["cargo", "+nightly", "test"], test_runners.CARGO),
        (["npx", "vitest", "run"], test_runners.VITEST),
        (["node", "node_modules/jest/bin/jest.js"], test_runners.JEST),
        (["node", "--test"], test_runners.NODE),
        (["ctest", "-R", "x"], test_runners.CTEST),
        (["./slots_test"], test_runners.PROGRAM),
    ],
)
def test_the_runner_is_known_by_the_words(words: list[str], runner: str) -> None:
    assert test_runners.parse_runner(words).runner == runner


def test_what_only_starts_a_runner_is_refused_with_the_runner_to_name() -> None:
    with pytest.raises(DebuggerError, match="make starts") as refused:
        test_runners.parse_runner(["make", "check"])
    assert "pytest" in str(refused.value.hint)


def test_the_lines_that_feed_an_assertion_are_found_backwards() -> None:
    lines = [
        "func TestTotal(t *testing.T) {",
        "\titems := load()",
        "\tother := 3",
        "\tgot := total(items)",
        "\tgot += 1",
        "\tt.Error(got)",
    ]
    found = find_value_sources(lines, 6, ["got"])
    assert [(one.line, one.names) for one in found] == [
        (2, ("items",)),
        (4, ("got",)),
        (5, ("got",)),
    ]


def test_what_jest_and_vitest_write_is_read() -> None:
    library = "    at Object.toBe (/p/node_modules/expect/build/index.js:3:4)"
    stack = f"{library}\n    at fn (/p/a.test.js:7:22)"
    failure = {
        "status": "failed",
        "fullName": "cart adds",
        "failureMessages": [f"\x1b[31mError: expected 3\x1b[0m\n{stack}"],
    }
    suites = [
        {"name": "/p/a.test.js", "assertionResults": [failure, {"status": "passed", "title": "b"}]},
        {
            "name": "/p/c.test.js",
            "message": "SyntaxError: Unexpected token",
            "assertionResults": [],
        },
    ]
    counts = {"numTotalTests": 2, "numPassedTests": 1, "numFailedTests": 1}
    found = test_reports.parse_jest_json(msgspec.json.encode({**counts, "testResults": suites}))
    assert found is not None
    (one,) = found.failed
    assert (one.name, one.file, one.line, one.of) == (
        "cart adds",
        "/p/a.test.js",
        7,
        "/p/a.test.js",
    )
    assert one.message == "Error: expected 3"
    assert found.summary == "1 failed, 1 passed, 2 total"
    assert found.errors == ("/p/c.test.js: SyntaxError: Unexpected token",)
    assert not found.is_nothing


@pytest.mark.parametrize("written", [b"", b"[]", b'{"testResults": 3}'])
def test_what_is_no_report_of_jest_is_none(written: bytes) -> None:
    assert test_reports.parse_jest_json(written) is None


@pytest.mark.parametrize(
    ("message", "type_"),
    [
        ("TypeError: items is not iterable", "TypeError"),
        ("Error: no such file", "Error"),
        ("Error: expect(received).toBe(expected)", "AssertionError"),
        ("AssertionError: expected 1 to be 2", "AssertionError"),
        ("1 !== 2", "AssertionError"),
    ],
)
def test_what_a_test_of_javascript_throws_is_an_assertion_or_an_error(
    message: str, type_: str
) -> None:
    assert test_reports.parse_thrown(message)[0] == type_


MOCHA = b"""{"stats": {"passes": 1, "pending": 0, "failures": 2}, "failures": [
 {"title": "adds", "fullTitle": "cart adds", "file": "/p/test/a.js", "err": {
  "stack": "AssertionError [ERR_ASSERTION]: no\\n\\n    at Context.fn (/p/test/a.js:13:14)",
  "message": "not equal:\\n\\n3 !== 4\\n", "name": "AssertionError"}},
 {"title": "throws", "fullTitle": "cart throws", "file": "/p/test/a.js", "err": {
  "stack": "TypeError: items is not iterable\\n    at total (/p/test/a.js:4:21)",
  "message": "items is not iterable"}}]}"""


def test_what_mocha_writes_is_read_with_the_place_and_type_of_what_was_thrown() -> None:
    found = test_reports.parse_mocha(MOCHA)
    assert found is not None
    assert found.summary == "2 failed, 1 passed"
    first, second = found.failed
    assert (first.name, first.file, first.line) == ("cart adds", "/p/test/a.js", 13)
    assert first.message == "not equal:\n\n3 !== 4"
    assert second.message == "TypeError: items is not iterable"
    assert test_reports.parse_mocha(b"") is None


def test_mocha_is_a_runner_and_one_whose_results_are_not_read_is_refused() -> None:
    assert test_runners.parse_runner(["npx", "mocha", "-g", "x"]).runner == test_runners.MOCHA
    assert test_runners.parse_runner(["mocha"]).runner == test_runners.MOCHA
    for words in (["ava"], ["npx", "ava"], ["node", "node_modules/.bin/ava"]):
        with pytest.raises(DebuggerError, match="what ava reports is not read here") as error:
            test_runners.parse_runner(words)
        assert error.value.hint == "debugger start npx --break FILE:LINE -- ava"


@pytest.mark.parametrize(
    ("line", "goes_on"),
    [
        ("  t.notOk(satisfies(ver), `x`)", True),
        ("expect.soft(a).toBe(1)", True),
        ("assert.equal(a, b)", False),
        ("t.assert.equal(a, b)", False),
        ("expect(t.total).toBe(1)", False),
    ],
)
def test_an_assertion_that_lets_its_test_go_on_is_known(line: str, goes_on: bool) -> None:
    assert bool(test_rerun._GOES_ON.search(line)) is goes_on


@pytest.mark.parametrize(
    ("line", "runs_tests"),
    [
        ("pytest -n 2 tests", True),
        ("/venv/bin/python -m pytest -q", True),
        ("python3 -m unittest", True),
        ("env A=1 pytest", True),
        ("go test ./...", True),
        ("node --test", True),
        ("npx jest", True),
        ("python3 train.py", False),
        ("node server.js", False),
        ("./app --test", False),
        ("make check", False),
        ("env", False),
    ],
)
def test_a_command_that_runs_tests_is_known_by_its_words(line: str, *, runs_tests: bool) -> None:
    assert test_runners.is_test_command(line.split()) is runs_tests
