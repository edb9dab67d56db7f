"""Answers are drawn in files: the values of a probe, the calls of a path, the waits of a hang."""

from __future__ import annotations

import importlib.util
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from debugger.questions.runner import picture_file

Cli = Callable[..., Any]
PROGRAM = """\
import sys

def price_of(at, kind):
    price = at * 2.5
    if kind == "bad" and at in (7, 8):
        price -= 100
    return price

total = 0
for at in range(1, 16):
    total += price_of(at, sys.argv[1])
print("<b>total</b>", total)
sys.exit(sys.argv[1] == "bad")
"""
DEADLOCK = """\
import threading, time
first, second = threading.Lock(), threading.Lock()
def take(mine, other):
    with mine:
        time.sleep(0.2)
        with other:
            pass
for pair in ((first, second), (second, first)):
    threading.Thread(target=take, args=pair, name=f"<worker {id(pair) % 7}>").start()
"""
AT = ("--at", "shop.py:7", "price, kind")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(PROGRAM)
    (tmp_path / "lock.py").write_text(DEADLOCK)
    return tmp_path


def texts(path: Path) -> str:
    """Return all text of a file that is well-formed."""
    body = path.read_text().removeprefix("<!doctype html>\n")
    return "\n".join(filter(None, (one.text for one in ET.fromstring(body).iter())))


def test_a_probe_is_drawn_for_its_owner_and_drawn_again(cli: Cli, folder: Path) -> None:
    for _ in range(2):  # a file of ours is replaced
        answer = cli("probe", *AT, "--plot", "a.svg", "--", "python3", "shop.py", "bad",
                     check=0, cwd=folder)  # fmt: skip
        assert f"picture: {folder / 'a.svg'}" in answer.out
    made = folder / "a.svg"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    shown = texts(made)
    assert "debugger probe --at shop.py:7 'price, kind' -- python3 shop.py bad" in shown
    assert "-82.5 at hit 7" in shown
    assert "hit of shop.py:7 in price_of" in shown


def test_two_probed_runs_are_drawn_over_each_other(cli: Cli, folder: Path) -> None:
    answer = cli("probe", "--json", *AT, "--plot", "a.html", "--", "python3", "shop.py", "bad",
                 "--vs", "python3", "shop.py", "good", check=0, cwd=folder)  # fmt: skip
    shown = texts(Path(answer.data["data"]["picture"]))
    assert "first differs at hit 1: 'bad' and 'good'" in shown  # of the kind
    assert "first differs at hit 7: -82.5 and 17.5" in shown
    assert "second: python3 shop.py good" in shown


@pytest.mark.skipif(importlib.util.find_spec("resvg_py") is None, reason="an extra")
def test_a_probe_is_drawn_as_png(cli: Cli, folder: Path) -> None:
    for _ in range(2):
        cli("probe", *AT, "--plot", "a.png", "--", "python3", "shop.py", "bad", check=0, cwd=folder)
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_values_that_cannot_be_drawn_are_kept_as_evidence(cli: Cli, folder: Path) -> None:
    words = ("--plot", "a.svg", "--", "python3", "shop.py", "bad")
    refused = cli("probe", "--at", "shop.py:7", "str(at) + kind", *words, check=1, cwd=folder)
    assert "the values of str(at) + kind are no numbers, and no few texts" in refused.err
    assert not (folder / "a.svg").exists()
    refused = cli("probe", "--at", "shop.py:7", "nope", *words, check=1, cwd=folder)
    assert "nothing to draw: nope had never a value: NameError" in refused.err
    number = refused.err.partition("debugger evidence show ")[2].split()[0]
    assert "shop.py:7" in cli("evidence", "show", number, check=0).out


