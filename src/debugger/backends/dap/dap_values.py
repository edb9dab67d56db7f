"""Reads and sets values: variables, pages of variables, expressions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess, AdapterProfile
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose, Frame, Scope, Variable

# Names of nameless variables: a Rust closure's environment, or a union within a struct.
_NAMELESS = frozenset({"", "<null>"})
_RETURNED = "(return)"  # debugpy's
_SHOWN_NAMELESS = "(anonymous)"
_VALUES_MAX = 10_000


def _named_value(one: Variable) -> Variable:
    return replace(one, name=_SHOWN_NAMELESS) if one.name in _NAMELESS else one


class StopValues:
    """The values of one stop, stored by handle so that a part of one can be requested."""

    def __init__(self, inside: AdapterAccess, profile: AdapterProfile) -> None:
        self._inside = inside
        self._profile = profile
        self._known: dict[int, Variable] = {}
        self._is_prepared = profile.prelude is None
        # Whether a frame has shown a return value; None: no frame was read.
        self.has_returned: bool | None = None

    def forget_values(self) -> None:
        """Forget all values: the program stopped anew."""
        # lldb-dap answers a stale handle with no variables instead of an error.
        self._known.clear()
        self.has_returned = None

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        try:
            body = await self._inside.send_request(
                "scopes", ask.FrameArguments(frame.handle), dap.ScopesBody
            )
        except DebuggerError as error:
            # Code of no function, as in the vDSO, or a program without debug information.
            is_bare = frame.file is None or "no debug information" in error.message
            if is_bare and error.code is ErrorCode.ADAPTER_FAILED:
                return []
            raise
        return self._profile.scopes(body.scopes)

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""
        parent = self._known.get(handle)
        if parent is not None and count is not None:
            page = await self._profile.page(self._inside, parent, start, count)
            if page is not None:
                return self._remember(page)
        is_part = parent is not None and parent.indexed is not None and count is not None
        variables = await self.fetch_variables(
            handle, start=start if is_part else None, count=count if is_part else None
        )
        if parent is None:
            variables = [one for one in variables if one.name not in _NAMELESS]
            returned = any(one.name.startswith(_RETURNED) for one in variables)
            self.has_returned = self.has_returned or returned
        if not is_part and count is not None:
            variables = variables[start : start + count]
        variables = await self._profile.complete(self._inside, variables)
        return self._remember([_named_value(one) for one in variables])

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        """Send a `read_variables` request as it is."""
        arguments = ask.VariablesArguments(handle, start, count)
        body = await self._inside.send_request("variables", arguments, dap.VariablesBody)
        return [dap_convert.to_variable(one) for one in body.variables]

    def _remember(self, variables: list[Variable]) -> list[Variable]:
        for one in variables:
            if one.handle and len(self._known) < _VALUES_MAX:
                self._known[one.handle] = one
        return variables

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression; of several ways the first that succeeds counts."""
        if not self._is_prepared and frame is not None:
            self._is_prepared = True
            before = ask.EvaluateArguments(self._profile.prelude or "", "repl", frame.handle)
            with suppress(DebuggerError):
                await self._inside.send_request("evaluate", before, dap.EvaluateBody)
        own_value = await self._profile.evaluate(self._inside, expression, frame, purpose)
        if own_value is not None:
            return self._remember([own_value])[0]
        problem: DebuggerError | None = None
        for context in self._profile.contexts[purpose]:
            arguments = ask.EvaluateArguments(expression, context, frame.handle if frame else None)
            try:
                body = await self._inside.send_request(
                    "evaluate", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
                )
            except DebuggerError as error:
                if error.code is not ErrorCode.EVALUATION_FAILED:
                    raise
                problem = problem or error
            else:
                value = await self._profile.shown(
                    self._inside, dap_convert.to_evaluated(expression, body)
                )
                return self._remember([value])[0]
        assert problem is not None
        raise DebuggerError(problem.code, self._profile.problem(problem.message), hint=problem.hint)

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of the debugger's own command line.

        Raises:
            DebuggerError: USAGE for a control character.
        """
        if any(ord(letter) < ord(" ") for letter in command):
            raise DebuggerError(ErrorCode.USAGE, "a debugger command is one line")
        if self._profile.raw is not None:
            return await self._profile.raw(self._inside, command, frame)
        prefix = self._profile.raw_prefix or ""
        return (await self._inside.evaluate(prefix + command, frame, EvaluationPurpose.RAW)).value

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with the parts that the adapter cut off."""
        return self._remember(await self._profile.complete(self._inside, values))

    async def count_elements(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        value = self._known.get(handle)
        if value is None:
            return None
        if value.indexed is not None:
            return value.indexed
        return len(await self.fetch_variables(handle, start=None, count=None))

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        if await self._profile.assign(self._inside, target, value, frame):
            pass
        elif self._inside.supports_request("setExpression"):
            arguments = ask.SetExpressionArguments(target, value, frame.handle)
            await self._inside.send_request(
                "setExpression", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
            )
        elif self._profile.assigns_by_expression:
            await self.evaluate(f"{target} = {value}", frame, EvaluationPurpose.PRINT)
        else:
            await self._set_variable(target, value, frame)
        return await self.evaluate(target, frame, EvaluationPurpose.PRINT)

    async def _set_variable(self, target: str, value: str, frame: Frame) -> None:
        for scope in await self._inside.read_scopes(frame):
            if any(
                one.name == target
                for one in await self.fetch_variables(scope.handle, start=None, count=None)
            ):
                arguments = ask.SetVariableArguments(scope.handle, target, value)
                await self._inside.send_request(
                    "setVariable", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
                )
                return
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"no variable {target} in this frame",
            hint="debugger locals",
        )
