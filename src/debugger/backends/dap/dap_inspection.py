"""Reads stacks, variables and values by the protocol, some ahead of the report; sets values."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

import msgspec
from msgspec.structs import replace

from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.dap_client import decode_body
from debugger.backends.dap.debug_adapter import AdapterConnection, DebugAdapter
from debugger.backends.expressions.expression_walk import (
    NATIVE,
    assign_shown,
    evaluate_refused,
    evaluate_shown,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import is_true_text
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    Scope,
    ScopeKind,
    Stack,
    Stopped,
    Variable,
)

LEVELS = 20  # of a stack in a report
# Seconds for outdated responses: usually none is left, and a step must not hang on one.
_SETTLE_S = 1.0
_SHOWN = {ScopeKind.LOCALS, ScopeKind.ARGUMENTS}

# The requests of a report.
_AHEAD: dict[str, type[msgspec.Struct]] = {
    "stackTrace": ask.StackTraceArguments,
    "scopes": ask.FrameArguments,
    "variables": ask.VariablesArguments,
}
_Response = asyncio.Future[dap.DapMessage]
_Receive = Callable[[_Response], None]


class RequestSender(Protocol):
    """Sends the requests."""

    def post_request(self, command: str, arguments: msgspec.Struct) -> _Response:
        """Send a request; the future is its response."""


class ReadAhead:
    """Requests sent ahead: the stack, the scopes and the variables of the innermost frame.

    The adapter answers them while the stop is on its way to the report. They are sent only where
    the innermost frame of the previous stop was read, too: a step that nobody reports costs
    nothing.
    """

    def __init__(
        self, client: RequestSender, scopes: Callable[[tuple[dap.DapScope, ...]], list[Scope]]
    ) -> None:
        self._client = client
        self._scopes = scopes
        self._sent: list[tuple[str, msgspec.Struct, _Response, _Receive]] = []
        self._was_read = False

    @property
    def was_read(self) -> bool:
        """Whether the variables of the innermost frame were read at this stop."""
        return self._was_read

    def note_read(self) -> None:
        """Note that the variables of the innermost frame are read at this stop."""
        self._was_read = True

    def begin_reading(self, thread: int, stack: Stack | None) -> None:
        """Send a report's requests, if the last stop was reported; a known `stack` is not read."""
        # The end of a step is followed by the same requests each time: stack, scopes, variables.
        # Each needs the answer of the one before, so that a report waits for three turns. Here they
        # are sent as soon as the stop is known: the callback of each response sends the next
        # request, while the stop is still on its way to the session and the client.
        #
        # - `begin_reading` sends the first request; `_request_scopes` and `_request_variables` the
        #   next.
        # - `take_response` hands a response, or the future of one, to a later request that is equal
        #   to the one that was sent. What comes after it is no longer sent ahead.
        # - Any request that may change the program drops all of them (`DapBackend._note_request`),
        #   and a resume waits for the responses that are still to come.
        #
        # With debugpy a `next` added 2.8 ms to the adapter's own time, and 2.0 ms since.
        was_read, self._was_read = self._was_read, False
        self.forget_requests()
        if not was_read:
            return
        with suppress(DebuggerError):  # the adapter is gone: whoever reads learns it
            if stack is None:
                self._send_request(
                    "stackTrace", ask.StackTraceArguments(thread, 0, LEVELS), self._request_scopes
                )
            # The filter has read the stack of this stop already, and it serves the report, too.
            elif stack.frames:
                self._send_request(
                    "scopes", ask.FrameArguments(stack.frames[0].handle), self._request_variables
                )

    def take_answers(self, answers: Sequence[dap.AheadAnswer]) -> None:
        """Take the answers that came with a stop: nothing has to be sent for them."""
        self._was_read = False
        self.forget_requests()
        for one in answers:
            response: _Response = asyncio.get_running_loop().create_future()
            response.set_result(
                dap.DapMessage("response", command=one.command, success=True, body=one.body)
            )
            arguments = msgspec.json.decode(one.arguments, type=_AHEAD[one.command])
            self._sent.append((one.command, arguments, response, _ignore_done))

    async def wait_for_responses(self) -> None:
        """Forget the requests, and wait for their responses (bounded).

        CodeLLDB answers requests out of order, and loses a function's return value where a request
        arrives during a step.
        """
        waited_for = [response for _, _, response, _ in self._sent if not response.done()]
        self.forget_requests()
        if waited_for:
            await asyncio.wait(waited_for, timeout=_SETTLE_S)

    def forget_requests(self) -> None:
        """Forget the requests: their responses may be outdated."""
        for _, _, response, receive in self._sent:
            # The pending response must not send more requests once the program runs.
            response.remove_done_callback(receive)
        self._sent.clear()

    def take_response(self, command: str, arguments: object) -> _Response | None:
        """Return the response to a request that was sent ahead, once.

        Whoever takes a response makes the next request itself: nothing more is sent ahead of that
        one.
        """
        for index, (sent_command, sent_arguments, response, receive) in enumerate(self._sent):
            if sent_command == command and sent_arguments == arguments:
                # Once only: the same request again may be meant to see a change.
                del self._sent[index]
                response.remove_done_callback(receive)
                return response
        return None

    def _send_request(
        self, command: str, arguments: msgspec.Struct, take: Callable[[dap.DapMessage], None]
    ) -> None:
        response = self._client.post_request(command, arguments)
        receive = partial(self._on_response, take)
        response.add_done_callback(receive)
        self._sent.append((command, arguments, response, receive))

    def _on_response(self, take: Callable[[dap.DapMessage], None], done: _Response) -> None:
        # The event loop still calls a callback that was removed after its future was done.
        if all(response is not done for _, _, response, _ in self._sent):
            return
        if done.cancelled() or done.exception() is not None:
            return
        if done.result().success:
            with suppress(DebuggerError):  # whoever reads decodes it again, and reports it
                take(done.result())

    def _request_scopes(self, message: dap.DapMessage) -> None:
        frames = decode_body(message.body, dap.StackTraceBody).stack_frames
        if frames:
            self._send_request("scopes", ask.FrameArguments(frames[0].id), self._request_variables)

    def _request_variables(self, message: dap.DapMessage) -> None:
        for scope in self._scopes(decode_body(message.body, dap.ScopesBody).scopes):
            if scope.kind in _SHOWN:
                self._send_request(
                    "variables", ask.VariablesArguments(scope.handle), _ignore_response
                )


