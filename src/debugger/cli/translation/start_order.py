"""Puts the words of `start` into order: its program, arguments, breakpoints and environment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from debugger.cli.translation.argument_order import (
    ArrangedWords,
    Correction,
    arrange_words,
    drop_needless,
    find_own_option,
    resolve_flag,
)
from debugger.cli.translation.debugger_invocations import (
    names_debugger,
    parse_native,
    runs_tests,
    translate_invocation,
)
from debugger.cli.translation.location_spelling import is_file_line, spell_location
from debugger.cli.translation.program_words import (
    SCRIPT_SUFFIX,
    begins_program,
    split_command,
    split_program,
)
from debugger.model.go_test_words import split_go_test

Result = ArrangedWords | Correction
_MODULE: Final = ("-m", "--module")
_INTERPRETER: Final = re.compile(
    r"(?:.*/)?(?:(?:python|pypy)[\d.]*t?|node|nodejs|ruby[\d.]*|php[\d.]*)\Z"
)
_INTERPRETER_SWITCHES: Final = frozenset({"-u", "-B", "-O", "-OO", "-I", "-s", "-E", "-q"})
# A Python that is another than the one which is found without its name: by its path or version.
_CHOSEN_PYTHON: Final = re.compile(r"(?:.*/(?:python|pypy)[\d.]*|python[23]\.\d+|pypy[\d.]*)t?\Z")
_ASSIGNED: Final = re.compile(r"[A-Z_][A-Z0-9_]*=")
_SCRIPT: Final = re.compile(rf"\S+\.{SCRIPT_SUFFIX}\Z")
_SOURCE: Final = re.compile(rf"[^\s:]+\.(?:{SCRIPT_SUFFIX}|[ch]|cc|cpp|cxx|hpp|rs|kt|f90)\Z")
# What is caught: a filter of an adapter, or a class.
_EXCEPTION: Final = re.compile(
    r"(?:raised|uncaught|all|userUnhandled|exceptions?|throw|[A-Z]\w*(?:Error|Exception)|SIG[A-Z]+)\Z"
)
_RANKS: Final = re.compile(
    r"(?:.*/)?(?:mpirun|mpiexec(?:\.\w+)?|orterun|prterun|torchrun|srun|horovodrun)\Z"
)
_LAUNCHER: Final = re.compile(
    rf"{_RANKS.pattern}|(?:.*/)?(?:accelerate|deepspeed|gunicorn|celery|pytest)\Z"
)
_ROLES: Final = ("+program", "+arg", "+args", "+command", "+file", "+line")


def order_start(arranged: ArrangedWords) -> Result:
    """Put the words of `start` into order, or say how they should be typed."""
    return separate_launcher(arranged) or _separate_values(arranged) or _order_program(arranged)


def separate_launcher(arranged: ArrangedWords) -> Correction | None:
    """Correct `start --group mpirun -n 2 ./app`: the options behind a launcher are its own.

    A launcher of ranks is no program to debug: without `--group` a group is suggested, too.
    """
    given = arranged.given
    at = next((at for at, one in enumerate(given) if _LAUNCHER.match(one)), None)
    if at is None or not any(one[:1] == "-" for one in given[at + 1 :]):
        return None
    if "--group" not in given and not _RANKS.match(given[at]):
        return None
    program = [one for one in given[at:] if one != "--group"]
    behind = (*program, *(("--", *arranged.rest) if arranged.rest else ()))
    own = [one for one in given[:at] if one != "--group"]
    command = ("start", "--group", *own, "--", *behind)
    return Correction("what belongs to the launcher goes after --", (command,))


def _order_program(arranged: ArrangedWords) -> Result:  # noqa: PLR0911 - of each kind
    if pids := arranged.role_values("+pid"):
        others = [one for one in _option_words(arranged) if one not in {"+pid", pids[0]}]
        return Correction("a process that runs is attached to", (("attach", pids[0], *others),))
    if cores := arranged.role_values("+core"):
        of_core = [*arranged.positionals, *(arranged.rest or ()), "PROGRAM"][:1]
        commands = (
            ("crash", "--core", cores[0], *of_core),
            ("attach", "--core", cores[0], *of_core),
        )
        return Correction("a core file is no run", commands)
    if "+exceptions" in {flag for flag, _ in arranged.options}:
        typed = (*arranged.positionals, *(arranged.rest or ()))
        program = tuple(one for one in typed if not _EXCEPTION.match(one))
        script = ("python",) if program and program[0].endswith(".py") else ()
        is_signal = any(one.startswith("SIG") for one in typed)  # at which a crash stops anyway
        stop = ("crash", *(() if is_signal else ("--raised",)), "--", *script, *program)
        return Correction("it ends at an exception", (stop,))
    if arranged.positionals and len(arranged.role_values("+command")) > 1:
        return _correct_commands(arranged)
    arranged = _take_breakpoints(_take_main(arranged))
    args = [*arranged.role_values("+arg"), *arranged.role_values("+args")]
    first = [*arranged.role_values("+program")]
    for command in arranged.role_values("+command"):
        first += split_command(command)
    at = find_own_option(arranged)
    if at:  # `--args run --stop-on-entry`
        behind = (*arranged.given[: len(arranged.given) - len(args) - 1], *args[at:])
        apart = order_start(
            drop_needless(arrange_words(arranged.name, arranged.command, behind, None)).change(
                add=[("+args", tuple(args[:at]))]
            )
        )
        split = apart.commands if isinstance(apart, Correction) else (apart.to_words(),)
        if at == 1 and " " in args[0]:  # one quoted word
            return apart
        placed = _place_program(arranged, [*first, *arranged.positionals], args)
        return Correction("where do the program's arguments end?", (*split, placed.to_words()))
    if any(flag in _ROLES for flag, _ in arranged.options):
        arranged = _place_program(arranged, [*first, *arranged.positionals], args)
        if len(args) == 1 and " " in args[0]:
            apart = replace(arranged, rest=split_command(args[0]))
            commands = (apart.to_words(), arranged.to_words())
            return Correction("one argument, or several?", commands)
    return _correct_program(_take_environment(arranged))


def _separate_values(arranged: ArrangedWords) -> Correction | None:
    """Correct `--break f if x > 3`, whose condition would be arguments, and `--env A=1 B=2`."""
    given = list(arranged.given)
    for at, word in enumerate(given[:-2]):
        flag = resolve_flag(arranged.command, word)
        first, *behind = given[at + 1 :]
        if flag == "--break" and behind[0] in {"if", "when"}:
            ends = (i for i, one in enumerate(behind) if one[:2] == "--" or begins_program([one]))
            end = next(ends, len(behind))
            condition = " ".join((first, "if", *behind[1:end]))
            fixed = (*given[: at + 1], condition, *behind[end:])
            reason = "the condition is a part of the location"
        elif (
            flag == "--env"
            and _ASSIGNED.match(first)
            and (_ASSIGNED.match(behind[0]) and arranged.positionals[:1] != (behind[0],))
        ):  # before the program it is understood
            fixed = (*given[: at + 2], word, *behind)
            reason = "one --env for each variable"
        elif flag == "--break" and behind[0].isdecimal() and _SOURCE.match(first):
            fixed = (*given[: at + 1], f"{first}:{behind[0]}", *behind[1:])
            reason = "a line is FILE:LINE"
        else:
            continue
        own = arrange_words(arranged.name, arranged.command, fixed, arranged.rest)
        return Correction(reason, (own.to_words(),))
    return None


def _take_main(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--stop-at-main` for a breakpoint at `main`; a script has its first line."""
    if "+main" not in {flag for flag, _ in arranged.options}:
        return arranged
    is_script = any(_SCRIPT.match(one) for one in arranged.positionals[:1])
    added = ("--stop-on-entry", ()) if is_script else ("--break", ("main",))
    return arranged.change(without=("+main",), add=[added])


