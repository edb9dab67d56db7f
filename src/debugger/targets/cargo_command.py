"""Finds the program behind `cargo run` and `cargo test`: cargo builds it, a debugger runs it."""

from __future__ import annotations

import asyncio
import json
import os.path
import re
import shlex
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode

_BUILD_S = 600.0
_LIST_S = 20.0  # of one program's tests
_OUTPUT_MAX = 16 << 20  # bytes of its messages
_PIECE = 1 << 16
_PROGRAMS_MAX = 40  # that are asked for their tests
# rustc's place is in the line behind its error.
_ERROR = re.compile(
    r"^(?:error: )?(?P<text>(?<=error: ).*|error\[.*)$(?:\n +--> (?P<place>\S+))?", re.MULTILINE
)
_SHOWN_MAX = 4
_RUN, _TEST = frozenset({"run", "r"}), frozenset({"test", "t"})
# Cargo's options with a value, which may be a word of its own (cargo help test).
_VALUED = frozenset(
    {"--bin", "--example", "--test", "--bench", "-p", "--package", "--exclude", "-F", "--features"}
    | {"--target", "--profile", "--manifest-path", "-j", "--jobs", "--color", "--config", "-Z"}
    | {"--target-dir", "-C"}
)


class CargoCommand(Struct, frozen=True):
    """A `cargo run` or `cargo test`: how its programs are built, and what they are given."""

    build: tuple[str, ...]
    # The arguments of the program; of tests the filter comes first.
    args: tuple[str, ...]
    is_test: bool


class CargoProgram(Struct, frozen=True):
    """A built program, its arguments, and the folder of its package."""

    program: str
    args: tuple[str, ...]
    folder: str


def parse_cargo(words: Sequence[str]) -> CargoCommand | None:
    """Parse a command line; None if it is no `cargo run` and no `cargo test`."""
    if not words or os.path.basename(words[0]) != "cargo":
        return None
    before = [words[0], *(one for one in words[1:2] if one.startswith("+"))]
    rest = list(words[len(before) :])
    if not rest or rest[0] not in _RUN | _TEST:
        return None
    is_test = rest.pop(0) in _TEST
    options: list[str] = []
    filters: list[str] = []
    # What follows the first word of `cargo run` that is no option is the program's.
    while rest and rest[0] != "--" and (is_test or rest[0].startswith("-")):
        word = rest.pop(0)
        (options if word.startswith("-") else filters).append(word)
        if word in _VALUED and rest:
            options.append(rest.pop(0))
    own = rest[1:] if rest[:1] == ["--"] else rest
    verb = ["test", "--no-run"] if is_test else ["build"]
    build = (*before, *verb, *options, "--message-format=json-render-diagnostics")
    return CargoCommand(build, (*filters, *own), is_test)


def built_programs(output: str) -> list[tuple[str, str]]:
    """Return the programs in cargo's messages, each with the folder of its package."""
    found = []
    for line in output.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        program = message.get("executable") if isinstance(message, dict) else None
        if isinstance(program, str):
            found.append((program, os.path.dirname(str(message.get("manifest_path", "")))))
    return found


def first_error(errors: str) -> str:
    """Return the first error that cargo or rustc wrote, with its place; else the last text."""
    found = _ERROR.search(errors)
    if found is None:
        return errors.strip()[-200:]
    return f"{found['text']}, at {found['place']}" if found["place"] else found["text"]


async def build_program(
    command: CargoCommand, typed: Sequence[str], *, verb: str, cwd: str, env: Mapping[str, str]
) -> CargoProgram:
    """Build what a command runs, and return the one program that it would run.

    Args:
        command: The parsed command.
        typed: The command as it was typed.
        verb: Our own command, for the hints.
        cwd: The folder in which cargo is run.
        env: Its environment.

    Raises:
        DebuggerError: LAUNCH_FAILED if cargo fails, USAGE if it runs no or several programs.
    """
    status, output, errors = await _run(command.build, cwd=cwd, env=env, limit_s=_BUILD_S)
    if status:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{shlex.join(typed[:2])} failed: {first_error(errors)}",
            hint=f"{shlex.join(command.build[:-1])} shows all",
        )
    found = built_programs(output)
    if command.is_test and len(found) > 1:
        found = [one for one in found[:_PROGRAMS_MAX] if await _has_tests(one, command, env)]
    if len(found) == 1:
        return CargoProgram(found[0][0], command.args, found[0][1])
    names = ", ".join(os.path.basename(program) for program, _ in found[:_SHOWN_MAX])
    if not found:
        message = "no test has that name" if command.is_test else "cargo builds no program there"
    else:
        message = f"{shlex.join(typed)} is {len(found)} programs: {names}"
    example = "cargo test --lib NAME; --test FILE" if command.is_test else "cargo run --bin NAME"
    raise DebuggerError(ErrorCode.USAGE, message, hint=f"debugger {verb} … -- {example}")


async def _has_tests(one: tuple[str, str], command: CargoCommand, env: Mapping[str, str]) -> bool:
    """Return whether a program has tests of the names that the command gives."""
    words = (one[0], "--list", "--format=terse", *command.args)
    _, output, _ = await _run(words, cwd=one[1], env=env, limit_s=_LIST_S)
    return any(line.endswith(": test") for line in output.splitlines())


async def _read_end(stream: asyncio.StreamReader) -> bytes:
    """Read a stream to its end, and return its last bytes: the programs are built last."""
    output = bytearray()
    while piece := await stream.read(_PIECE):
        output += piece
        del output[:-_OUTPUT_MAX]
    return bytes(output)


async def _run(
    words: Sequence[str], *, cwd: str, env: Mapping[str, str], limit_s: float
) -> tuple[int, str, str]:
    """Run a command to its end; return its status and its two outputs.

    Raises:
        DebuggerError: LAUNCH_FAILED if it cannot be run, TIMEOUT if it does not end.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *words, cwd=cwd, env=dict(env), stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
    except OSError as error:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{words[0]} cannot be run: {error.strerror}",
            hint="put cargo on the PATH",
        ) from error
    try:
        async with asyncio.timeout(limit_s):
            assert process.stdout is not None
            assert process.stderr is not None
            output, errors = await asyncio.gather(
                _read_end(process.stdout), _read_end(process.stderr)
            )
            await process.wait()
    except TimeoutError as error:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"{shlex.join(words[:3])} did not end within {limit_s:g} s",
            hint=f"{shlex.join(words[:3])}, before the question",
        ) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace")
