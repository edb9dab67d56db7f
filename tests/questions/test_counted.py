"""`path` counts what ran of Node and Go, and compares with saved runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

NODE = program_text("counted_lines/counted.js")
SHOP = """
export function price(kind) {
  return kind === 'free' ? 0 : kind.length;
}
price('own');
"""

TYPED = """interface Item { price: number }
function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    if (item.price > 9) sum -= 1;
    sum += item.price;
  }
  return sum;
}
console.log(total([{ price: 1 }, { price: 2 }]));
"""
# As esbuild --minify writes them.
MINIFIED = (
    "function total(t){let e=0;for(const r of t)r.price>9&&(e-=1),e+=r.price;return e}"
    "console.log(total([{price:1},{price:2}]));\n//# sourceMappingURL=total.js.map\n"
)
MAPPINGS = (
    "AACA,SAAS,MAAMA,EAAuB,CACpC,IAAIC,EAAM,EACV,UAAWC,KAAQF,EACbE,EAAK,MAAQ,IAAGD,GAAO,GAC3BA,GAAOC,EAAK,"
    "MAEd,OAAOD,CACT,CACA,QAAQ,IAAI,MAAM,CAAC,CAAE,MAAO,CAAE,EAAG,CAAE,MAAO,CAAE,CAAC,CAAC,CAAC"
)


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program compiled from TypeScript, and a command that was installed and starts it."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "total.ts").write_text(TYPED)
    (folder / "total.js").write_text(MINIFIED)
    made = {"version": 3, "sources": ["total.ts"], "names": [], "mappings": MAPPINGS}
    (folder / "total.js.map").write_text(json.dumps(made))
    (folder / "node_modules").mkdir()
    starts = "require('child_process').spawnSync(process.execPath, ['total.js']);"
    (folder / "node_modules" / "runner.js").write_text(starts)
    return folder


@pytest.mark.adapter("js-debug")
def test_what_a_started_child_ran_is_counted_in_the_source_that_its_map_names(
    cli: Callable[..., Any], typed: Path
) -> None:
    run = ["node", "node_modules/runner.js"]
    answer = cli("path", "--around", "total", "--", *run, cwd=typed, check=0)
    assert "total total.ts:2 was called 1 time; its lines" in answer.out, str(answer)
    assert "  5       x2  if (item.price > 9) sum -= 1;" in answer.out
    assert "5:25    never  sum -= 1;" in answer.out
    assert "note: counted in process " in answer.out


@pytest.mark.adapter("js-debug")
def test_a_compiled_source_is_refused_as_the_begin_of_a_part(
    cli: Callable[..., Any], typed: Path
) -> None:
    answer = cli("path", "--between", "total.ts:3", "other", "--", "node", "total.js", cwd=typed)
    assert "total.ts:3 ran, and counting cannot begin there" in answer.err, str(answer)
    assert "total.ts is compiled first" in answer.err


@pytest.mark.adapter("js-debug")
def test_a_run_without_own_code_says_what_ran_instead(cli: Callable[..., Any], typed: Path) -> None:
    (typed / "node_modules" / "alone.js").write_text("console.log(1);")
    answer = cli("path", "--", "node", "node_modules/alone.js", cwd=typed, check=0)
    assert "nothing of the program's own files ran" in answer.out, str(answer)
    assert "alone.js" in answer.out
    assert "only counts are known" not in answer.out


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("node")
    (folder / "main.mjs").write_text(NODE)
    (folder / "shop.mjs").write_text(SHOP)
    return folder


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("throws", ["exited with status 1", "price :2 x2", "gone"]),
        ("exits", ["exited with status 4", "order :6"]),
        ("worker", ["exited with status 0", "<module> shop.mjs:1 x2", "price :2 x2"]),
        ("child", ["<module> main.mjs:1", "main.mjs a) ran"]),
        ("killed", ["ended by signal SIGABRT", "was killed before it told what ran"]),
    ],
)
def test_what_ran_of_node_is_counted_however_it_ends(
    cli: Callable[..., Any], node: Path, what: str, says: list[str]
) -> None:
    answer = cli("path", "--", "node", "main.mjs", what, cwd=node, check=0)
    for said in says:
        assert said in answer.out, str(answer)
    assert ("only counts are known of JavaScript" in answer.out) == (what != "killed")
    assert cli("sessions", check=0).out == "no sessions\n"


@pytest.mark.adapter("js-debug")
def test_node_that_waits_for_ever_is_told_in_part(cli: Callable[..., Any], node: Path) -> None:
    answer = cli("path", "--timeout", "4", "--", "node", "main.mjs", "waits", cwd=node, check=3)
    assert "still running after" in answer.out
    assert "waits :9" in answer.out


@pytest.mark.adapter("js-debug")
def test_lines_and_parts_of_lines_of_node_are_compared_and_looked_at(
    cli: Callable[..., Any], node: Path
) -> None:
    run = ["node", "main.mjs"]
    answer = cli("path", "--", *run, "abc", "--vs", *run, "a", "free", cwd=node, check=0)
    assert "lines that only passing runs passed:\n  shop.mjs:3:28  0" in answer.out
    answer = cli("path", "--around", "price", "--", *run, "abc", "free", cwd=node, check=0)
    assert "price shop.mjs:2 was called 3 times; its lines, and how often they ran:" in answer.out
    assert "    3       x3  return kind === 'free' ? 0 : kind.length;" in answer.out
    assert " 3:28       x1  0" in answer.out


@pytest.mark.adapter("js-debug")
def test_two_runs_of_node_are_compared_by_how_often_their_lines_ran(
    cli: Callable[..., Any], node: Path, tmp_path: Path
) -> None:
    run = ["node", "main.mjs"]
    same = cli("diff", "--", *run, "ab", "--vs", *run, "cd", cwd=node, check=0)
    assert same.out.startswith("diff: both runs ran the same as often, "), str(same)
    answer = cli("diff", "--", *run, "ab", "--vs", *run, "free", "ab", cwd=node, check=0)
    assert answer.out.startswith("diff: how often they ran differs first at main.mjs:7")
    assert "shop.mjs:2  x2 / x3  called  (in price)" in answer.out
    assert "shop.mjs:3:28  x0 / x1  0  (in price)" in answer.out
    assert "debugger diff --function FUNC" in answer.out
    # The same before and after a change: a line that is new, and lines that have moved for it.
    shutil.copy(node / "main.mjs", tmp_path)
    (tmp_path / "shop.mjs").write_text(SHOP.replace("  return", "  kind += kind;\n  return"))
    other = ["node", str(tmp_path / "main.mjs")]
    answer = cli("diff", "--", *run, "ab", "--vs", *other, "ab", cwd=node, check=0)
    assert "shop.mjs:3  x0 / x2  kind += kind;  (in price)" in answer.out, str(answer)
    assert "return kind" not in answer.out


@pytest.mark.adapter("js-debug")
def test_the_calls_of_a_function_of_node_are_compared_line_by_line(
    cli: Callable[..., Any], node: Path
) -> None:
    run = ["node", "main.mjs"]
    said = ["diff", "--function", "order", "--", *run, "ab", "--vs", *run, "cde"]
    answer = cli(*said, cwd=node, check=0)
    assert "kinds: (1) ['ab'] / (1) ['cde']  (given to order main.mjs:7)" in answer.out
    assert "returned: 2 / 3  (from order main.mjs:7)" in answer.out
    none = cli("diff", "--function", "oder", "--", *run, "--vs", *run, cwd=node, check=1)
    assert "; there is order" in none.err


GO = program_text("counted_lines/counted.go")
PRICE = """package price

