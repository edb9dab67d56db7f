"""Answers stay bounded and quick for large, deep, many and odd values."""

from __future__ import annotations

import re

import pytest

from debuggees import build_debuggee, compile_into, find_marker, find_source, program_text

lldb = pytest.mark.adapter("lldb-dap")
python = pytest.mark.adapter("debugpy")
# The default budget: 1,000 tokens of 4 characters.
MOST = 4000
# Seconds: far more than it takes here, and far less than it would if it were not bounded.
QUICK = 30
THREADS = program_text("counted_lines/bad_values_threads.c")
PYTHON_THREADS = program_text("counted_lines/bad_values_python_threads.py")


def stop_at(cli, program, place: str, *words: str) -> str:
    stopped = cli("start", program, "--break", place, *words, check=0).out
    assert stopped.startswith("stopped: breakpoint 1"), stopped
    return stopped


def shown(cli, *words: str) -> str:
    """Run a command that must be quick, and whose text must be within the budget."""
    text = cli(*words, check=0, timeout=QUICK).out
    assert len(text) <= MOST + 1, f"{words}: {len(text)} characters"
    return text


def values_at(cli) -> None:
    stop_at(cli, find_source("values.py"), f"values.py:{find_marker('values.py', 'ready')}")


@lldb
def test_a_c_string_of_100_mb_is_shown_cut_and_quickly(cli):
    line = find_marker("big_string.c", "big")
    assert len(stop_at(cli, build_debuggee("big_string.c"), f"big_string.c:{line}")) <= MOST
    for words in (("print", "big"), ("locals",), ("context",)):
        assert "xxx" in shown(cli, *words)
    assert "size = 100000000" in shown(cli, "locals")
    data = cli("print", "big", "--json", check=0, timeout=QUICK).data["data"]
    assert len(data["value"]) < 70_000
    assert "length 100000000" in cli("continue", check=0).out


@python
def test_a_python_string_of_100_mb_is_shown_cut_with_its_length(cli):
    values_at(cli)
    assert "xxx" in shown(cli, "print", "big")
    assert "big = str[100000000] 'xxx" in shown(cli, "locals")
    assert "str[100000000]" in shown(cli, "context")


@python
@pytest.mark.parametrize(
    ("name", "shows"), [("many", ", 99999\n"), ("table", "'key 99999' = 99999")]
)
def test_a_container_of_100000_is_paged_to_its_end(cli, name, shows):
    values_at(cli)
    assert "[100000] of " in shown(cli, "print", name)
    ref = cli("print", name, "--json", check=0).data["data"]["ref"]
    assert shows in shown(cli, "vars", ref, "--from", "99990", "--count", "50")
    assert "nothing there" in shown(cli, "vars", ref, "--from", "100000")
    page = cli("vars", ref, "--from", "50000", "--count", "3", "--json", check=0).data["data"]
    assert (page["total"], page["from"], len(page["variables"])) == (100_000, 50_000, 3)
    assert [one["value"] for one in page["variables"]] == ["50000", "50001", "50002"]


@python
def test_a_list_that_holds_itself_is_shown_to_a_bounded_depth(cli):
    values_at(cli)
    assert "itself = list[3]" in shown(cli, "print", "itself")
    assert "[2] = " in shown(cli, "print", "itself", "--depth", "1000")


@python
def test_a_value_whose_repr_raises_is_shown_all_the_same(cli):
    values_at(cli)
    assert "Hostile object" in shown(cli, "print", "hostile")


@pytest.mark.parametrize(
    "name",
    [pytest.param("recursion.c", marks=lldb)],
)
def test_a_stack_of_10000_frames_is_cut_counted_and_can_be_walked(cli, name):
    stop_at(cli, build_debuggee(name), f"{name}:{find_marker(name, 'bottom')}", "--", "10000")
    text = shown(cli, "backtrace")
    more = re.search(r"… ([\d,]+) more frames: debugger backtrace --limit", text)
    assert more, text
    assert int(more[1].replace(",", "")) > 9_900
    shown(cli, "backtrace", "--limit", "1000")
    assert "depth=9999" in shown(cli, "frame", "9999")
    assert shown(cli, "up", "20000").startswith("frame #10")
    refused = cli("finish", check=1)
    assert "at most 100 frames at once" in refused.err
    shown(cli, "frame", "0")
    assert "descend" in shown(cli, "finish")


@lldb
def test_500_threads_are_listed_and_their_stacks_grouped(cli, tmp_path):
    path = tmp_path / "many.c"
    path.write_text(THREADS)
    stop_at(cli, compile_into(tmp_path, path), f"{path}:{find_marker(path, 'ready')}")
    _look_at_500_threads(cli)


@python
def test_500_python_threads_are_listed_without_waiting_for_each(cli, tmp_path):
    path = tmp_path / "many.py"
    path.write_text(PYTHON_THREADS)
    stop_at(cli, path, f"{path}:{find_marker(path, 'ready')}")
    _look_at_500_threads(cli)


def _look_at_500_threads(cli) -> None:
    threads = cli("threads", "--json", check=0, timeout=QUICK).data["data"]["threads"]
    assert len(threads) >= 100
    assert all(one["frame"] is not None for one in threads[:100])
    shown(cli, "threads")
    assert re.search(r"more threads?: debugger threads", shown(cli, "backtrace", "--all"))


@python
def test_output_that_is_no_text_and_has_no_last_newline_is_shown_safely(cli, tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(
        "import os\n"
        'os.write(1, b"first\\x00\\xff\\x1b[31mred\\x1b[0m\\r\\nlast \\x80 without a newline")\n'
    )
    ended = cli("start", path, check=0).out
    assert "last \\x80 without a newline" in ended
    assert "first\\x00\\xff" in ended
    assert not set(ended) & {"\x00", "\x1b", "\r"}
    lines = cli("output", "--all", "--json", check=0).data["data"]["lines"]
    assert [one["stream"] for one in lines] == ["stdout", "stdout"]
    assert lines[1]["text"] == "last \\x80 without a newline"
