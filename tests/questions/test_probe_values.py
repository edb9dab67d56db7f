"""A condition that was never true shows the values that it had."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, find_marker

BACK = PROGRAMS / "back"
PROBES = [
    pytest.param("prog.py:6", ("python", "prog.py"), "0 (hit 1) to 33 (hit 12)", id="python"),
    pytest.param(
        "prog.c:4",
        ("./prog",),
        "0 (hit 1) to 33 (hit 12)",
        marks=pytest.mark.adapter("lldb-dap"),
        id="c",
    ),
    pytest.param(
        "prog.js:3",
        ("node", "prog.js"),
        "0 (hit 1) to 12 (hit 5)",
        marks=pytest.mark.adapter("js-debug"),
        id="node",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("refused")
    for name in ("prog.py", "prog.c", "prog.js"):
        (where / name).write_text((BACK / name).read_text())
    words = ["gcc", "-g", "-O0", "-o", "prog", "prog.c"]
    subprocess.run(words, cwd=where, check=True, timeout=60)
    return where


@pytest.mark.parametrize(("place", "command", "expected"), PROBES)
def test_a_condition_that_never_held_shows_its_values(
    cli: Any, folder: Path, place: str, command: tuple[str, ...], expected: str
) -> None:
    asked = ("probe", "--at", place, "i", "--when", "total > 1000", "--", *command)
    answer = cli(*asked, cwd=folder, check=0, timeout=90)
    assert f"  there, in a second run: total: {expected}" in answer.out
    answer = cli("--json", *asked, cwd=folder, check=0, timeout=90)
    (found,) = answer.data["data"]["places"]
    assert [one["expression"] for one in found["refused"]] == ["total"]
    assert found["hits"] == 0


def test_a_location_that_was_not_reached_has_no_second_run(cli: Any, folder: Path) -> None:
    (folder / "never.py").write_text("def f(n):\n    return n\n\nprint(1)\n")
    asked = ("probe", "--at", "never.py:2", "n", "--when", "n > 3", "--", "python", "never.py")
    answer = cli(*asked, cwd=folder, check=1, timeout=90)
    assert "second run" not in answer.out
    assert "f was never entered" in answer.out


ORIGINS = PROGRAMS / "origins"


@pytest.mark.adapter("js-debug")
def test_changes_name_each_statement_that_changed_the_value_between_the_hits(cli: Any) -> None:
    line = find_marker("origins/stages.js", "pass")
    asked = ("probe", "--at", f"stages.js:{line}", "pass, found", "--changes")
    data = cli("--json", *asked, "--", "node", "stages.js", cwd=ORIGINS, timeout=90).data["data"]
    apply = find_marker("origins/stages.js", "apply")
    found = [
        (one["first"], one["second"], one["frame"]["line"], one["run"], one["runs"], one["after"])
        for one in data["narrowed"]
    ]
    assert found == [
        (1, 2, apply, 2, 4, "'a 1'"),
        (1, 2, apply, 3, 4, "'a '"),
        (2, 3, apply, 1, 4, "'a'"),
    ]
    spoils = data["narrowed"][1]
    assert spoils["source"]["line"] == find_marker("origins/stages.js", "spoils")
    assert spoils["operands"][0].startswith("stage={name: 'digits'")
    assert (spoils["called"]["function"], spoils["is_final"]) == ("apply", True)


@pytest.mark.adapter("js-debug")
def test_the_hits_of_changes_have_the_numbers_of_the_table(cli: Any) -> None:
    line = find_marker("origins/stages.js", "apply")
    asked = ("probe", "--at", f"stages.js:{line}", "found", "--changes", "--", "node", "stages.js")
    told = cli(*asked, cwd=ORIGINS, timeout=90).out
    assert f"between hits 2 and 3: stages.js:{line} found = apply(found, stage)  [stage=" in told


_RINGS = {
    "rings.py": (
        "class Ring:\n"
        "    def __init__(self, order): self.order = order\n"
        "def use(ring):\n"
        "    return len(ring.order)\n"
        "shared = Ring([0, 1, 2, 3, 4, 5, 9, 7])\n"
        "for i in range(4):\n"
        "    use(shared if i < 3 else Ring(list(shared.order)))\n"
    ),
    "rings.js": (
        "function use(ring) {\n"
        "  return ring.order.length;\n"
        "}\n"
        "const shared = { order: [0, 1, 2, 3, 4, 5, 9, 7] };\n"
        "for (let i = 0; i < 4; i++) use(i < 3 ? shared : { order: [...shared.order] });\n"
    ),
}


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("rings.py", sys.executable),
        pytest.param("rings.js", "node", marks=pytest.mark.adapter("js-debug")),
    ],
)
def test_hits_of_one_object_are_told_from_those_of_an_equal_one(
    cli: Any, tmp_path: Path, name: str, program: str
) -> None:
    (tmp_path / name).write_text(_RINGS[name])
    line = 4 if name.endswith(".py") else 2
    place = f"{name}:{line}"
    told = cli("probe", "--json", "--at", place, "ring, ring.order", "--", program, name,
               cwd=tmp_path, timeout=60)  # fmt: skip
    ring, order = told.data["data"]["places"][0]["columns"]
    spans = [[one["spans"] for one in column["objects"]] for column in (ring, order)]
    assert spans == [[[[1, 3]], [[4, 4]]]] * 2
    assert ring["distinct"] == 1
    assert (order["departure"]["value"], order["departure"]["hit"]) == ("[6] = 9 after 5", 1)
