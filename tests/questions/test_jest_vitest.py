"""`test` with jest and vitest: workers, TypeScript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

pytestmark = pytest.mark.adapter("js-debug")

CART_JS = """\
function total(items) {
  let whole = 0;
  for (const [price, count] of items) {
    whole += price * Math.max(count - 1, 1);
  }
  return whole;
}
module.exports = { total };
"""
CART_TEST_JS = program_text("counted_lines/cart_test.js")
NULL_TEST_JS = """\
const { total } = require('./cart');

test('takes null', () => {
  total(null);
});
"""


@pytest.fixture
def jest(tmp_path: Path, packages: Path) -> Path:
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "package.json").write_text('{"jest": {"cacheDirectory": "<rootDir>/.jest"}}')
    (tmp_path / "cart.js").write_text(CART_JS)
    (tmp_path / "cart.test.js").write_text(CART_TEST_JS)
    (tmp_path / "null.test.js").write_text(NULL_TEST_JS)
    return tmp_path


def test_a_failure_in_a_worker_of_jest_is_told_with_the_values_it_compared(
    cli: Callable[..., Any], jest: Path
) -> None:
    command = ["npx", "jest", "--maxWorkers=2", "cart"]
    told = cli("test", "--json", "--", *command, cwd=jest, check=0).data["data"]
    assert (told["outcome"], told["test"]) == ("failed", "cart adds up")
    assert (told["frame"]["function"], told["frame"]["line"]) == ("check", 4)
    values = {one["name"]: one["value"] for one in told["values"]}
    assert values == {"found": "750", "wanted": "1050"}
    assert [one["frame"]["line"] for one in told["callers"]] == [14]
    assert "Expected: 1050" in told["exception"]["message"]
    assert told["summary"] == "1 failed, 1 passed, 2 total"
    assert sorted(one.name for one in jest.iterdir() if one.name != ".jest") == [
        "cart.js",
        "cart.test.js",
        "node_modules",
        "null.test.js",
        "package.json",
    ]


def test_what_a_test_of_jest_throws_is_no_assertion(cli: Callable[..., Any], jest: Path) -> None:
    answer = cli("test", "--", "npx", "jest", "null", cwd=jest, check=0)
    assert answer.out.startswith("failed: TypeError: items is not iterable, in total cart.js:3")
    assert "items=null" in answer.out
    assert "null.test.js:4: total(null);" in answer.out


def test_tests_of_jest_that_pass_do_not_exist_or_cannot_be_read_are_told_so(
    cli: Callable[..., Any], jest: Path
) -> None:
    run = ["test", "--", "npx", "jest"]
    passed = cli(*run, "-t", "is empty", cwd=jest, check=0)
    assert passed.out.startswith("passed: 0 failed, 1 passed, 3 total"), str(passed)
    for words in (["-t", "nosuch"], ["nosuch.test.js"]):
        nothing = cli(*run, *words, cwd=jest, check=0)
        assert nothing.out.startswith("no test was run: "), str(nothing)
        assert "npx jest --listTests" in nothing.out
    (jest / "cart.test.js").write_text("test('it', () => {\n")
    broken = cli(*run, "cart", cwd=jest, check=0)
    assert "cart.test.js: SyntaxError: " in broken.out.splitlines()[0]


CART_TS = """\
export interface Item {
  price: number;
  count: number;
}

export function total(items: Item[]): number {
  let whole = 0;
  for (const item of items) {
    whole += item.price * Math.max(item.count - 1, 1);
  }
  return whole;
}
"""
CART_TEST_TS = program_text("counted_lines/cart_test.ts")


@pytest.fixture
def vitest(tmp_path: Path, packages: Path) -> Path:
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "vitest.config.mjs").write_text("export default { cacheDir: '.vite' };\n")
    (tmp_path / "cart.ts").write_text(CART_TS)
    (tmp_path / "cart.test.ts").write_text(CART_TEST_TS)
    return tmp_path


@pytest.mark.parametrize("options", [[], ["--pool", "threads"]])
def test_a_failure_of_vitest_is_told_at_its_line_of_typescript(
    cli: Callable[..., Any], vitest: Path, options: list[str]
) -> None:
    answer = cli("test", "--", "npx", "vitest", *options, cwd=vitest, check=0)
    first = answer.out.splitlines()[0]
    assert first.startswith("failed: assertion failed: AssertionError: expected 750 to be 1050")
    assert first.endswith("with found=750, in <anonymous> cart.test.ts:16"), str(answer)
    assert "cart.test.ts:15 const found = total(items);  [found=750]" in answer.out
    assert "test: cart adds up · vitest: 1 failed, 1 passed, 2 total" in answer.out
    assert "__vite" not in answer.out


def test_tests_of_vitest_that_pass_do_not_exist_or_cannot_be_read_are_told_so(
    cli: Callable[..., Any], vitest: Path
) -> None:
    run = ["test", "--", "npx", "vitest"]
    passed = cli(*run, "-t", "is empty", cwd=vitest, check=0)
    assert passed.out.startswith("passed: 0 failed, 1 passed, 2 total"), str(passed)
    for words in (["-t", "nosuch"], ["nosuch.test.ts"]):
        nothing = cli(*run, *words, cwd=vitest, check=0)
        assert nothing.out.startswith("no test was run: "), str(nothing)
        assert "npx vitest list" in nothing.out
    (vitest / "cart.ts").unlink()
    broken = cli(*run, cwd=vitest, check=0)
    assert broken.out.startswith("could not run: "), str(broken)
    assert "'./cart'" in broken.out.splitlines()[0]