def _correct_commands(arranged: ArrangedWords) -> Correction:
    """Take `--command "b 3" --command c` beside a program for commands of a debugger."""
    typed = [word for one in arranged.role_values("+command") for word in ("-ex", one)]
    program = ("--args", *arranged.positionals, *(arranged.rest or ()))
    return parse_native((*typed, *program), (), is_lldb=False).correction("commands follow start")


def _place_program(arranged: ArrangedWords, words: list[str], args: list[str]) -> ArrangedWords:
    has_module = any(flag in _MODULE for flag, _ in arranged.options)
    first = 0 if has_module else 1
    rest = (*words[first:], *args, *(arranged.rest or ()))
    changed = arranged.change(without=_ROLES, positionals=words[:first])
    return replace(changed, rest=rest or None)


def _take_breakpoints(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--file F --line N` and `--break F:3,F:9` for breakpoints."""
    files, lines = arranged.role_values("+file"), arranged.role_values("+line")
    breaks = [
        place
        for typed in arranged.role_values("--break")
        for place in (typed.split(",") if _is_list(typed) else [typed])
    ]
    programs = [*arranged.role_values("+program")]
    if files and not programs and (_SCRIPT.match(files[0]) or not lines):
        programs = files[:1] if not arranged.positionals else []
    script = next(iter([*files, *programs, *arranged.positionals]), "")
    for line in lines:
        is_whole = ":" in line or not _SCRIPT.match(script)
        breaks.append(line if is_whole else f"{script}:{line}")
    if breaks == arranged.role_values("--break") and not files:
        return arranged
    dropped = ("--break", "+file", "+line", "+program")
    added = [("+program", (one,)) for one in programs]
    return arranged.change(
        without=dropped, add=[*added, *(("--break", (spell_location(one),)) for one in breaks)]
    )


def _is_list(text: str) -> bool:
    places = text.split(",")
    return len(places) > 1 and all(
        is_file_line(one) or one.strip().isdecimal() or one.strip().isidentifier() for one in places
    )


def _take_environment(arranged: ArrangedWords) -> ArrangedWords:
    """Take `K=V` before the program for the environment."""
    words = list(arranged.positionals)
    added = []
    while len(words) > 1 and _ASSIGNED.match(words[0]):
        added.append(("--env", (words.pop(0),)))
    unset = [one for one in arranged.role_values("--env") if one.isidentifier()]
    is_value = len(words) > 1 and not begins_program(words[:1]) and begins_program(words[1:])
    if len(unset) == 1 and is_value:  # `--env FOO 1 app.py`
        others = [one for one in arranged.role_values("--env") if one != unset[0]]
        joined = [*others, f"{unset[0]}={words.pop(0)}"]
        added += [("--env", (one,)) for one in joined]
        arranged = arranged.change(without=("--env",))
    return arranged.change(positionals=words, add=added) if added else arranged


def _separate_breakpoints(arranged: ArrangedWords) -> Correction | None:
    """Suggest an option each for `--break f.c:3 f.c:9`."""
    words = arranged.positionals
    more = [one for one in words[1:] if is_file_line(one)]
    if not more or not arranged.role_values("--break") or arranged.rest is not None:
        return None
    remaining = [one for one in words if one not in more]
    each = arranged.change(positionals=remaining, add=[("--break", (one,)) for one in more])
    as_arguments = replace(arranged, positionals=words[:1], rest=words[1:])
    commands = (each.to_words(), as_arguments.to_words())
    return Correction("one --break for each location", commands)


def _correct_kind(arranged: ArrangedWords, words: Sequence[str]) -> Correction | None:
    """Correct a line in place of a program, and a runner of tests."""
    if is_file_line(words[0]) and not arranged.rest:  # `start app.py:12`
        place = spell_location(words[0])
        named = arranged.change(positionals=[place.rpartition(":")[0]], add=[("--break", (place,))])
        return Correction("a line is a breakpoint", (named.to_words(),))
    if runs_tests(words) and not arranged.options and arranged.rest is None:
        return Correction("tests are run by a question", (("test", "--", *words),))
    return None


def _correct_program(arranged: ArrangedWords) -> Result:
    """Correct a program that is another debugger, a builder, or an interpreter."""
    words = (*arranged.positionals, *(arranged.rest or ()))
    if not words:
        return arranged
    several = _separate_breakpoints(arranged) or _correct_kind(arranged, words)
    if several is not None:
        return several
    quoted = split_program(words[0])  # `start "python3 app.py"`
    if len(quoted) > 1:
        behind = (*quoted[1:], *words[1:])
        return _correct_program(replace(arranged, positionals=quoted[:1], rest=behind))
    if names_debugger(words[0]):
        return translate_invocation(words, None) or arranged
    if words[:2] == ("cargo", "run"):
        args = words[words.index("--") + 1 :] if "--" in words else ()
        behind = ("--", *args) if args else ()
        folder = "release" if {"--release", "-r"} & {*words} else "debug"
        built = ("start", *_option_words(arranged), f"target/{folder}/PROGRAM", *behind)
        return Correction("cargo is not the program: after `cargo build`", (built,))
    return _correct_interpreter(arranged, words)


def _correct_interpreter(arranged: ArrangedWords, words: tuple[str, ...]) -> Result:
    """Suggest `start app.py` for `start python3 app.py`, and `start x` for `start go run x`."""
    is_interpreter = _INTERPRETER.match(words[0]) is not None
    if is_interpreter and any(flag in _MODULE for flag, _ in arranged.options):
        args = ("--", *words[1:]) if words[1:] else ()
        fixed = (*arranged.name, *_option_words(arranged), *args)
        return Correction("start finds the interpreter itself", (fixed,))
    is_go = words[:2] in {("go", "run"), ("go", "test")}
    program = words[2:] if is_go else words[1:]
    if words[:2] == ("go", "test"):
        package, _, others = split_go_test(program)
        program = (package, *others)
    if not program or not (is_go or is_interpreter):
        return arranged
    while len(program) > 1 and program[0] in _INTERPRETER_SWITCHES:
        program = program[1:]
    if program[0] == "-m" and len(program) > 1:
        program = (f"-m={program[1]}", *program[2:])
    elif program[0].startswith("-"):
        return arranged
    return _without_interpreter(arranged, words[0], program)


def _without_interpreter(
    arranged: ArrangedWords, interpreter: str, program: tuple[str, ...]
) -> Correction:
    """Suggest `start app.py` for `start python3 app.py`, which would debug the interpreter."""
    first, args = program[0], program[1:]
    module = first.partition("=")[2] if first.startswith("-m=") else ""
    own = ("-m", module) if module else (first,)
    is_chosen = _CHOSEN_PYTHON.match(interpreter) is not None
    python = ("--python", interpreter) if is_chosen and not arranged.role_values("--python") else ()
    fixed = (*arranged.name, *_option_words(arranged), *python, *own)
    how = "--python names the interpreter" if is_chosen else "start finds the interpreter itself"
    return Correction(
        f"the program is {module or first}: {how}",
        ((*fixed, *(("--", *args) if args else ())),),
    )


def _option_words(arranged: ArrangedWords) -> list[str]:
    return [word for flag, values in arranged.options for word in (flag, *values)]
