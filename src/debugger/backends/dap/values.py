"""Reads and sets values: variables, pages of variables, expressions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.profile import Inside, Profile
from debugger.core.model import Frame, Purpose, Scope, Variable
from debugger.errors import Code, DebuggerError

# Names of nameless variables: a Rust closure's environment, or a union within a struct.
_NAMELESS = frozenset({"", "<null>"})
_RETURNED = "(return)"  # debugpy's
_SHOWN_NAMELESS = "(anonymous)"
_VALUES_MAX = 10_000


def _named(one: Variable) -> Variable:
    return replace(one, name=_SHOWN_NAMELESS) if one.name in _NAMELESS else one


class Values:
    """The values of one stop, stored by handle so that a part of one can be requested."""

    def __init__(self, inside: Inside, profile: Profile) -> None:
        self._inside = inside
        self._profile = profile
        self._known: dict[int, Variable] = {}
        self._is_prepared = profile.prelude is None
        # Whether a frame has shown a return value; None: no frame was read.
        self.has_returned: bool | None = None

    def clear(self) -> None:
        """Forget all values: the program stopped anew."""
        # lldb-dap answers a stale handle with no variables instead of an error.
        self._known.clear()
        self.has_returned = None

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        try:
            body = await self._inside.request("scopes", ask.OfFrame(frame.handle), dap.ScopesBody)
        except DebuggerError as error:
            # Code of no function, as in the vDSO, or a program without debug information.
            is_bare = frame.file is None or "no debug information" in error.message
            if is_bare and error.code is Code.ADAPTER_FAILED:
                return []
            raise
        return self._profile.scopes(body.scopes)

    async def variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""
        inside = self._known.get(handle)
        if inside is not None and count is not None:
            page = await self._profile.page(self._inside, inside, start, count)
            if page is not None:
                return self._remembered(page)
        is_part = inside is not None and inside.indexed is not None and count is not None
        found = await self.fetch(
            handle, start=start if is_part else None, count=count if is_part else None
        )
        if inside is None:
            found = [one for one in found if one.name not in _NAMELESS]
            returned = any(one.name.startswith(_RETURNED) for one in found)
            self.has_returned = self.has_returned or returned
        if not is_part and count is not None:
            found = found[start : start + count]
        found = await self._profile.complete(self._inside, found)
        return self._remembered([_named(one) for one in found])

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Send a `variables` request as it is."""
        arguments = ask.Variables(handle, start, count)
        body = await self._inside.request("variables", arguments, dap.VariablesBody)
        return [convert.variable(one) for one in body.variables]

    def _remembered(self, variables: list[Variable]) -> list[Variable]:
        for one in variables:
            if one.handle and len(self._known) < _VALUES_MAX:
                self._known[one.handle] = one
        return variables

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression; of several ways the first that succeeds counts."""
        if not self._is_prepared and frame is not None:
            self._is_prepared = True
            before = ask.Evaluate(self._profile.prelude or "", "repl", frame.handle)
            with suppress(DebuggerError):
                await self._inside.request("evaluate", before, dap.EvaluateBody)
        own = await self._profile.evaluate(self._inside, expression, frame, purpose)
        if own is not None:
            return self._remembered([own])[0]
        problem: DebuggerError | None = None
        for context in self._profile.contexts[purpose]:
            arguments = ask.Evaluate(expression, context, frame.handle if frame else None)
            try:
                body = await self._inside.request(
                    "evaluate", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
                )
            except DebuggerError as error:
                if error.code is not Code.EVALUATION_FAILED:
                    raise
                problem = problem or error
            else:
                value = await self._profile.shown(self._inside, convert.evaluated(expression, body))
                return self._remembered([value])[0]
        assert problem is not None
        raise DebuggerError(problem.code, self._profile.problem(problem.message), hint=problem.hint)

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of the debugger's own command line.

        Raises:
            DebuggerError: USAGE for a control character.
        """
        if any(ord(letter) < ord(" ") for letter in command):
            raise DebuggerError(Code.USAGE, "a debugger command is one line")
        if self._profile.raw is not None:
            return await self._profile.raw(self._inside, command, frame)
        prefix = self._profile.raw_prefix or ""
        return (await self._inside.evaluate(prefix + command, frame, Purpose.RAW)).value

    async def completed(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with the parts that the adapter cut off."""
        return self._remembered(await self._profile.complete(self._inside, values))

    async def size(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        known = self._known.get(handle)
        if known is None:
            return None
        if known.indexed is not None:
            return known.indexed
        return len(await self.fetch(handle, start=None, count=None))

    async def assign(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        if await self._profile.assign(self._inside, target, value, frame):
            pass
        elif self._inside.can("setExpression"):
            arguments = ask.SetExpression(target, value, frame.handle)
            await self._inside.request(
                "setExpression", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
            )
        elif self._profile.assigns_by_expression:
            await self.evaluate(f"{target} = {value}", frame, Purpose.PRINT)
        else:
            await self._set_variable(target, value, frame)
        return await self.evaluate(target, frame, Purpose.PRINT)

    async def _set_variable(self, target: str, value: str, frame: Frame) -> None:
        for scope in await self._inside.scopes(frame):
            if any(
                one.name == target for one in await self.fetch(scope.handle, start=None, count=None)
            ):
                arguments = ask.SetVariable(scope.handle, target, value)
                await self._inside.request(
                    "setVariable", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
                )
                return
        raise DebuggerError(
            Code.EVALUATION_FAILED, f"no variable {target} in this frame", hint="debugger locals"
        )
