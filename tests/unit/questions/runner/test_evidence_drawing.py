"""A stored answer is drawn again, by its own drawing or as the tree of its calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from debugger.daemon.dispatch import CommandReply, CommandRequest, Dispatcher
from debugger.questions.path.call_page import DrawnCalls, describe_calls
from debugger.questions.recordings.answer import CallRow, RunView, VaryView
from debugger.questions.runner.answer import DrawnCall, DrawnCallTree
from debugger.questions.runner.evidence_store import AnswerPicture

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>x</text></svg>'
TREE = DrawnCallTree("./shop", "exited with status 0", "time", (DrawnCall(0, "main()", 1.0),))


async def unheard(text: str) -> None:
    raise AssertionError(text)


@pytest.fixture
async def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(tmp_path))
    dispatcher = Dispatcher(lambda _: None)
    env = {"DEBUGGER_CONFIG": str(tmp_path / "config.toml")}
    keep = dispatcher._evidence.keep_answer
    keep(
        ["debugger", "hang"],
        "/",
        summary="x",
        text="x",
        files=(),
        draw=AnswerPicture(lambda: SVG, lambda width: f"drawn in {width}\x1b"),
    )
    keep(["debugger", "path"], "/", summary="x", text="x", files=(), trees=(TREE,))
    keep(["debugger", "crash"], "/", summary="x", text="x", files=())

    async def run(*argv: str) -> CommandReply:
        return await dispatcher.handle(
            CommandRequest(1, unheard, argv=argv, cwd=str(tmp_path), env=env)
        )

    yield run
    await dispatcher.close()


async def test_a_picture_is_data_or_a_file(ask: Any, tmp_path: Path):
    shown = await ask("evidence", "draw", "e1")
    assert shown.result["svg"] == SVG
    assert "debugger evidence draw e1 FILE.svg writes it" in shown.text
    written = await ask("evidence", "draw", "1", "waits.svg")
    assert written.result["picture"] == str(tmp_path / "waits.svg")
    assert ET.parse(tmp_path / "waits.svg").getroot().tag.endswith("svg")


async def test_a_picture_is_drawn_in_the_characters_of_a_terminal(ask: Any):
    shown = await ask("evidence", "draw", "e1", "--text", "--width", "60")
    assert shown.result["text"] == "drawn in 60\x1b"
    assert shown.text.splitlines() == ["drawn in 60\\x1b"]
    narrow = await ask("evidence", "draw", "e1", "--text", "--width", "10")
    assert "40 to 500 characters" in narrow.error.message
    both = await ask("evidence", "draw", "e1", "waits.svg", "--text")
    assert both.error.hint == "debugger evidence draw e1 --text"


async def test_calls_are_data_and_no_picture(ask: Any, tmp_path: Path):
    drawn = await ask("evidence", "draw", "e2")
    assert drawn.result["trees"][0]["rows"][0]["name"] == "main()"
    assert "main()" in drawn.text
    refused = await ask("evidence", "draw", "e2", "calls.svg")
    assert refused.error.hint.startswith("debugger path --html FILE.html")
    assert not (tmp_path / "calls.svg").exists()


async def test_an_answer_says_whether_it_is_drawn(ask: Any):
    shown = [(await ask("evidence", "show", one)).result for one in ("e1", "e2", "e3")]
    assert [one.get("is_drawn") for one in shown] == [True, True, False]
    refused = await ask("evidence", "draw", "e3")
    assert refused.error.hint == "debugger evidence show e3"


def calls_of(*rows: CallRow) -> DrawnCalls:
    return DrawnCalls("./shop", RunView("./shop", 0, took_s=0.1), rows, len(rows))


def test_calls_are_described_with_their_part_of_the_run():
    rows = (
        CallRow(0, 0, "main", "/src/main.c", 60, total_ms=8.0),
        CallRow(
            1, 1, "pop", "/src/main.c", 42, count=3, total_ms=2.0, raised=1, errors=("KeyError",)
        ),
        CallRow(1, 2, "", count=5),
    )  # fmt: skip
    (tree,) = describe_calls([calls_of(*rows)])
    main, pop, loop = tree.rows
    assert (tree.measure, tree.omitted) == ("time", 0)
    assert (main.share, pop.share) == (1.0, 0.25)
    assert pop.marks == ("raised KeyError",)
    assert pop.facts.startswith("x3 · 2")
    assert (loop.name, loop.facts) == ("loop x5", "")


def test_of_two_runs_the_differences_are_marked():
    one = calls_of(
        CallRow(0, 0, "main", "/src/main.c", 60), CallRow(1, 1, "pop", "/src/main.c", 42)
    )
    other = calls_of(CallRow(0, 0, "main", "/src/main.c", 60))
    first, second = describe_calls([one, other])
    assert first.rows[1].marks == ("only in this run",)
    assert second.rows[0].marks == ()


def test_a_tree_of_long_values_is_cut_and_says_so():
    value = VaryView("x", 1, 1, "y" * 5000, "y" * 5000)
    rows = [CallRow(0, at, f"f{at}", arguments=(value,), value=value) for at in range(1000)]
    (tree,) = describe_calls([calls_of(*rows)])
    assert 100 < len(tree.rows) < 1000
    assert tree.omitted == 1000 - len(tree.rows)
    assert all(len(one.name) <= 300 for one in tree.rows)
