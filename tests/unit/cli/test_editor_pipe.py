"""The editors' pipe reads its options itself, for its start: as the registry declares them."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from debugger.cli import commands, editor_pipe, parser
from debugger.cli.editor_configurations import EDITORS
from debugger.cli.reference import parameter_choices
from debugger.errors import DebuggerError
from debugger.model.command_registry import COMMANDS, Option

PORT = "127.0.0.1:4711"


def declared(words: list[str]) -> dict[str, str]:
    """Return the options of the command line's parser, by their spelling."""
    commands.register_all()
    parsed = parser.parse_argv(words, COMMANDS)
    values = parsed.command.bind_arguments(parsed.args)
    spelled = {
        one.name: one.about.flags[0]
        for one in parsed.command.parameters
        if isinstance(one.about, Option)
    }
    return {spelled[name]: value for name, value in values.items() if value is not None}


def test_the_options_are_those_that_the_command_declares():
    commands.register_all()
    options = [one for one in COMMANDS.get("dap").parameters if isinstance(one.about, Option)]
    flags = [one.about.flags for one in options if isinstance(one.about, Option)]
    assert sorted(flags) == sorted((one,) for one in editor_pipe._OPTIONS)
    assert [*parameter_choices(options[-1])] == [*EDITORS]


@pytest.mark.parametrize(
    "words",
    [
        ["dap"],
        ["dap", "--listen", PORT],
        ["dap", f"--listen={PORT}"],
        ["dap", "--print", "nvim"],
        ["dap", "--print=zed"],
        ["--session", "dap", "dap", "--listen", PORT],
        ["--session=s", "dap"],
    ],
)
def test_a_command_line_is_read_as_the_parser_reads_it(words: list[str]):
    assert editor_pipe._read_options(words) == declared(words)


@pytest.mark.parametrize("words", [["dap", "x"], ["dap", "--port", "1"], ["dap", "--print", "ed"]])
def test_what_the_parser_refuses_is_refused(words: list[str]):
    for read in (editor_pipe._read_options, declared):
        with pytest.raises(DebuggerError):
            read(words)


def test_a_signal_that_came_before_the_wait_ends_it(monkeypatch: pytest.MonkeyPatch):
    """Python's handler runs between two instructions, and not while the editor is waited for."""
    source, other = os.pipe()
    ours, daemon = socket.socketpair()
    waited = []
    select = editor_pipe.select.select

    def select_late(watched: list[int], *words: object) -> object:
        # Python sees it only behind the call; the time-out is for a pipe that watches no signal.
        signal.raise_signal(signal.SIGINT)
        waited.append(watched)
        return select(watched, [], [], 60)

    monkeypatch.setattr(editor_pipe.select, "select", select_late)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with daemon, ours, editor_pipe.report_signals() as signals:
            editor_pipe.copy_both_ways(source, other, daemon, signals)
            assert waited == [[daemon.fileno(), signals, source]]
            assert os.read(signals, 1) == bytes([signal.SIGINT])
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(source)
        os.close(other)
