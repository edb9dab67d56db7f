"""`path --between` counts what ran between two locations of Node and Go."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

# The same as a module and as CommonJS.
SHOP = program_text("counted_lines/between_shop.js")
MAIN = program_text("counted_lines/between_main.js")
MODULE = (
    "import { spawnSync } from 'child_process';\n"
    "import { Worker, isMainThread } from 'worker_threads';\n"
    "import { Shop, price, report } from './shop.mjs';\n"
)
COMMON = (
    "const { spawnSync } = require('child_process');\n"
    "const { Worker, isMainThread } = require('worker_threads');\n"
    "const { Shop, price, report } = require('./shop.cjs');\n"
)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("node")
    (folder / "shop.mjs").write_text(SHOP + "export { Shop, price, report };\n")
    (folder / "shop.cjs").write_text(SHOP + "module.exports = { Shop, price, report };\n")
    (folder / "main.mjs").write_text(MODULE + MAIN)
    (folder / "main.cjs").write_text(COMMON + MAIN)
    return folder


def function_lines(answer: Any) -> list[str]:
    """Return the lines that tell functions."""
    lines = answer.out.partition("\nnote:")[0].splitlines()[1:]
    return [one for one in lines if re.search(r" :|\.(?:mjs|cjs|go):", one)]


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize("kind", ["mjs", "cjs"])
@pytest.mark.parametrize("what", ["", "child", "worker"])
def test_what_ran_between_two_functions_of_node_is_counted(
    cli: Callable[..., Any], node: Path, kind: str, what: str
) -> None:
    run = ["node", f"main.{kind}", *([what] if what else [])]
    answer = cli("path", "--between", "Shop.open", "close", "--", *run, cwd=node, check=0)
    assert answer.out.startswith("path from Shop.open to close: exited with status 0")
    assert function_lines(answer) == [
        f"day main.{kind}:7 entered before",
        f"Shop.open shop.{kind}:3 x2",
        "Shop.close :8",
        "price :13 x5",
        "report :16",
    ], str(answer)
    assert "counted from where Shop.open begins to where close does" in answer.out
    assert ("which are not told here" in answer.out) == (what == "child")


@pytest.mark.adapter("js-debug")
def test_lines_between_two_places_of_node_are_counted_with_an_exception_among_them(
    cli: Callable[..., Any], node: Path
) -> None:
    between = ["--between", "main.mjs:10", "shop.mjs:10", "--around"]
    run = ["--", "node", "main.mjs", "throws"]
    answer = cli("path", *between, "report", *run, cwd=node, check=0)
    assert "report shop.mjs:16 was called 1 time; its lines" in answer.out
    assert "   17       x1  price('r');" in answer.out
    assert "   19    never  shop.open('free');" in answer.out
    answer = cli("path", *between, "price", *run, cwd=node, check=0)
    assert "price shop.mjs:13 was called 3 times" in answer.out, str(answer)


@pytest.mark.adapter("js-debug")
def test_a_place_of_node_that_is_never_come_to_is_told(cli: Callable[..., Any], node: Path) -> None:
    run = ["--", "node", "main.mjs"]
    answer = cli("path", "--between", "close", "open", *run, "exits", cwd=node, check=0)
    assert "exited with status 3" in answer.out
    assert "open was not called after close: what follows is to the end" in answer.out
    assert "Shop.close shop.mjs:8" in answer.out
    assert "price :13 x2" in answer.out
    answer = cli("path", "--between", "price", "price", *run, cwd=node, check=0)
    assert function_lines(answer) == ["Shop.open shop.mjs:3", "price :13 x2"]
    missed = cli("path", "--between", "prise", "close", *run, cwd=node, check=1)
    assert "no function prise ran; there is price" in missed.err
    missed = cli("path", "--between", "shop.mjs:4", "none", *run, "child", cwd=node, check=0)
    assert "none was not called after shop.mjs:4" in missed.out
    missed = cli("path", "--between", "main.mjs:19", "close", *run, cwd=node, check=1)
    assert "main.mjs:19 was not passed" in missed.err
    assert "hint: debugger path --around main.mjs:19 -- node " in missed.err
    assert "(shows which lines" in missed.err


GO = program_text("counted_lines/between.go")
PRICE = """package price

