"""Reads the stack of a PHP program that has stopped: frames, their variables, expressions in them.

Two limits of Xdebug (3.2 and 3.4) are met here. Its `eval` knows the innermost frame only, whatever
its option -d says, while `property_set` assigns what an expression gives in the frame of -d. And
Xdebug 3.2 looks one level too far for a frame below one of PHP's own functions, as `array_map`.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from debugger.backends.adapters.xdebug import dbgp_values as dbgp
from debugger.backends.adapters.xdebug import php_code
from debugger.backends.adapters.xdebug.dbgp_engine import DbgpEngine, EngineError

_HANDLER_FRAMES = 3  # of an error handler, with what it calls to throw
_SAVED_FRAMES = 6  # whose variables are saved at a throw
# Xdebug lists the variables that are everywhere among those of the script's own frame, too, once
# something has read them.
_NOT_LOCAL = frozenset(
    {
        f"${php_code.STATE}",
        "$GLOBALS",
        "$_COOKIE",
        "$_ENV",
        "$_FILES",
        "$_GET",
        "$_POST",
        "$_REQUEST",
        "$_SERVER",
        "$_SESSION",
    }
)
_LOCALS = 0  # the context of DBGp
_UNSET = "uninitialized"


@dataclass(frozen=True)
class PhpStack:
    """The frames of a stop; variables of one that is over are saved with them.

    PHP stands further in than the first frame where that is hidden: in our signal handler, in a
    function that returns, or in one of PHP's own that has thrown.
    """

    frames: Sequence[ET.Element] = ()
    built_in: frozenset[int] = frozenset()  # the levels of PHP's own functions, hidden ones too
    saved: dict[int, ET.Element] = field(default_factory=dict)
    is_over: bool = False
    returned: tuple[str, ET.Element] | None = None  # by which function

    @property
    def innermost(self) -> int:
        """The level of the first frame."""
        return read_level(self.frames[0]) if self.frames else 0

    def hide_built_in(self) -> PhpStack:
        """Return the stack without PHP's own functions at its top: what called them has values."""
        frames = list(self.frames)
        while len(frames) > 1 and read_level(frames[0]) in self.built_in:
            frames.pop(0)
        return replace(self, frames=frames)

    def hide_handler(self, place: tuple[str, int]) -> PhpStack:
        """Return the stack without the error handler that threw for the statement at a place."""
        for at, frame in enumerate(self.frames[: _HANDLER_FRAMES + 1]):
            if (dbgp.to_path(frame.get("filename") or ""), int(frame.get("lineno") or 0)) == place:
                return replace(self, frames=self.frames[at:])
        return self

    def count_calls(self, level: int) -> int:
        """Return how many calls led from the program's begin to a frame."""
        return read_level(self.frames[-1]) - level

    def bind_object(self, level: int, expression: str) -> str:
        """Return an expression as it is to be evaluated in a frame, with the frame's `$this`."""
        if level - 1 not in self.built_in:
            return expression
        return php_code.bind_object(expression, self.count_calls(level))

    def find_function(self, level: int) -> str:
        """Return the name of a frame's function."""
        names = {read_level(one): one.get("where") or "" for one in self.frames}
        return names.get(level, "")


def read_level(frame: ET.Element) -> int:
    """Return the level that Xdebug numbers a frame by."""
    return int(frame.get("level") or 0)


class StackReader:
    """Reads the frames of the stops of one program."""

    def __init__(self) -> None:
        self._is_built_in: dict[str, bool] = {}  # by the name of a function
        self._parameters: dict[str, list[str]] = {}  # of functions, by the code that reads them

    async def find_built_in(
        self, engine: DbgpEngine, frames: Sequence[ET.Element]
    ) -> frozenset[int]:
        """Return the levels of PHP's own functions: each stands at the line of what called it."""
        names = {
            read_level(inner): inner.get("where") or ""
            for inner, outer in pairwise(frames)
            if all(inner.get(key) == outer.get(key) for key in ("filename", "lineno"))
        }
        new = sorted(set(names.values()) - self._is_built_in.keys())
        if new:
            # Behind some errors, as of exhausted memory, PHP evaluates nothing.
            with suppress(EngineError):
                value = await evaluate_innermost(engine, php_code.check_built_in(new))
                text = dbgp.read_text(value) if value is not None else ""
                self._is_built_in.update(zip(new, json.loads(text or "[]"), strict=False))
        return frozenset(level for level, name in names.items() if self._is_built_in.get(name))

    async def read_parameters(
        self, engine: DbgpEngine, stack: PhpStack, level: int
    ) -> Collection[str]:
        """Return the names of a frame's parameters; none for a closure."""
        code = php_code.list_parameters(stack.find_function(level))
        if code is None or stack.is_over:
            return ()
        if code not in self._parameters:
            with suppress(EngineError):
                value = await evaluate(engine, stack, level, code)
                text = dbgp.read_text(value) if value is not None else ""
                self._parameters[code] = json.loads(text or "[]")
        return self._parameters.get(code, ())