def _ignore_done(done: _Response) -> None:
    del done


def _ignore_response(message: dap.DapMessage) -> None:
    del message


# Requests that leave a cached stack valid: any other may change it.
CHANGES_NOTHING = {"scopes", "stackTrace", "threads", "variables"}
_TAIL = 32  # more than any adapter's own frames, save the copies of long causes


class ProgramStacks:
    """Reads stacks, and caches the stack that a stop was filtered by for one later request."""

    def __init__(self, connection: AdapterConnection, adapter: DebugAdapter) -> None:
        self._connection = connection
        self._is_outside = adapter.is_outside if adapter.has_outside_frames else None
        self._handles_are_calls = adapter.handles_are_calls
        self._name_functions = adapter.name_functions
        self._stop: Stopped | None = None
        self._cached_stack: tuple[tuple[int, int, int], Stack] | None = None
        self._is_judging = False

    async def read_stack(self, thread: int, start: int, levels: int) -> Stack:
        """Return some frames of a thread, innermost first."""
        # The filter of a stop reads the stack, and the report of the same stop asks for it again,
        # with the same numbers. It is handed over once, and only if nothing was sent in between
        # that could have changed it: `note_request` drops it before, and `note_stop` at the next
        # stop.
        request = (thread, start, levels)
        if (
            self._cached_stack is not None
            and self._cached_stack[0] == request
            and not self._is_judging
        ):
            stack, self._cached_stack = self._cached_stack[1], None
            return stack
        if self._is_outside is None:
            stack = await _read_all_frames(self._connection, *request)
        else:
            stack = await stack_window(self._connection, self._is_outside, *request)
        named = await self._name_functions(self._connection, stack.frames)
        stack = msgspec.structs.replace(stack, frames=named)
        # pydevd's handles are the ids of frame objects: the same call has the same one at every
        # stop.
        if self._handles_are_calls:
            calls = (msgspec.structs.replace(one, call=one.handle) for one in stack.frames)
            stack = msgspec.structs.replace(stack, frames=tuple(calls))
        if self._is_judging:
            self._cached_stack = (request, stack)
        return stack

    async def await_filter(self, judging: Awaitable[Stopped | None]) -> Stopped | None:
        """Await the filtering of a stop, which may read the stack."""
        # While the filter runs, its own requests do not drop the stack: a `continue` leads to
        # another stop, which drops it.
        self._is_judging = True
        try:
            self._stop = await judging
        finally:
            self._is_judging = False
        return self._stop

    def kept_stack(self, thread: int, levels: int) -> Stack | None:
        """Return the stack that the last stop was filtered by, if it is cached."""
        if self._cached_stack is not None and self._cached_stack[0] == (thread, 0, levels):
            return self._cached_stack[1]
        return None

    def note_request(self, command: str) -> None:
        """Drop the cached stack before a request that may change it, such as a jump."""
        if not self._is_judging and command not in CHANGES_NOTHING:
            self._cached_stack = None

    def note_stop(self, stop: Stopped) -> None:
        """Drop the cached stack at any other stop."""
        if stop is not self._stop:
            self._cached_stack = None