// Of is what a kind costs.
func Of(kind string) int {
	if kind == "free" {
		return 0
	}
	return len(kind)
}
"""


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("go")
    (folder / "price").mkdir()
    (folder / "go.mod").write_text("module example.org/shop\n\ngo 1.16\n")
    (folder / "main.go").write_text(GO)
    (folder / "price" / "price.go").write_text(PRICE)
    return folder


@pytest.mark.adapter("delve")
@pytest.mark.parametrize("what", ["", "child"])
def test_what_ran_between_two_functions_of_go_is_counted(
    cli: Callable[..., Any], go: Path, what: str
) -> None:
    run = ["--", "go", "run", ".", what]
    answer = cli("path", "--between", "(*Shop).Open", "main.Shop.Close", *run, cwd=go, check=0)
    assert function_lines(answer) == [
        "Of price.go:4 x6",
        "Shop.Open main.go:12 x2",
        "Shop.Close :23",
        "report :25",
    ], str(answer)
    assert "with what other goroutines ran meanwhile" in answer.out
    assert ("which are not told here" in answer.out) == (what == "child")


@pytest.mark.adapter("delve")
def test_lines_between_two_places_of_go_are_counted_up_to_a_panic(
    cli: Callable[..., Any], go: Path
) -> None:
    run = ["--", "go", "run", ".", "panics"]
    # A line in the middle of a block, and one in the middle of a statement.
    answer = cli("path", "--between", "main.go:48", "main.go:27", *run, cwd=go, check=0)
    assert function_lines(answer) == ["Of price.go:4 x3", "Shop.Open main.go:12", "report :25"], (
        str(answer)
    )
    answer = cli("path", "--between", "main.go:51", "never", *run, cwd=go, check=0)
    assert "exited with status 2" in answer.out
    assert "never was not called after main.go:51: what follows is to the end" in answer.out
    assert function_lines(answer) == [
        "Of price.go:4 x3",
        "Shop.Close main.go:23",
        "main :40 entered before",
    ]
    said = ["path", "--between", "Of", "report", "--around", "price/price.go:8"]
    assert "    8       x4  return len(kind)" in cli(*said, *run, cwd=go, check=0).out


@pytest.mark.adapter("delve")
def test_a_place_of_go_that_is_never_come_to_is_told(cli: Callable[..., Any], go: Path) -> None:
    run = ["--", "go", "run", ".", ""]
    missed = cli("path", "--between", "main.go:55", "report", *run, cwd=go, check=1)
    assert "main.go:55 was not passed" in missed.err
    missed = cli("path", "--between", "reports", "Of", *run, cwd=go, check=1)
    assert "no function reports ran; there is report" in missed.err
    answer = cli("path", "--between", "Of", "Of", *run, cwd=go, check=0)
    assert function_lines(answer) == ["Of price.go:4 x2", "Shop.Open main.go:12"]


@pytest.mark.adapter("delve")
def test_a_file_that_is_run_by_itself_may_use_packages_of_its_module(
    cli: Callable[..., Any], go: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "module"
    shutil.copytree(go, folder)
    alone = GO[: GO.index("type Shop")].replace('"os"\n\t"os/exec"\n\n\t', "")
    text = alone + 'func main() {\n\tprice.Of("a")\n\tprice.Of("b")\n}\n'
    (folder / "alone.go").write_text(text)
    run = ["--", "go", "run", "alone.go"]
    answer = cli("path", "--between", "main", "Of", *run, cwd=folder, check=0)
    assert function_lines(answer) == ["Of price.go:4", "main alone.go:7"]