@pytest.mark.parametrize(
    ("given", "says", "status"),
    [
        ("a.jpg", "--plot writes .svg or .png or .html, not .jpg", 2),
        ("a", "and 'a' has no suffix", 2),
        ("no/a.svg", "there is no folder", 1),
        ("dir.svg", "it is not a file", 1),
        ("~nobodyhere/a.svg", "there is no folder", 1),
        ("loop.svg/a.svg", "there is no folder", 1),
        ("mine.svg", "exists, and debugger did not write it", 2),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    cli: Cli, folder: Path, given: str, says: str, status: int
) -> None:
    (folder / "dir.svg").mkdir()
    (folder / "loop.svg").symlink_to("loop.svg")
    (folder / "mine.svg").write_text("<svg/>")
    ran = folder / "ran"
    (folder / "shop.py").write_text(f"open({str(ran)!r}, 'w')\n")
    refused = cli("probe", *AT, "--plot", given, "--", "python3", "shop.py", cwd=folder)
    assert refused.exit == status
    assert says in refused.err
    assert not ran.exists()
    assert (folder / "mine.svg").read_text() == "<svg/>"


def test_force_replaces_a_file_that_is_not_ours(cli: Cli, folder: Path) -> None:
    (folder / "mine.svg").write_text("<svg/>")
    cli("probe", *AT, "--plot", "mine.svg", "--force", "--", "python3", "shop.py", "bad",
        check=0, cwd=folder)  # fmt: skip
    assert "-82.5" in (folder / "mine.svg").read_text()


def test_calls_of_two_runs_are_shown_side_by_side(cli: Cli, folder: Path) -> None:
    answer = cli("path", "--json", "--html", "a.html", "--", "python3", "shop.py", "bad",
                 "--vs", "python3", "shop.py", "good", check=0, cwd=folder)  # fmt: skip
    text = Path(answer.data["data"]["picture"]).read_text()
    assert text.count("<section>") == 2
    assert "other run: → 2.5..37.5" in text
    assert "&lt;b&gt;total&lt;/b&gt; 300.0" in text


def test_a_hang_is_drawn_as_a_picture_and_for_graphviz(cli: Cli, folder: Path) -> None:
    answer = cli("hang", "--json", "--after", "1", "--svg", "a.svg", "--dot", "a.dot", "--",
                 "python3", "lock.py", check=0, cwd=folder)  # fmt: skip
    assert answer.data["data"]["kind"] == "deadlock"
    shown = texts(folder / "a.svg")
    assert shown.count("waits for other") >= 2
    assert "at lock.py:6" in shown
    hot = [one for one in ET.fromstring((folder / "a.svg").read_text()).iter()
           if one.attrib.get("class") == "hot"]  # fmt: skip
    assert len(hot) == 2  # the edges of the circle
    assert (folder / "a.dot").read_text().count(" -> ") >= 2


def test_the_evidence_is_a_page_with_pictures_and_sessions(cli: Cli, folder: Path) -> None:
    cli("probe", *AT, "--", "python3", "shop.py", "bad", check=0, cwd=folder)
    cli("start", "shop.py", "--break", "price_of", "--", "<good>", check=0, cwd=folder)
    cli("evidence", "export", "a.md", "--html", "a.html", check=0, cwd=folder)
    cli("stop", check=0)
    page, shown = (folder / "a.html").read_text(), texts(folder / "a.html")
    assert "<svg" in page
    assert "-82.5 at hit 7" in shown
    assert "Stacks, where it is stopped" in shown
    assert "price_of shop.py:4" in shown
    assert stat.S_IMODE((folder / "a.html").stat().st_mode) == 0o600
    refused = cli("evidence", "export", "shop.py", check=2, cwd=folder)
    assert "debugger did not write it" in refused.err
    assert (folder / "shop.py").read_text() == PROGRAM


def test_a_png_without_its_library_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    call: Any = type("Call", (), {"cwd": str(tmp_path)})()
    with pytest.raises(picture_file.DebuggerError) as raised:
        picture_file.choose_file(call, "probe", "--plot", "a.png", ("svg", "png"), force=False)
    assert raised.value.hint == f"{picture_file.INSTALL}, or debugger probe --plot a.svg …"
