"""A function is found by any of its names, wherever it is defined; else the answer says a way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, build_debuggee

_NAMES = PROGRAMS / "names"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the Python program; `far.py` is beside it."""
    folder = tmp_path_factory.mktemp("names")
    shutil.copytree(_NAMES / "plugins", folder / "own" / "plugins")
    for name in ("shop.py", "closures.py"):
        shutil.copy(_NAMES / name, folder / "own" / name)
    (folder / "far").mkdir()
    (folder / "far" / "far.py").write_text("def distant(value):\n    return value\n")
    return folder / "own"


def probed_places(answer: Any) -> list[str]:
    """Return the places of a probe that were hit, each as `FILE:LINE in FUNCTION`."""
    lines = [one.split(" ", 1) for one in answer.out.splitlines()]
    return [one[1] for one in lines if len(one[0]) == 1 and " hit" in one[1] and ":" in one[1]]


def probe_all(names: list[str]) -> list[str]:
    return [word for name in names for word in ("--at", name, "1")]


def test_functions_of_python_are_found_by_all_their_names(cli: Callable[..., Any], shop: Path):
    names = {
        "outer.inner": "shop.py:20 in outer.<locals>.inner: 2 hits",
        "shop.outer.inner": "shop.py:20 in outer.<locals>.inner: 2 hits",
        "shop.py:inner": "shop.py:20 in outer.<locals>.inner: 2 hits",
        "Made.price": "shop.py:28 in make.<locals>.Made.price: 1 hit",
        "Cart.plain": "shop.py:45 in Cart.plain: 1 hit",
        "count": "shop.py:49 in Cart.count: 1 hit",
        "Cart.cube": "shop.py:40 in Cart.<lambda>: 1 hit",
        "square": "shop.py:59 in <lambda>: 1 hit",
        "decorated": "shop.py:54 in decorated: 1 hit",
        "plug.plugged": "plug.py:1 in plugged: 1 hit",
        "plug.py:plugged": "plug.py:1 in plugged: 1 hit",
        "made_up": "<generated>:1 in made_up: 1 hit",
        "distant": "far.py:1 in distant: 1 hit",
        "far.distant": "far.py:1 in distant: 1 hit",
    }
    run = ["--", "python", "shop.py", str(shop.parent / "far" / "far.py")]
    answer = cli("probe", *probe_all([*names]), *run, cwd=shop, check=0)
    assert probed_places(answer) == [*names.values()]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("shop.py:Cart.cube", "Cart.<lambda>(self=<Cart>, side=2) → 8 shop.py:40"),
        ("far.distant", "distant(value=3) → 3 far.py:1"),
    ],
)
def test_calls_and_paths_of_python_take_the_same_names(
    cli: Callable[..., Any], shop: Path, name: str, says: str
):
    run = ["--", "python", "shop.py", str(shop.parent / "far" / "far.py")]
    assert f"#1 {says}" in cli("calls", name, *run, cwd=shop, check=0).out
    # A path is of the program's own files alone.
    is_own = name.startswith("shop")
    answer = cli("path", "--around", name, *run, cwd=shop, check=0 if is_own else 1)
    assert ("was called 1 time" in answer.out) is is_own


def test_functions_of_one_name_are_kept_apart(cli: Callable[..., Any], shop: Path):
    run = ["--", "python", "shop.py"]
    answer = cli("calls", "total", *run, cwd=shop, check=0)
    assert "total is 2 functions" in answer.out
    assert "Cart.total shop.py:42 x1, Base.total shop.py:35 x1" in answer.out
    assert "debugger calls shop.py:Cart.total -- CMD" in answer.out
    answer = cli("calls", "shop.py:Base.total", *run, cwd=shop, check=0)
    assert "functions" not in answer.out
    assert "#1 Base.total(" in answer.out


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (("calls", "outr.innr"), "inner"),
        (
            ("probe", "--at", "shop.py:innr", "1"),
            "probe --at shop.py:outer.inner EXPR -- python shop.py",
        ),
        (("who-wrote", "row", "--at", "innr"), ""),
        (("path", "--around", "innr"), "path --around outer.inner -- python shop.py"),
    ],
)
def test_what_is_nowhere_says_what_was_searched(
    cli: Callable[..., Any], shop: Path, command: tuple[str, ...], hint: str
):
    answer = cli(*command, "--", "python", "shop.py", cwd=shop, check=1)
    assert hint in answer.err
    if hint:
        assert "Python file" in answer.err
        assert "shop.py" in answer.err
        assert "FILE:LINE" in answer.err