async def _read_all_frames(
    connection: AdapterConnection, thread: int, start: int, levels: int
) -> Stack:
    body = await _request_stack(connection, thread, start, levels)
    total = body.total_frames
    if len(body.stack_frames) < levels:
        # `totalFrames` may be missing, or too large: the end of a stack is a page that is not full
        # (DAP: StackTraceResponse).
        total = start + len(body.stack_frames)
    return Stack(dap_convert.to_frames(body.stack_frames[:levels], start), total)


async def stack_window(
    connection: AdapterConnection,
    outside: Callable[[dap.DapStackFrame], bool],
    thread: int,
    start: int,
    levels: int,
) -> Stack:
    """Return some frames of a stack without those at its end that are not the program's.

    Foreign frames amid the stack count: the program may use the libraries that the adapter uses.
    """
    # The frames at a stack's end that ran the program (runpy, pydevd, Node's loader, Go's goexit)
    # are not shown, nor counted. They lie at the end only, so that the end has to be known: it is
    # in this page, or the last `_TAIL` frames are read as well. A stack of `_TAIL` foreign frames
    # is read as a whole.
    body = await _request_stack(connection, thread, start, levels)
    got = body.stack_frames
    total = body.total_frames
    if total is None:
        total = start + len(got) if len(got) < levels else None
    if total is None:
        return Stack(dap_convert.to_frames(got, start), None)
    own_count = start + _count_own_frames(got, outside) if start + len(got) >= total else start
    if own_count == start:
        own_count = await _program_end(connection, outside, thread, total)
    # A thread that has not come to the program's code yet is somewhere all the same.
    own_count = max(own_count, min(1, total))
    return Stack(dap_convert.to_frames(got[: max(0, own_count - start)], start), own_count)


async def _program_end(
    connection: AdapterConnection,
    outside: Callable[[dap.DapStackFrame], bool],
    thread: int,
    total: int,
) -> int:
    """Return how many frames of a stack are the program's."""
    # Only the end of the stack is read first: a deep recursion has many thousand frames.
    start, count = max(0, total - _TAIL), _TAIL
    while True:
        tail = (await _request_stack(connection, thread, start, count)).stack_frames
        own_count = _count_own_frames(tail, outside)
        if own_count or not start:
            return start + own_count
        start, count = 0, total


