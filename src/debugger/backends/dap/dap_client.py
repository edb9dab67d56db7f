"""Sends requests and matches their responses, within time limits and capabilities."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_transport import TcpConnection
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.statement import LOCALS

Body = TypeVar("Body", bound=dap.DapBody)

_log = logging.getLogger(__name__)
# Characters of a message in the log: variables may come in messages of megabytes.
_LOGGED_MAX = 4000
# Seconds for a request to an adapter that is busy with an earlier, abandoned request.
# An abandoned request is not cancelled: adapters that advertise `cancel` may not answer it
# (CodeLLDB).
_BUSY_S = 3.0

# lldb-dap 19 aborts on readMemory or setExpression; debugpy hangs on cancel or restart.
# A request that an adapter did not advertise can kill or wedge it: it is never sent.
_NEEDS = {
    "configurationDone": "supports_configuration_done_request",
    "setFunctionBreakpoints": "supports_function_breakpoints",
    "setVariable": "supports_set_variable",
    "setExpression": "supports_set_expression",
    "exceptionInfo": "supports_exception_info_request",
    "terminate": "supports_terminate_request",
    "restart": "supports_restart_request",
    "stepInTargets": "supports_step_in_targets_request",
    "gotoTargets": "supports_goto_targets_request",
    "goto": "supports_goto_targets_request",
    "dataBreakpointInfo": "supports_data_breakpoints",
    "setDataBreakpoints": "supports_data_breakpoints",
    "setInstructionBreakpoints": "supports_instruction_breakpoints",
    # The two without a request of their own: arguments that an adapter would silently ignore.
    "stepping granularity": "supports_stepping_granularity",
    "single threads": "supports_single_thread_execution_requests",
    "readMemory": "supports_read_memory_request",
    "writeMemory": "supports_write_memory_request",
    "disassemble": "supports_disassemble_request",
    "modules": "supports_modules_request",
    "loadedSources": "supports_loaded_sources_request",
    "breakpointLocations": "supports_breakpoint_locations_request",
    "cancel": "supports_cancel_request",
    "completions": "supports_completions_request",
    "stepBack": "supports_step_back",
    "reverseContinue": "supports_step_back",
    "restartFrame": "supports_restart_frame",
    "terminateThreads": "supports_terminate_threads_request",
}

OnEvent = Callable[[str, msgspec.Raw], None]
OnRequest = Callable[[str, msgspec.Raw], Awaitable[dict[str, Any]]]


class AdapterLimits(msgspec.Struct, frozen=True):
    """Time limits in seconds."""

    initialize_s: float = 10.0
    request_s: float = 30.0
    # For each step of a child's start, which nobody awaits: the child waits for its debugger, and
    # of a hundred that begin together on two processors the last has its turn late.
    child_s: float = 60.0
    logs_messages: bool = False  # all messages go to the log


class DapClient:
    """One end of a DAP connection: whole message bodies in and out, without I/O.

    `write` is given the body of each message to send. Events are passed to `on_event` in order,
    from within `receive_message`. A reverse request is answered with the result of `on_request`.
    """

    def __init__(
        self,
        adapter: str,
        *,
        write: Callable[[bytes], None],
        on_event: OnEvent,
        on_request: OnRequest,
        tasks: asyncio.TaskGroup,
        logs_messages: bool = False,
        busy_s: float = _BUSY_S,
    ) -> None:
        self._adapter = adapter
        self._busy_s = busy_s
        self._logs_messages = logs_messages
        self._write_bytes = write
        self._on_event = on_event
        self._on_request = on_request
        self._tasks = tasks
        self._seq = 0
        # By `seq`: the order of responses is not that of requests. CodeLLDB answers out of order.
        self._pending: dict[int, asyncio.Future[dap.DapMessage]] = {}
        self._lost: DebuggerError | None = None
        # The first request that was given up, as long as nothing has been answered since.
        self._overdue: str | None = None
        self._advertised: dict[str, Any] = {}
        self.capabilities = dap.AdapterCapabilities()

    def _write_message(self, body: bytes) -> None:
        self._log_message("to", body)
        self._write_bytes(body)

    def _log_message(self, direction: str, body: bytes) -> None:
        if self._logs_messages:
            text = body[:_LOGGED_MAX].decode(errors="backslashreplace")
            cut = f" … of {len(body)} bytes" if len(body) > _LOGGED_MAX else ""
            _log.info("dap %s %s: %s%s", direction, self._adapter, text, cut)

    @property
    def is_busy(self) -> bool:
        """Whether a request was given up, and the adapter has answered nothing since."""
        return self._overdue is not None

    @property
    def is_lost(self) -> bool:
        """Whether the adapter is gone."""
        return self._lost is not None

    def merge_capabilities(self, more: dict[str, Any]) -> None:
        """Add capabilities, also those of a late event (DAP: CapabilitiesEvent).

        Raises:
            DebuggerError: PROTOCOL.
        """
        # An adapter may send null for a capability that it lacks.
        # Merged, not replaced: lldb-dap 21 sends Restart and StepInTargets in a late event, delve
        # some at an attach (DAP: CapabilitiesEvent contains changes only).
        self._advertised |= {key: value for key, value in more.items() if value is not None}
        try:
            self.capabilities = msgspec.convert(self._advertised, dap.AdapterCapabilities)
        except msgspec.ValidationError as error:
            raise DebuggerError(
                ErrorCode.PROTOCOL, f"{self._adapter} sent malformed capabilities: {error}"
            ) from error

    def supports_request(self, command: str) -> bool:
        """Return whether the adapter supports a request."""
        # Requests without an entry are of the protocol's core, which every adapter has, or our own.
        need = _NEEDS.get(command)
        return need is None or bool(getattr(self.capabilities, need))

    async def send_request(
        self,
        command: str,
        arguments: msgspec.Struct | dict[str, Any],
        body: type[Body],
        *,
        within: float,
        failure: ErrorCode = ErrorCode.ADAPTER_FAILED,
        sent: asyncio.Future[dap.DapMessage] | None = None,
    ) -> Body:
        """Send a request and return its response's body; `within` is in seconds.

        A request that was already `sent` is not sent again.

        Raises:
            DebuggerError: NOT_SUPPORTED without sending, TIMEOUT, ADAPTER_DIED, or `failure` with
                the adapter's own message.
        """
        response = sent if sent is not None else self.post_request(command, arguments)
        return self.decode_body(
            await self.wait_for_response(response, command, within=within), body, failure
        )

    async def send_and_wait(
        self, command: str, arguments: msgspec.Struct | dict[str, Any], *, within: float
    ) -> dap.DapMessage:
        """Send a request and return the response, whether it succeeded or not.

        Raises:
            DebuggerError: NOT_SUPPORTED without sending, TIMEOUT, ADAPTER_DIED.
        """
        return await self.wait_for_response(
            self.post_request(command, arguments), command, within=within
        )

    async def wait_for_response(
        self, response: asyncio.Future[dap.DapMessage], command: str, *, within: float
    ) -> dap.DapMessage:
        """Return the response to a request that was sent.

        Raises:
            DebuggerError: TIMEOUT, ADAPTER_DIED.
        """
        # One that was sent ahead, or whose answer came with the stop: no timer is needed.
        if response.done() and not response.cancelled() and response.exception() is None:
            return response.result()
        # A time limit does not end the request in the adapter. The next one would wait its full
        # time behind it: it gets a short limit, and an error that names the one that hangs.
        if self._overdue is not None:
            # The adapter works through its requests in order, and is still at the overdue one.
            within = min(within, self._busy_s)
        # asyncio.timeout would cost each request more than its sending.
        # The timer fails the future itself, so that no task is cancelled at a time-out.
        limit = asyncio.get_running_loop().call_later(within, _expire_response, response)
        try:
            return await response
        except TimeoutError:
            raise self._build_timeout_error(command, within) from None
        # The caller gave up; the adapter did not.
        except asyncio.CancelledError:
            self._overdue = self._overdue or command
            raise
        finally:
            limit.cancel()

    def _build_timeout_error(self, command: str, within: float) -> DebuggerError:
        message = f"{self._adapter} did not answer {command} within {within:g} s"
        if self._overdue is not None:
            message += f": since {self._overdue}, which took too long, it has answered nothing"
        self._overdue = self._overdue or command
        hint = "debugger stop ends the session; debugger status shows it"
        return DebuggerError(ErrorCode.TIMEOUT, message, hint=hint)

    def post_request(
        self, command: str, arguments: msgspec.Struct | dict[str, Any]
    ) -> asyncio.Future[dap.DapMessage]:
        """Send a request; the future is its response, or fails once the adapter is gone.

        Raises:
            DebuggerError: NOT_SUPPORTED, ADAPTER_DIED or USAGE, without sending.
        """
        if not self.supports_request(command):
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                f"{self._adapter} cannot do this: it does not take the request {command!r}",
                hint="debugger doctor lists the adapters",
            )
        if self._lost is not None:
            raise self._lost
        # The number is used up only by a message that could be encoded.
        seq = self._seq + 1
        body = _encode_message(
            {"seq": seq, "type": "request", "command": command, "arguments": arguments}
        )
        self._seq = seq
        response: asyncio.Future[dap.DapMessage] = asyncio.get_running_loop().create_future()
        self._pending[seq] = response
        self._write_message(body)
        return response

    def decode_body(self, response: dap.DapMessage, kind: type[Body], failure: ErrorCode) -> Body:
        """Return a response's typed body.

        Raises:
            DebuggerError: `failure` if it did not succeed, PROTOCOL if the body is malformed.
        """
        if not response.success:
            raise DebuggerError(failure, response_error_text(response), hint=_HINTS.get(failure))
        return decode_body(response.body, kind)

    def receive_message(self, body: bytes) -> None:
        """Handle one message.

        Raises:
            DebuggerError: PROTOCOL if it is malformed.
        """
        self._log_message("from", body)
        try:
            message = _decode_as(body, dap.DapMessage, strict=False)
        except _UNREADABLE as error:
            raise DebuggerError(
                ErrorCode.PROTOCOL, f"{self._adapter} sent a broken message: {error}"
            ) from error
        if message.type == "response":
            # Any answer proves that the adapter is through with the overdue request, or past it.
            self._overdue = None
            waiter = self._pending.pop(message.request_seq, None)
            # Whoever waited for a late response has given up.
            if waiter is not None and not waiter.done():
                waiter.set_result(message)
        elif message.type == "event":
            if message.event == "capabilities":
                self.merge_capabilities(
                    decode_body(message.body, dap.CapabilitiesBody).capabilities
                )
            else:
                self._on_event(message.event, message.body)
        elif message.type == "request":
            # In a task: starting a program or a session takes longer than a message may block.
            self._tasks.create_task(self._answer_reverse(message))

    async def _answer_reverse(self, request: dap.DapMessage) -> None:
        reply: dict[str, Any] = {
            "type": "response",
            "request_seq": request.seq,
            "command": request.command,
            "success": True,
        }
        try:
            reply["body"] = await self._on_request(request.command, request.arguments)
        except DebuggerError as error:
            reply |= {"success": False, "message": error.message}
        except (msgspec.MsgspecError, RecursionError) as error:
            reply |= {"success": False, "message": f"malformed arguments: {error}"}
        # Nobody reads the reply of an adapter that has gone meanwhile.
        if self._lost is None:
            self._seq += 1
            self._write_message(_encode_message({"seq": self._seq, **reply}))

    def fail_all(self, error: DebuggerError) -> None:
        """Fail all pending and all later requests: the adapter is gone."""
        if self._lost is None:
            self._lost = error
            for waiter in list(self._pending.values()):
                if not waiter.done():
                    waiter.set_exception(error)
                    waiter.exception()  # whoever posted may not be waiting yet


def _expire_response(response: asyncio.Future[dap.DapMessage]) -> None:
    if not response.done():
        response.set_exception(TimeoutError())


_HINTS = {
    ErrorCode.ADAPTER_FAILED: "debugger daemon logs shows what the adapter said",
    ErrorCode.EVALUATION_FAILED: LOCALS,
}


def _encode_message(message: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError as error:
        wrong = ascii(error.object[max(0, error.start - 20) : error.end + 20])
        raise DebuggerError(
            ErrorCode.USAGE, f"debug adapters take only UTF-8, and this is none: {wrong}"
        ) from error


_HALF_PAIR = re.compile("[\ud800-\udfff]")
# ValueError: msgspec's own, and numbers of thousands of digits.
_UNREADABLE = (ValueError, RecursionError)
Read = TypeVar("Read", bound=msgspec.Struct)


def _decode_as(data: bytes, kind: type[Read], *, strict: bool = True) -> Read:
    """Decode JSON; not strict: a number may be written as text (netcoredbg 3.1: `"seq":"7"`)."""
    try:
        return msgspec.json.decode(data, type=kind, strict=strict)
    except msgspec.ValidationError:
        raise
    except ValueError:
        # A program's text may hold half a surrogate pair: JSON can, UTF-8 cannot. It is shown as
        # the escape that the program's language has for it.
        text = json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False)
        text = _HALF_PAIR.sub(lambda half: f"\\\\u{ord(half[0]):04x}", text)
        return msgspec.json.decode(text, type=kind, strict=strict)


def decode_body(raw: msgspec.Raw, kind: type[Body]) -> Body:
    """Decode a body; a missing or null one counts as empty.

    Raises:
        DebuggerError: PROTOCOL.
    """
    data = bytes(raw)
    try:
        return _decode_as(data if data not in {b"", b"null"} else b"{}", kind)
    except _UNREADABLE as error:
        raise DebuggerError(
            ErrorCode.PROTOCOL, f"the adapter sent a malformed {kind.__name__}: {error}"
        ) from error


def response_error_text(response: dap.DapMessage) -> str:
    """Return the message of an unsuccessful response, from its `message` or its body."""
    detail = ""
    try:
        error = decode_body(response.body, dap.ErrorBody).error
    except DebuggerError:
        error = None
    if isinstance(error, str):
        detail = error
    elif error is not None:
        detail = error.format
        for name, value in (error.variables or {}).items():
            # Not str.format: a value may contain braces of its own.
            detail = detail.replace("{" + name + "}", value)
    message = response.message or ""
    # `message` may be a key ("notStopped") beside a sentence in the body (DAP: ErrorResponse).
    text = detail if len(detail) > len(message) else message
    return text.strip() or f"the adapter refused {response.command!r} without saying why"


class HandshakeWaits:
    """Waits for the events of a start, each unless a response reports a failure before it.

    A chunk of bytes may bring an event and a response, and a program may end together with its
    adapter: whoever waits wakes after both. What counts is which of them came first.
    """

    def __init__(self, client: DapClient, name: str, *events: asyncio.Future[None]) -> None:
        self._client = client
        self._name = name
        self._completed: list[asyncio.Future[Any]] = []
        for event in events:
            event.add_done_callback(self._completed.append)

    def post_request(
        self, command: str, arguments: msgspec.Struct | dict[str, Any]
    ) -> asyncio.Future[dap.DapMessage]:
        """Send a request of the handshake (see `DapClient.post_request`)."""
        response = self._client.post_request(command, arguments)
        response.add_done_callback(self._completed.append)
        return response

    async def wait_for_event(
        self,
        event: asyncio.Future[None],
        *,
        unless: asyncio.Future[dap.DapMessage],
        doing: str,
        is_enough: bool,
        within_s: float,
    ) -> None:
        """Wait for an event, or for a response that reports a failure.

        Adapters answer `launch` before or after their first event. A successful response ends the
        wait only if it `is_enough`.

        Raises:
            DebuggerError: LAUNCH_FAILED, TIMEOUT, ADAPTER_DIED, PROGRAM_EXITED.
        """
        pending: set[asyncio.Future[Any]] = {event, unless}
        try:
            async with asyncio.timeout(within_s):
                # asyncio.wait does not cancel what it waits for, and goes through the event loop
                # once: the callbacks above have run when it returns.
                await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if unless in self._completed and not self._is_before(event, unless):
                    self._client.decode_body(unless.result(), dap.DapBody, ErrorCode.LAUNCH_FAILED)
                    if not is_enough:
                        await asyncio.wait({event})
        except TimeoutError:
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                f"{self._name} did not finish {doing} within {within_s:g} s",
            ) from None

    def _is_before(self, one: asyncio.Future[Any], other: asyncio.Future[Any]) -> bool:
        order = self._completed
        return one in order and order.index(one) < order.index(other)


async def connect_child(
    name: str,
    configuration: Mapping[str, Any],
    address: tuple[str, int] | None,
    *,
    within_s: float,
) -> TcpConnection:
    """Connect to the address at which a child process is debugged, by the adapter's configuration.

    Raises:
        DebuggerError: NOT_SUPPORTED if the configuration has none, ADAPTER_FAILED.
    """
    match configuration.get("connect"):
        # debugpy's configuration of a child names the port of its own server.
        case {"port": int(port), **more}:
            host = str(more.get("host", "127.0.0.1"))
            return await TcpConnection.open_connection(host, port, within_s=within_s)
        case _ if address is not None:
            return await TcpConnection.open_connection(*address, within_s=within_s)
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED, f"{name} does not say where its child process is to be met"
    )
