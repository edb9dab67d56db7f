"""`path --vs` names the condition that decided differently, with the values of both runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("decides")
    (made / "decides.py").write_text(program_text("counted_lines/decides.py"))
    (made / "decides.js").write_text(program_text("counted_lines/decides.js"))
    (made / "main.go").write_text(program_text("counted_lines/decides.go"))
    (made / "go.mod").write_text("module decides\n\ngo 1.20\n")
    return made


@pytest.mark.parametrize(
    ("run", "says"),
    [
        pytest.param(
            [sys.executable, "decides.py"],
            [
                "if o.order is None:  is true only in the failing run  (in check; values of",
                "\n  o.order: None; passing: 'aa' | 'bb' | 'c'\n",
            ],
            id="python",
        ),
        pytest.param(
            ["node", "decides.js"],
            [
                "if (o.order === null || n > 90) {  is true only in the failing run",
                '\n  o.order: null; passing: "aa" | "bb" | "c"\n',
                "\n  n: 2; passing: 0 … 2\n",
            ],
            marks=pytest.mark.adapter("js-debug"),
            id="node",
        ),
        pytest.param(
            ["go", "run", "."],
            [
                'if s == "x" && n > 1 {  is true only in the failing run  (in check; values of',
                '\n  s: "x"; passing: "aa" | "bb" | "c"\n',
                "\n  n: 2; passing: 0 … 2\n",
            ],
            marks=pytest.mark.adapter("delve"),
            id="go",
        ),
    ],
)
def test_the_first_difference_is_told_with_the_operands_of_its_condition(
    cli: Callable[..., Any], folder: Path, run: list[str], says: list[str]
) -> None:
    bad, good = [*run, "aa", "bb", "x", "c"], [*run, "aa", "bb", "c"]
    answer = cli("path", "--", *bad, "--vs", *good, cwd=folder, check=0)
    assert "\ndifference: " in answer.out, str(answer)
    for text in says:
        assert text in answer.out, str(answer)


def test_a_condition_that_holds_in_the_passing_run_alone_is_false_in_the_failing_one(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(
        "import sys\nwords = sys.argv[1:]\nfound = 1\nif 'ok' in words:\n    found = 0\n"
        "sys.exit(found)\n"
    )
    run = [sys.executable, "a.py"]
    answer = cli("path", "--", *run, "no", "--vs", *run, "ok", cwd=tmp_path, check=0)
    assert "if 'ok' in words:  is false only in the failing run" in answer.out, str(answer)
    assert "words: ['no']; passing: ['ok']" in answer.out


def test_runs_that_were_all_ended_at_their_limit_say_so(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    run = [sys.executable, "slow.py"]
    answer = cli(
        "path", "--timeout", "1", "--", *run, "a", "--vs", *run, "b", cwd=tmp_path, check=3
    )
    assert "note: all runs were ended at their limit" in answer.out, str(answer)
    assert "a longer --timeout may let them end" in answer.out


def test_a_saved_run_is_not_run_again_for_its_values(cli: Callable[..., Any], folder: Path) -> None:
    run = [sys.executable, "decides.py"]
    cli("path", "--save", "decided", "--", *run, "aa", cwd=folder, check=0)
    answer = cli("path", "--vs", "run:decided", "--", *run, "x", cwd=folder, check=0)
    assert "if o.order is None:  is true in the failing run" in answer.out, str(answer)
    assert "\n  o.order: None\n" in answer.out


def test_lines_of_a_function_that_all_runs_called_stand_with_the_condition_that_decided(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "sizes.py").write_text(
        "import sys\ndef size_of(word, most):\n    if most and len(word) > 3:\n"
        "        word = word[:most]\n    return len(word)\n"
        "total = sum(size_of(word, 6) for word in sys.argv[1:])\n"
        "if total > 4:\n    sys.exit(1)\n"
    )
    run = [sys.executable, "sizes.py"]
    bad, good = [*run, "abcdefgh"], [*run, "abc"]
    answer = cli("path", "--", *bad, "--vs", *good, cwd=tmp_path, check=0)
    assert "sizes.py:4  word = word[:most]  (in size_of)  by :3" in answer.out, str(answer)
    # Both runs came to it; a line that only one of them came to decided nothing.
    assert "sizes.py:8  sys.exit(1)  (in <module>)  by :7" in answer.out
    told = cli("--json", "path", "--", *bad, "--vs", *good, cwd=tmp_path, check=0)
    decided = {one["line"]: one["decided_by"] for one in told.data["data"]["suspect_lines"]}
    assert decided == {4: 3, 8: 7}


@pytest.mark.parametrize(
    ("name", "run", "source"),
    [
        pytest.param(
            "keys.py",
            sys.executable,
            "import sys\ndef build(key):\n    if key.startswith('_'):\n        return None\n"
            "    return key\nprint([build(one) for one in sys.argv[1].split(',')])\n",
            id="python",
        ),
        pytest.param(
            "keys.js",
            "node",
            "function build(key) {\n  if (key.startsWith('_')) {\n    return null;\n  }\n"
            "  return key;\n}\nconsole.log(process.argv[2].split(',').map(build));\n",
            marks=pytest.mark.adapter("js-debug"),
            id="node",
        ),
    ],
)
def test_the_values_of_a_condition_that_calls_something_are_those_that_differ(
    cli: Callable[..., Any], tmp_path: Path, name: str, run: str, source: str
) -> None:
    (tmp_path / name).write_text(source)
    words = ["path", "--json", "--", run, name, "ab,_c", "--vs", run, name, "ab,cd"]
    decision = cli(*words, check=0, cwd=tmp_path, timeout=60).data["data"]["decision"]
    (key,) = decision["operands"]
    assert (key["failing"].strip("'\""), len(key["passing"])) == ("_c", 2)


@pytest.mark.parametrize(
    ("runner", "file", "main", "texts"),
    [
        pytest.param(
            sys.executable,
            "shop.py",
            "import sys; sys.path[0] = sys.argv[1]\nimport shop\nsys.exit(shop.add(2) != 3)\n",
            (
                "def add(n):\n    return n + 2\n\n\nx = 1\n",
                "def add(n):\n    return n + 1\n\n\nx = 1\n",
            ),
            id="python",
        ),
        pytest.param(
            "node",
            "shop.js",
            "process.exitCode = require(process.argv[2] + '/shop.js').add(2) === 3 ? 0 : 1;\n",
            (
                "exports.add = n => {\n  return n + 2;\n};\n",
                "exports.add = n => {\n  return n + 1;\n};\n",
            ),
            marks=pytest.mark.adapter("js-debug"),
            id="node",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["path", "diff"])
def test_two_versions_of_a_package_are_one_source_whose_changed_lines_are_named(  # noqa: PLR0917
    cli: Callable[..., Any],
    tmp_path: Path,
    verb: str,
    runner: str,
    file: str,
    main: str,
    texts: tuple[str, str],
) -> None:
    for name, text in zip(("new", "old"), texts, strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text)
    script = tmp_path / f"main{Path(file).suffix}"
    script.write_text(main)
    words = [runner, script.name, "./new", "--vs", runner, script.name, "./old"]
    out = cli(verb, "--", *words, cwd=tmp_path, check=0, timeout=90).out
    assert f"the sources differ at {file}:2 return n + 2" in out
    assert "x = 1" not in out  # what both ran alike