async def _request_stack(
    connection: AdapterConnection, thread: int, start: int, levels: int
) -> dap.StackTraceBody:
    arguments = ask.StackTraceArguments(thread_id=thread, start_frame=start, levels=levels)
    body: dap.StackTraceBody = await connection.send_request(
        "stackTrace", arguments, dap.StackTraceBody
    )
    return body


def _count_own_frames(
    frames: Sequence[dap.DapStackFrame], outside: Callable[[dap.DapStackFrame], bool]
) -> int:
    """Count the frames up to the last one of the program."""
    count = len(frames)
    while count and outside(frames[count - 1]):
        count -= 1
    return count


# Names of nameless variables: a Rust closure's environment, or a union within a struct.
_NAMELESS = frozenset({"", "<null>"})
_RETURNED = "(return)"  # debugpy's
_SHOWN_NAMELESS = "(anonymous)"
_VALUES_MAX = 10_000


def _named_value(one: Variable) -> Variable:
    return replace(one, name=_SHOWN_NAMELESS) if one.name in _NAMELESS else one


class StopValues:
    """Stores the values of one stop by handle, so that parts of them can be requested."""

    def __init__(self, connection: AdapterConnection, adapter: DebugAdapter) -> None:
        self._connection = connection
        self._adapter = adapter
        # A request for a part of a value has only its handle: what else is needed (the expression,
        # the number of elements) is looked up here.
        self._known: dict[int, Variable] = {}
        self._is_prepared = adapter.prelude_code is None
        self._shows_native_values = not NATIVE.isdisjoint(adapter.languages)
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
            body = await self._connection.send_request(
                "scopes", ask.FrameArguments(frame.handle), dap.ScopesBody
            )
        except DebuggerError as error:
            # Code of no function, as in the vDSO, or a program without debug information.
            is_bare = frame.file is None or "no debug information" in error.message
            if is_bare and error.code is ErrorCode.ADAPTER_FAILED:
                return []
            raise
        return self._adapter.convert_scopes(body.scopes)

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""
        parent = self._known.get(handle)
        # The adapter's own method goes first: adapters ignore `start` and `count`, or take them
        # only with a filter.
        if parent is not None and count is not None:
            page = await self._adapter.read_page(self._connection, parent, start, count)
            if page is not None:
                page = await self._adapter.complete_variables(self._connection, page)
                return self._remember(page)
        is_part = parent is not None and parent.indexed is not None and count is not None
        variables = await self.fetch_variables(
            handle, start=start if is_part else None, count=count if is_part else None
        )
        if parent is None:
            # Of a scope they are noise of the compiler; of a struct they are anonymous unions,
            # which are shown.
            variables = [one for one in variables if one.name not in _NAMELESS]
            returned = any(one.name.startswith(_RETURNED) for one in variables)
            self.has_returned = self.has_returned or returned
        # The adapter gave everything: the page is cut out here.
        if not is_part and count is not None:
            variables = variables[start : start + count]
        variables = await self._adapter.complete_variables(self._connection, variables)
        return self._remember([_named_value(one) for one in variables])

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        """Send a `variables` request and return the variables unchanged."""
        arguments = ask.VariablesArguments(handle, start, count)
        body = await self._connection.send_request("variables", arguments, dap.VariablesBody)
        return [dap_convert.to_variable(one) for one in body.variables]

    def _remember(self, variables: list[Variable]) -> list[Variable]:
        for one in variables:
            # A bound for one stop. Beyond it values can still be read, only not in parts.
            if one.handle and len(self._known) < _VALUES_MAX:
                self._known[one.handle] = one
        return variables

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression as its language has it."""
        if frame is None or purpose is EvaluationPurpose.RAW or not self._shows_native_values:
            return await self.evaluate_plain(expression, frame, purpose)
        return await evaluate_shown(self, expression, frame, purpose)

    async def condition_holds(self, condition: str, frame: Frame) -> bool:
        """Return whether a condition is true that the adapter stopped for.

        It stops where the condition is true, and where it cannot evaluate it: then this decides.

        Raises:
            DebuggerError: What `evaluate` raises.
        """
        try:
            await self.evaluate_plain(condition, frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            if not self._shows_native_values:
                raise
            value = await evaluate_refused(self, condition, frame, error)
            return is_true_text(value.value)
        return True

    async def evaluate_plain(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression as the adapter does; the first way that succeeds counts."""
        if not self._is_prepared:
            # Before the request, so that a failure is not repeated at every evaluation.
            self._is_prepared = True
            # Beside a running program pydevd changes least in this context.
            context, handle = ("watch", None) if frame is None else ("repl", frame.handle)
            before = ask.EvaluateArguments(self._adapter.prelude_code or "", context, handle)
            with suppress(DebuggerError):
                await self._connection.send_request("evaluate", before, dap.EvaluateBody)
        own_value = await self._adapter.evaluate_expression(
            self._connection, expression, frame, purpose
        )
        if own_value is not None:
            return self._remember([own_value])[0]
        problem: DebuggerError | None = None
        for context in self._adapter.evaluation_contexts[purpose]:
            arguments = ask.EvaluateArguments(expression, context, frame.handle if frame else None)
            try:
                body = await self._connection.send_request(
                    "evaluate", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
                )
            except DebuggerError as error:
                if error.code is not ErrorCode.EVALUATION_FAILED:
                    raise
                # The first context is the best one: its message says most.
                problem = problem or error
            else:
                value = await self._adapter.adjust_value(
                    self._connection, dap_convert.to_evaluated(expression, body)
                )
                return self._remember([value])[0]
        assert problem is not None
        raise DebuggerError(
            problem.code, self._adapter.shorten_error(problem.message), hint=problem.hint
        )

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run one command of the debugger's own command line.

        Raises:
            DebuggerError: USAGE for a control character.
        """
        # A newline would begin another command, past the check of the command's effect.
        if any(ord(letter) < ord(" ") for letter in command):
            raise DebuggerError(ErrorCode.USAGE, "a debugger command is one line")
        return await self._adapter.run_raw_command(self._connection, command, frame)

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with the parts that the adapter cut off.

        What the adapter omits from a scope, as a `this` that is undefined, is a value all the same
        where it was asked for.
        """
        completed = await self._adapter.complete_variables(self._connection, values)
        if len(completed) < len(values):
            completed = []
            for one in values:
                completed += await self._adapter.complete_variables(self._connection, [one]) or [
                    one
                ]
        return self._remember(completed)

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
        if self._shows_native_values:
            await assign_shown(self, target, value, frame)
        else:
            await self.assign_plain(target, value, frame)
        return await self.evaluate(target, frame, EvaluationPurpose.PRINT)

    async def assign_plain(self, target: str, value: str, frame: Frame) -> None:
        """Set what an expression of the adapter's names."""
        if await self._adapter.assign_value(self._connection, target, value, frame):
            # The adapter has set the value, or raised.
            return
        if self._connection.supports_request("setExpression"):
            arguments = ask.SetExpressionArguments(target, value, frame.handle)
            await self._connection.send_request(
                "setExpression", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
            )
        elif self._adapter.assigns_by_expression:
            await self.evaluate_plain(f"{target} = {value}", frame, EvaluationPurpose.PRINT)
        else:
            await self._set_variable(target, value, frame)

    async def assign_child(self, handle: int, name: str, value: str) -> None:
        """Set a child of a value."""
        arguments = ask.SetVariableArguments(handle, name, value)
        await self._connection.send_request(
            "setVariable", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
        )

    async def _set_variable(self, target: str, value: str, frame: Frame) -> None:
        for scope in await self._connection.read_scopes(frame):
            if any(
                one.name == target
                for one in await self.fetch_variables(scope.handle, start=None, count=None)
            ):
                await self.assign_child(scope.handle, target, value)
                return
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"no variable {target} in this frame",
            hint="debugger locals",
        )