async def save_variables(engine: DbgpEngine, stack: PhpStack) -> PhpStack:
    """Return the stack with the variables of its innermost frames."""
    saved: dict[int, ET.Element] = {}
    for frame in stack.frames[:_SAVED_FRAMES]:
        level = read_level(frame)
        with suppress(EngineError):
            reply = await _read_context(engine, stack, level)
            if reply is not None:
                saved[level] = reply
    return replace(stack, saved=saved)


async def list_variables(engine: DbgpEngine, stack: PhpStack, level: int) -> list[ET.Element]:
    """Return a frame's variables that have a value."""
    reply = stack.saved.get(level)
    if reply is None and not stack.is_over:
        reply = await _read_context(engine, stack, level)
    return [
        one
        for one in (dbgp.list_properties(reply) if reply is not None else [])
        if one.get("type") != _UNSET and one.get("name") not in _NOT_LOCAL
    ]


def list_locals(level: int) -> str:
    """Return the command that reads the locals of a frame."""
    return f"context_get -d {level} -c {_LOCALS}"


async def _read_context(engine: DbgpEngine, stack: PhpStack, level: int) -> ET.Element | None:
    if level - 1 not in stack.built_in:
        reply = await engine.run(list_locals(level))
        found = dbgp.list_properties(reply) if reply is not None else []
        # Below our signal handler Xdebug 3.4 takes all for unset.
        if not found or any(one.get("type") != _UNSET for one in found):
            return reply
    value = await evaluate(engine, stack, level, php_code.list_variables(stack.count_calls(level)))
    for one in dbgp.list_properties(value) if value is not None else ():
        one.set("name", f"${one.get('name')}")
        one.set("fullname", one.get("name", ""))
    return value


async def read_variable(engine: DbgpEngine, stack: PhpStack, level: int, name: str) -> ET.Element:
    """Read a variable: an evaluation would give null for one that is not there."""
    found: ET.Element | None = None
    if not stack.is_over and level - 1 not in stack.built_in:
        with suppress(EngineError):
            found = await read_property(engine, stack, level, name)
    if found is None or found.get("type") == _UNSET:
        variables = await list_variables(engine, stack, level)
        found = dbgp.find_part(variables, name)
    if found is None and stack.is_over:
        known = "after an uncaught exception only the variables that are shown are known"
        raise EngineError(known)
    if found is None:
        raise EngineError(f"undefined variable {name}")
    return found


async def read_property(
    engine: DbgpEngine, stack: PhpStack, level: int, fullname: str, page: int = 0
) -> ET.Element | None:
    """Read a variable or a part of one by its name of Xdebug's, with a page of what it contains."""
    if level - 1 in stack.built_in:
        return await evaluate(engine, stack, level, stack.bind_object(level, fullname), page)
    name = dbgp.quote_option(fullname)
    reply = await engine.run(f"property_get -n {name} -d {level} -p {page}")
    found = dbgp.list_properties(reply) if reply is not None else []
    return found[0] if found else None


async def evaluate(
    engine: DbgpEngine, stack: PhpStack, level: int, code: str, page: int = 0
) -> ET.Element | None:
    """Evaluate an expression in a frame."""
    while level - 1 in stack.built_in:
        level -= 1  # there PHP finds the function of the program that called it
    if level == 0:
        return await evaluate_innermost(engine, code, page)
    await engine.run(f"property_set -d {level} -n {dbgp.quote_option(php_code.VALUE)}", f"{code};")
    return await evaluate_innermost(engine, php_code.TAKE_VALUE, page)


async def evaluate_innermost(engine: DbgpEngine, code: str, page: int = 0) -> ET.Element | None:
    """Evaluate an expression where PHP stands."""
    reply = await engine.run(f"eval -p {page}", f"{code};")
    found = dbgp.list_properties(reply) if reply is not None else []
    return found[0] if found else None
