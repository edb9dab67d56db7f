"""Prints the answers that need no daemon: help, the skill pages and the completion."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from debugger.cli import commands
from debugger.cli.command_help import (
    before_dashes,
    fold_help,
    help_text,
    leading_words,
    usage_error,
)
from debugger.cli.reference import HELP_FLAGS, PROGRAM
from debugger.errors import DebuggerError
from debugger.model.command_registry import COMMANDS


def check_words(argv: Sequence[str]) -> None:
    """Check the words of a command that the client answers itself.

    Raises:
        DebuggerError: USAGE with the corrected command.
    """
    from debugger.cli import parser  # with click, which help does without

    commands.register_all()
    parser.parse_argv(argv, COMMANDS)


def print_local_answer(argv: Sequence[str]) -> int:
    """Print the local answer to `argv`, and return the exit code."""
    commands.register_all()
    options = before_dashes(argv)
    is_json = "--json" in options
    try:
        text = _answer_text(
            argv, leading_words(argv), is_help=not set(HELP_FLAGS).isdisjoint(options)
        )
    except DebuggerError as error:
        _print_error(error, is_json=is_json)
        return error.exit_code
    sys.stdout.write(_json_flag(ok=True, data={"text": text}) if is_json else text)
    return 0


def _answer_text(argv: Sequence[str], words: Sequence[str], *, is_help: bool) -> str:
    if words[:1] == ["completion"]:
        return _completion_text(words[1:], is_help=is_help)
    if words[:1] == ["skill"] and not is_help:
        # Late, as the completion: help does without click and the tables of the translation.
        from debugger.cli import parser, skill

        parsed = parser.parse_argv(argv, COMMANDS)
        return skill.show_or_install(**parsed.command.bind_arguments(parsed.args))
    text = help_text(argv, COMMANDS)
    if not sys.stdout.isatty():
        return text
    return fold_help(text, shutil.get_terminal_size().columns)


def _completion_text(words: Sequence[str], *, is_help: bool) -> str:
    from debugger.cli import completion

    shells = "|".join(completion.SHELLS)
    if is_help:
        return f"usage: {PROGRAM} completion {shells}\n\nPrint a script: eval it, or save it.\n"
    if len(words) == 1 and words[0] in completion.SHELLS:
        return completion.completion_script(words[0], COMMANDS)
    raise usage_error(f"completion needs one of {shells}", "completion")


def _print_error(error: DebuggerError, *, is_json: bool) -> None:
    if is_json:
        body = {"code": error.code.value, "message": error.message, "hint": error.hint}
        sys.stdout.write(_json_flag(ok=False, error=body))
    else:
        sys.stderr.write(f"error: {error.message}\nhint: {error.hint}\n")


def _json_flag(**fields: Any) -> str:
    return msgspec.json.encode(fields).decode() + "\n"