// Of is what a kind costs.
func Of(kind string) int {
	if kind == "free" {
		return 0
	}
	return len(kind)
}
"""
INIT = """package price

import "example.org/kinds"

func init() { kinds.Add("free") }
"""
TESTS = """package price

import "testing"

func TestFree(t *testing.T) {
	if Of("free") != 0 {
		t.Fatal("not free")
	}
}

func TestOther(t *testing.T) {
	if Of("ab") != 3 {
		t.Fatal("wrong")
	}
}
"""


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("go")
    (folder / "price").mkdir()
    (folder / "kinds").mkdir()
    replaced = "require example.org/kinds v0.0.0\n\nreplace example.org/kinds => ./kinds\n"
    (folder / "go.mod").write_text(f"module example.org/shop\n\ngo 1.16\n\n{replaced}")
    (folder / "kinds" / "go.mod").write_text("module example.org/kinds\n\ngo 1.16\n")
    (folder / "kinds" / "kinds.go").write_text("package kinds\n\nfunc Add(kind string) {}\n")
    (folder / "price" / "init.go").write_text(INIT)
    (folder / "main.go").write_text(GO)
    (folder / "price" / "price.go").write_text(PRICE)
    (folder / "price" / "price_test.go").write_text(TESTS)
    return folder


@pytest.mark.adapter("delve")
def test_what_ran_of_go_is_counted_up_to_a_panic_or_the_end_of_its_time(
    cli: Callable[..., Any], go: Path
) -> None:
    run = ["go", "run", "."]
    answer = cli("path", "--", *run, "abcd", "--vs", *run, "a", "free", cwd=go, check=0)
    assert "main.go:16-17  var kinds map[string]int  (in main)" in answer.out
    assert "price.go:6  return 0  (in Of)" in answer.out.partition("only passing runs passed:")[2]
    assert "panic: assignment to entry in nil map" in answer.out
    answer = cli("path", "--", *run, "ab", cwd=go, check=0)
    assert "Of price.go:4" in answer.out
    assert "Add kinds.go:3" in answer.out  # of a module that go.mod replaces by a folder
    # The stacks of the goroutines are left out, and not what is said before them.
    assert "err| fatal error: all goroutines are asleep - deadlock!" in answer.out
    answer = cli("path", "--timeout", "8", "--", *run, "abc", cwd=go, check=3)
    assert "still running after" in answer.out
    assert "Of price.go:4" in answer.out
    assert sorted(one.name for one in go.iterdir()) == ["go.mod", "kinds", "main.go", "price"]


@pytest.mark.adapter("delve")
def test_two_runs_of_go_are_compared(cli: Callable[..., Any], go: Path) -> None:
    run = ["go", "run", "."]
    answer = cli("diff", "--", *run, "a", "--vs", *run, "free", cwd=go, check=0)
    assert answer.out.startswith("diff: how often they ran differs first at price.go:6, line of Of")
    assert "price.go:8  x1 / x0  return len(kind)  (in Of)" in answer.out
    said = ["diff", "--function", "price.Of", "--", *run, "a", "--vs", *run, "free"]
    answer = cli(*said, cwd=go, check=0)
    assert 'kind: "a" / "free"' in answer.out, str(answer)
    assert "then B:\n  price.go:6  return 0" in answer.out


@pytest.mark.adapter("delve")
def test_tests_of_go_are_compared(cli: Callable[..., Any], go: Path) -> None:
    bad = ["price/price_test.go", "-run", "TestOther"]
    good = ["go", "test", "./price", "-run", "TestFree"]
    answer = cli("path", "--", *bad, "--vs", *good, cwd=go, check=0)
    assert "  price.go:8  return len(kind)  (in Of)" in answer.out


CGO = """package main

