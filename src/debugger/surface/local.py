"""What is answered without a daemon: help, the scripts for completion, the skill."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from debugger import commands
from debugger.core.command import COMMANDS
from debugger.errors import DebuggerError
from debugger.surface import cli, completion, skill
from debugger.surface.reference import HELP_FLAGS, PROGRAM


def answer(argv: Sequence[str]) -> int:
    """Print what `argv` asks for, and return the exit code."""
    commands.load()
    asked = cli.before_dashes(argv)
    is_json = "--json" in asked
    try:
        text = _text(argv, cli.leading_words(argv), is_help=not set(HELP_FLAGS).isdisjoint(asked))
    except DebuggerError as error:
        _print_error(error, is_json=is_json)
        return error.exit
    sys.stdout.write(_json(ok=True, data={"text": text}) if is_json else text)
    return 0


def _text(argv: Sequence[str], words: Sequence[str], *, is_help: bool) -> str:
    if words[:1] == ["completion"]:
        return _completion(words[1:], is_help=is_help)
    if words[:1] == ["skill"] and not is_help:
        wanted = cli.parse(argv, COMMANDS)
        return skill.answer(**wanted.command.bind(wanted.args))
    return cli.help_text(argv, COMMANDS)


def _completion(words: Sequence[str], *, is_help: bool) -> str:
    shells = "|".join(completion.SHELLS)
    if is_help:
        return f"usage: {PROGRAM} completion {shells}\n\nPrint a script: eval it, or save it.\n"
    if len(words) == 1 and words[0] in completion.SHELLS:
        return completion.script(words[0], COMMANDS)
    raise cli.wrong(f"completion needs one of {shells}", "completion")


def _print_error(error: DebuggerError, *, is_json: bool) -> None:
    if is_json:
        told = {"code": error.code.value, "message": error.message, "hint": error.hint}
        sys.stdout.write(_json(ok=False, error=told))
    else:
        sys.stderr.write(f"error: {error.message}\nhint: {error.hint}\n")


def _json(**told: Any) -> str:
    return msgspec.json.encode(told).decode() + "\n"
