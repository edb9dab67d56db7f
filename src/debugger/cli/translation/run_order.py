"""Puts the words of `crash`, `hang`, `test` and `try` into order: a process, a runner, a change."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords, Correction
from debugger.cli.translation.debugger_invocations import is_core_file, start_words
from debugger.cli.translation.program_words import begins_program

Result = ArrangedWords | Correction
TEST_FILE: Final = re.compile(
    r"(?!\./)[^-\s:]*[^\s:/]\.(?P<extension>py|go|[cm]?[jt]sx?)(?:::\S+)?\Z"
)


def order_run(arranged: ArrangedWords) -> Result:
    """Take the core file or the process that `crash` and `hang` are given without an option."""
    words, name = arranged.positionals, arranged.command.name
    if arranged.rest is not None or not words:
        return arranged
    if words[0] in {"pid", "process"} and "".join(words[1:]).isdecimal() and not words[2:]:
        fixed = arranged.change(positionals=(), add=[("--pid", words[1:])])
        return Correction("pid is an option: --pid", (fixed.to_words(),))
    if name == "hang" and len(words) == 1 and words[0].isdecimal():
        return _order_hang(arranged, words[0])
    if name == "hang" and words[0].isdecimal() and begins_program(words[1:]):
        limited = arranged.change(positionals=(), add=[("--after", words[:1])])
        fixed = replace(limited, rest=words[1:])
        return Correction("seconds are --after", (fixed.to_words(),))
    cores = [one for one in words if is_core_file(one)]
    if name == "crash" and cores and not arranged.role_values("--core"):
        program = [one for one in words if one != cores[0]] or ["PROGRAM"]
        fixed = arranged.change(positionals=program, add=[("--core", (cores[0],))])
        as_argument = replace(arranged.change(positionals=()), rest=words)
        commands = (fixed.to_words(), as_argument.to_words())
        return Correction(f"is {cores[0]} a core file?", commands)
    return arranged


def _order_hang(arranged: ArrangedWords, pid: str) -> Correction:
    if any(flag == "--group" for flag, _ in arranged.options):
        first = ("attach", "--group", pid)
        return Correction("a group that runs is attached to first", (first, ("hang", "--group")))
    fixed = arranged.change(without=("--pid",), positionals=(), add=[("--pid", (pid,))])
    return Correction(f"is {pid} a process?", (fixed.to_words(),))


def order_test(arranged: ArrangedWords) -> Result:
    """Suggest the runner of a test file: `test test_x.py` runs it as a script."""
    if patterns := arranged.role_values("+pattern"):
        runner = arranged.rest or arranged.positionals or ("pytest",)
        fixed = arranged.change(without=("+pattern",), positionals=())
        if TEST_FILE.match(runner[0]) or "/" in runner[0]:
            runner = ("pytest", *runner)
        chosen = replace(fixed, rest=(*runner, "-k", patterns[0]))
        return Correction("-k is an option of the runner", (chosen.to_words(),))
    words = [*arranged.positionals, *(arranged.rest or ())]
    is_file = len(words) == 1 or words[1:2] == ["-k"]
    if not words or not is_file or not (match := TEST_FILE.match(words[0])):
        return arranged
    extension = match["extension"]
    if extension == "py":
        runners: tuple[tuple[str, ...], ...] = (("pytest",), ("python", "-m", "unittest"))
    elif extension == "go":
        folder = words[0].rpartition("/")[0]
        words, runners = [f"./{folder}" if folder else "."], (("go", "test"),)
    else:
        runners = (("node", "--test"), ("jest",), ("vitest",), ("mocha",))
    options = arranged.change(positionals=())
    commands = tuple(replace(options, rest=(*runner, *words)).to_words() for runner in runners)
    return Correction(f"{words[0]}: run by which runner?", commands)


def order_try(arranged: ArrangedWords) -> Result:
    """Take what is set from options, and `until` and `expect` from words."""
    if arranged.rest and begins_program(arranged.rest):
        changes = arranged.role_values("+expression")
        arranged = arranged.change(
            without=("+expression",), positionals=(*arranged.positionals, *changes)
        )
        stop, program = "LOC", arranged.rest or ()
        if "--until" not in arranged.given:
            # `--at LOC` is where the change is made, `--until LOC` where its effect is looked at.
            stop = next(iter(arranged.role_values("--until")), "LOC")
            arranged = arranged.change(without=("--until",), add=[("--until", ("LOC",))])
        begin = start_words(program, ("--break", stop))
        tried = replace(arranged, rest=None).to_words()
        return Correction("try is at a stop of a session", (begin, tried))
    changes = arranged.role_values("+expression")
    words = arranged.positionals
    named_options = [one for one in ("until", "expect") if one in words[1:-1]]
    if named_options:
        added: list[tuple[str, tuple[str, ...]]] = []
        remaining = list(words)
        for one in named_options:
            at = remaining.index(one)
            added.append((f"--{one}", (remaining[at + 1],)))
            del remaining[at : at + 2]
        fixed = arranged.change(positionals=remaining, add=added)
        return Correction("until and expect are options", (fixed.to_words(),))
    if words[:1] == ("set",) and len(words) > 1:
        change = " ".join(words[1:])
        named = change if "=" in change else change.replace(" ", "=", 1)
        fixed = arranged.change(positionals=[named])
        return Correction("try takes what is set", (fixed.to_words(),))
    returns = arranged.role_values("+return")
    if returns or (len(words) == len(("x", "3")) and not any("=" in one for one in words)):
        sign = " " if returns or words[0] == "return" else "="
        change = sign.join(("return", *returns) if returns else words)
        return arranged.change(without=("+return",), positionals=(change,))
    if not changes:
        return arranged
    return arranged.change(
        without=("+expression",), positionals=(*arranged.positionals, *changes)
    )  # fmt: skip