// int twice(int n) { return 2 * n; }
import "C"
import "os"

type kind int

func main() {
	if len(os.Args) > 1 {
		os.Exit(int(C.twice(1)))
	}
}
"""


@pytest.mark.adapter("delve")
def test_go_that_calls_c_is_counted_and_a_file_without_statements_needs_no_note(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "go.mod").write_text("module example.org/two\n\ngo 1.16\n")
    (tmp_path / "main.go").write_text(CGO)
    (tmp_path / "kinds.go").write_text("package main\n\nconst own kind = 1\n")
    run = ["go", "run", "."]
    answer = cli("path", "--", *run, "a", "--vs", *run, cwd=tmp_path, check=0)
    assert "  main.go:11  os.Exit(int(C.twice(1)))  (in main)" in answer.out
    assert "note:" not in answer.out


@pytest.mark.adapter("delve")
def test_go_that_cannot_be_counted_is_refused_with_what_to_do(
    cli: Callable[..., Any], go: Path, tmp_path: Path
) -> None:
    subprocess.run(["go", "build", "-o", tmp_path / "shop", "."], cwd=go, check=True, timeout=100)
    answer = cli("path", "--", tmp_path / "shop", "a", check=1)
    assert "is built without counters: they need its source" in answer.err
    assert "hint: debugger path -- go run PACKAGE a" in answer.err
    (tmp_path / "bad.go").write_text("package main\n\nfunc main() { x }\n")
    answer = cli("path", "--", "go", "run", "bad.go", cwd=tmp_path, check=1)
    assert "bad.go is not built" in answer.err
    assert "undefined: x" in answer.err


def test_a_run_is_saved_and_compared_with_what_was_changed_since(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "price.py"
    text = "def price(kind):\n    return len(kind)\n\nprint(price('ab'))\n"
    script.write_text(text)
    run = [sys.executable, "price.py"]
    answer = cli("path", "--save", "before", "--", *run, cwd=tmp_path, check=0)
    assert "saved as run:before" in answer.out
    assert "saved as run:lines" in cli("diff", "--save", "lines", "--", *run, cwd=tmp_path).out
    script.write_text("# Prices.\n" + text.replace("return", "kind *= 2\n    return") + "0 / 0\n")
    answer = cli("path", "--", *run, "--vs", "run:before", cwd=tmp_path, check=0)
    assert "  price.py:3  kind *= 2  (in price)" in answer.out
    assert "since then changed price.py" in answer.out
    answer = cli("diff", "--", *run, "--vs", "run:lines", cwd=tmp_path, check=0)
    assert "then A:\n  price.py:3  kind *= 2  kind='abab'" in answer.out
    assert "then B:\n  price.py:2  return len(kind)" in answer.out
    listed = cli("runs", check=0).out.splitlines()
    assert [line.split()[0] for line in listed] == ["run:before", "run:lines"]
    assert listed[0].endswith("status 0; changed since: price.py")
    refused = cli("diff", "--", *run, "--vs", "run:before", cwd=tmp_path, check=2)
    assert "saved by debugger path" in refused.err
    assert "no saved run" in cli("path", "--", *run, "--vs", "run:x", cwd=tmp_path, check=1).err
    assert "is saved already" in cli("path", "--", "run:before", check=2).err
    for name in ("before", "lines"):
        cli("runs", "remove", name, check=0)
    assert cli("runs", check=0).out.startswith("no saved runs")


@pytest.mark.adapter("js-debug")
def test_the_end_by_an_exception_that_v8_took_for_caught_says_how_to_stop_at_it(
    cli: Callable[..., Any], typed: Path
) -> None:
    (typed / "boom.mjs").write_text("const none = null;\nnone.field;\n")
    answer = cli("start", "boom.mjs", cwd=typed, check=0)
    assert "an exception that the debugger did not stop at" in answer.out, str(answer)
    cli("start", "boom.mjs", "--stop-on-entry", cwd=typed, check=0)
    cli("catch", "throw", check=0)
    assert "stopped: exception TypeError" in cli("continue", check=0).out
    cli("stop", "--all")