def test_a_session_of_python_breaks_at_a_function_of_a_file(cli: Callable[..., Any], shop: Path):
    answer = cli("start", "-b", "shop.py:Base.total", "shop.py", cwd=shop, check=0)
    cli("stop", cwd=shop)
    assert "stopped: breakpoint 1, total at shop.py:36" in answer.out
    answer = cli("start", "-b", "square", "shop.py", cwd=shop, check=0)
    assert "it is a lambda in shop.py:59" in answer.out


@pytest.mark.parametrize(
    ("place", "expressions", "says"),
    [
        ("closures.py:8", "row, basis, unused", ("basis: always 100", "unused: always 3")),
        ("closures.py:11", "row, basis, doubled", ("1  2", "2  4", "doubled: always [2, 4]")),
        ("closures.py:26", "shared", ("4",)),
        ("closures.py:37", "row, sign", ("sign: always -1", "1  1", "2  2")),
        ("keep.inner", "value, kept, secret", ("keep is not running", "hit  value  kept")),
    ],
)
def test_a_probe_in_a_closure_sees_the_names_around_it(
    cli: Callable[..., Any], shop: Path, place: str, expressions: str, says: tuple[str, ...]
):
    run = ["--", "python", "closures.py"]
    answer = cli("probe", "--at", place, expressions, *run, cwd=shop, check=0)
    assert [one for one in says if one not in answer.out] == []


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the JavaScript program, with a package and a compiled file."""
    folder = tmp_path_factory.mktemp("scripts")
    for name in ("main.cjs", "lib.cjs", "later.mjs"):
        shutil.copy(_NAMES / name, folder / name)
    package = folder / "node_modules" / "dep"
    package.mkdir(parents=True)
    (package / "index.js").write_text("exports.installed = (a) => {\n  return a;\n};\n")
    return folder


@pytest.mark.adapter("js-debug")
def test_functions_of_javascript_are_found_by_all_their_names(
    cli: Callable[..., Any], scripts: Path
):
    names = {
        "hidden": "lib.cjs:3",
        "lib.hidden": "lib.cjs:3",
        "lib.cjs:hidden": "lib.cjs:3",
        "outer.inner": "main.cjs:20",
        "outer.closed": "main.cjs:23",
        "Cart.field": "main.cjs:4",
        "Old.proto": "main.cjs:16",
        "table.literal": "main.cjs:27",
        "exports.assigned": "lib.cjs:7",
        "dynamic": "later.mjs:2",
        "dep.installed": "index.js:2",
    }
    run = ["--", "node", "main.cjs"]
    answer = cli("probe", *probe_all([*names]), *run, cwd=scripts, check=0)
    places = probed_places(answer)
    assert [one.partition(" in ")[0].partition(": ")[0] for one in places] == [*names.values()]
    assert "#1 inner(x=3) → 21 " in cli("calls", "outer.inner", *run, cwd=scripts, check=0).out


@pytest.mark.adapter("js-debug")
def test_the_other_functions_of_a_javascript_name_are_named(cli: Callable[..., Any], scripts: Path):
    answer = cli("calls", "total", "--", "node", "main.cjs", cwd=scripts, check=0)
    assert "others of this name: main.cjs:11" in answer.out
    answer = cli("calls", "hiden", "--", "node", "main.cjs", cwd=scripts, check=1)
    assert "3 scripts" in answer.err
    assert "main.cjs, lib.cjs" in answer.err
    assert "there is hidden" in answer.err


@pytest.mark.adapter("js-debug")
def test_a_function_behind_a_source_map_is_found_in_its_source(
    cli: Callable[..., Any], tmp_path: Path
):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "price.ts").write_text(
        "export class Price {\n  net(n: number): number {\n    return n * 2;\n  }\n}\n"
    )
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "price.js").write_text(
        "exports.Price = class Price {\n  net(n) {\n    return n * 2;\n  }\n}\n"
        "//# sourceMappingURL=price.js.map\n"
    )
    (tmp_path / "dist" / "price.js.map").write_text(
        '{"version":3,"sources":["../src/price.ts"],"names":[],'
        '"mappings":"AAAA;EACE;IACE;EACF;AACF"}'
    )
    (tmp_path / "main.js").write_text(
        "const { Price } = require('./dist/price.js');\nnew Price().net(4);\n"
    )
    answer = cli("calls", "Price.net", "--", "node", "main.js", cwd=tmp_path, check=0)
    assert "Price.net(n=4) → 8 price.ts:3" in answer.out


def write_bundle(path: Path) -> None:
    """Write a script of 63,000 lines (2 MB) whose last function is in a closure."""
    lines = ["(function (root) {"]
    for number in range(9_000):
        lines += [
            f"  /* step {number}: it's {{ text */",
            f"  function step{number}(a, b) {{",
            f"    var text = \"a '{{' of {number}\"; // }} odd",
            f"    const pick = (x) => {{ return x + {number}; }};",
            "    const table = { two(q) { return q.replace(/[\"'{]/g, ''); } };",
            "    return table.two(a) + pick(b);",
            "  }",
        ]
    lines += ["  function getDeepest(some, flags) {", "    return some.length + flags;", "  }"]
    lines += ["  root.run = () => getDeepest([1, 2], 3);", "})(exports);", ""]
    path.write_text("\n".join(lines))


@pytest.mark.adapter("js-debug")
def test_a_function_of_a_bundle_of_63_000_lines_is_found(cli: Callable[..., Any], tmp_path: Path):
    write_bundle(tmp_path / "bundle.cjs")
    (tmp_path / "main.cjs").write_text("require('./bundle.cjs').run();\n")
    run = ["--", "node", "main.cjs"]
    answer = cli("calls", "getDeepest", *run, cwd=tmp_path, check=0)
    assert "#1 getDeepest(" in answer.out
    assert "→ 5 bundle.cjs:63003" in answer.out
    answer = cli("calls", "getDepest", *run, cwd=tmp_path, check=1)
    assert "there is getDeepest" in answer.err


@pytest.mark.adapter("gdb")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("geo::hidden", "geo::(anonymous namespace)::hidden(a=1) → 2 shapes.cpp:5"),
        ("second.h:same", "(a=2, b=3) → 6 second.h:4"),
    ],
)
def test_a_function_of_cpp_is_found(cli: Callable[..., Any], name: str, says: str):
    program = build_debuggee("names/shapes.cpp")
    assert says in cli("calls", name, "--", program, check=0).out
    answer = cli("probe", "--by", "logpoints", "--at", name, "a", "--", program, check=0)
    assert answer.out.startswith("probe: 1 hit;")


@pytest.mark.adapter("gdb")
def test_functions_of_one_name_in_cpp_are_probes_of_their_own(cli: Callable[..., Any]):
    program = build_debuggee("names/shapes.cpp")
    answer = cli("probe", "--at", "over", "a", "--", program, check=0)
    assert "over is 2 functions: geo::over shapes.cpp:17, geo::over shapes.cpp:20" in answer.out
    assert "A1 a=1\n" in answer.out
    assert "B1 a=1.5\n" in answer.out
    answer = cli("calls", "aera", "--", program, check=1)
    assert f"debugger calls geo::Box::area -- {program}" in answer.err


@pytest.mark.adapter("gdb")
def test_functions_of_rust_are_found_by_names_that_gdb_does_not_know(cli: Callable[..., Any]):
    program = build_debuggee("names/shapes.rs")
    names = {
        "Sq::area": "shapes.rs:6",
        "pick": "shapes.rs:25",
        "main::{closure}": "shapes.rs:33",
        "shapes.rs:helper": "shapes.rs:21",
    }
    run = ["--", program]
    answer = cli("probe", "--adapter", "gdb", *probe_all([*names]), *run, check=0)
    places = probed_places(answer)
    assert [one.partition(" in ")[0].partition(": ")[0] for one in places] == [*names.values()]
    answer = cli("path", "--around", "Sq::area", *run, check=0)
    assert "area shapes.rs:5 was called 1 time" in answer.out


@pytest.mark.adapter("delve")
def test_functions_of_go_are_found_by_all_their_names(cli: Callable[..., Any]):
    names = {
        "Add": "store.go:5",
        "Less": "main.go:7",
        "store.work": "store.go:10",
        "store/store.go:work": "store.go:10",
        "main.func1": "main.go:19",
        "work": "main.go:11",
    }
    folder = _NAMES / "module"
    run = ["--", "go", "run", "."]
    answer = cli("probe", *probe_all([*names]), *run, cwd=folder, check=0)
    places = probed_places(answer)
    assert [one.partition(" in ")[0].partition(": ")[0] for one in places] == [*names.values()]
    said = "it is main.work, of package main; others of this name: store.work store.go:10"
    assert said in answer.out
    assert said in cli("calls", "work", *run, cwd=folder, check=0).out
