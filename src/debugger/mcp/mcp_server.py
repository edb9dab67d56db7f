"""Answers each request of the MCP protocol, and sends log messages to the client."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, TypeVar, cast, get_args
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from debugger import __version__
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp import prompts
from debugger.mcp.daemon_client import DaemonClient, DaemonReply
from debugger.mcp.prompts import PROMPTS
from debugger.mcp.tool_call import ClientMemory, ToolAnswer, ToolCall, format_failure, name_tools
from debugger.mcp.tool_definition import McpTool, Toolset

_LEVELS: Final[tuple[types.LoggingLevel, ...]] = get_args(types.LoggingLevel)
_FROM_FIRST: Final[types.LoggingLevel] = "info"
_LOGGER: Final = "debugger"

LogMessages = list[tuple[types.LoggingLevel, str]]
# What is said while a request is served is for the client that sent it. The daemon is started in
# a thread, which inherits this.
_log_messages: ContextVar[LogMessages | None] = ContextVar("said", default=None)

Context = ServerRequestContext[Any]


def log_note(text: str) -> None:
    """Send a note to the served client, and to standard error."""
    if sys.stderr is not None:
        sys.stderr.write(f"note: {text}\n")
    _send_log("warning", text)


class FailureHandler(logging.Handler):
    """A logging handler that sends our own errors to the client."""

    def emit(self, record: logging.LogRecord) -> None:
        """Send one log record."""
        _send_log("error" if record.levelno >= logging.ERROR else "warning", record.getMessage())


def _send_log(level: types.LoggingLevel, text: str) -> None:
    if (messages := _log_messages.get()) is not None:
        messages.append((level, text))


def add_to(server: Server[Any], memory_of: Callable[[Context], ClientMemory]) -> None:
    """Enable log messages in a server; each client chooses its level."""
    levels: WeakKeyDictionary[ClientMemory, types.LoggingLevel] = WeakKeyDictionary()

    async def set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        levels[memory_of(context)] = params.level
        return types.EmptyResult()

    async def tell(ctx: Context, call_next: CallNext) -> HandlerResult:
        messages: LogMessages = []
        token = _log_messages.set(messages)
        try:
            return await call_next(ctx)
        finally:
            _log_messages.reset(token)
            least = _LEVELS.index(levels.get(memory_of(ctx), _FROM_FIRST)) if messages else 0
            for level, text in messages:
                if _LEVELS.index(level) >= least:
                    # Before the answer: after it a request's stream is closed. The SDK holds back
                    # what a client of 2026-07-28 did not ask for.
                    await ctx.session.send_log_message(
                        level, text, _LOGGER, related_request_id=ctx.request_id
                    )

    # Not by the constructor, which calls it deprecated: clients that ask for it are still there.
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.middleware.append(tell)


NAME: Final = "debugger"
SESSION_HEADER: Final = "mcp-session-id"
_PROGRESS_S = 2.0  # seconds between two reports
_MEMORIES_MAX = 1000
_COMPLETED_MAX = 100  # the protocol's
_log = logging.getLogger(__name__)

T = TypeVar("T")


class ProtocolAnswers:
    """The answers to one process's clients; each connection has its own memory."""

    def __init__(self, daemon: DaemonClient, toolset: Toolset) -> None:
        self._daemon = daemon
        self._tools = toolset
        self._listing = [list_tool(one, brief=toolset.brief) for one in toolset.listed_tools()]
        self._memories: OrderedDict[str, ClientMemory] = OrderedDict()
        self._lasting = ClientMemory()
        self._shared = ClientMemory(of_many=True)

    def server(self) -> Server[Any]:
        """Return the SDK's server with these answers."""
        server: Server[Any] = Server(
            NAME,
            version=__version__,
            title="Debugger",
            instructions=prompts.tool_instructions({one.name for one in self._tools}),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
            on_completion=self.complete,
        )
        add_to(server, self._client_memory)
        return server

    async def complete(
        self, _context: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Complete a session's name in a resource's address; no other value is completed."""
        names: list[str] = []
        if params.ref.type == "ref/resource" and params.argument.name == "session":
            names = await _within_request(prompts.list_sessions(self._daemon))
        found = [name for name in names if name.startswith(params.argument.value)]
        values = types.Completion(
            values=found[:_COMPLETED_MAX],
            total=len(found),
            has_more=len(found) > _COMPLETED_MAX,
        )
        return types.CompleteResult(completion=values)

    async def list_tools(self, _context: Context, _params: object) -> types.ListToolsResult:
        """List the tools."""
        return types.ListToolsResult(tools=self._listing)

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool; a failure is a result too, for the model to read."""
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(one.name for one in self._tools)
            raise MCPError(types.INVALID_PARAMS, f"no tool {params.name!r}; there are: {known}")
        try:
            session, bound = tool.bind_arguments(params.arguments or {})
            choice, arguments = tool.split_choice(bound) if tool.of_group else ({}, bound)
            call = ToolCall(
                self._daemon,
                self._client_memory(context),
                session,
                lambda reply, what: _with_progress(context, reply, what),
                {name: value for name, value in choice.items() if value is not None},
            )
            answer = await tool.run(call, **arguments)
        except DebuggerError as error:
            answer = failure_answer(tool, self._fit_hint(error))
        except Exception as error:  # noqa: BLE001 - one call's fault must not end the server
            _log.exception("%s failed", tool.name)
            message = f"{type(error).__name__}: {error}"
            answer = failure_answer(
                tool, DebuggerError(ErrorCode.INTERNAL, message, hint="this is our fault")
            )
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=dict(answer.data) if not answer.is_error else None,
            is_error=answer.is_error,
        )

    def _fit_hint(self, error: DebuggerError) -> DebuggerError:
        if error.hint is not None:
            error.hint = name_tools(error.hint, {one.name for one in self._tools})
        return error

    def _client_memory(self, context: Context) -> ClientMemory:
        # Over standard streams there is one client. Over HTTP only the protocol's versions before
        # 2026-07-28 have sessions; the clients of later ones share a memory, and name theirs.
        if context.request is None:
            return self._lasting
        session = context.request.headers.get(SESSION_HEADER)
        if session is None:
            return self._shared
        memory = self._memories.setdefault(session, ClientMemory())
        self._memories.move_to_end(session)
        while len(self._memories) > _MEMORIES_MAX:
            self._memories.popitem(last=False)
        return memory

    async def list_resources(self, _context: Context, _params: object) -> types.ListResourcesResult:
        """List the resources of the existing sessions."""
        found = await _within_request(prompts.list_resources(self._daemon))
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=prompts.resource_uri(session, part.name),
                    name=f"{session}-{part.name}",
                    title=f"{part.title} of {session}",
                    description=part.description,
                    mime_type="text/plain",
                )
                for session, part in found
            ]
        )

    async def list_templates(
        self, _context: Context, _params: object
    ) -> types.ListResourceTemplatesResult:
        """List the resource templates of any session."""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=prompts.resource_template(part.name),
                    name=part.name,
                    title=part.title,
                    description=part.description,
                    mime_type="text/plain",
                )
                for part in prompts.PARTS.values()
            ]
        )

    async def read_resource(
        self, _context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a part of a session."""
        uri = str(params.uri)
        text = await _within_request(prompts.read_resource(self._daemon, uri))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
        )

    async def list_prompts(self, _context: Context, _params: object) -> types.ListPromptsResult:
        """List the prompts."""
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    title=one.title,
                    description=one.description,
                    arguments=[
                        types.PromptArgument(name=name, description=what, required=is_required)
                        for name, what, is_required in one.arguments
                    ],
                )
                for one in PROMPTS.values()
            ]
        )

    async def get_prompt(
        self, _context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Fill in a prompt."""
        found = PROMPTS.get(params.name)
        if found is None:
            known = ", ".join(PROMPTS)
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name!r}; there are: {known}")
        try:
            text = found.fill_arguments(params.arguments or {})
        except DebuggerError as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from error
        return types.GetPromptResult(
            description=found.description,
            messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))],
        )


def list_tool(tool: McpTool, *, brief: bool = False) -> types.Tool:
    """Return a tool's listing; a `brief` one is shorter."""
    return types.Tool(
        name=tool.name,
        title=None if brief else tool.title,
        description=tool.description,
        input_schema=tool.brief_schema if brief else tool.input_schema,
        output_schema={"type": "object"} if brief else tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destructive,
            open_world_hint=None if brief else False,
        ),
    )


def failure_answer(tool: McpTool, error: DebuggerError) -> ToolAnswer:
    """Format a failure as the command line does, or in the tool's envelope."""
    if tool.failure is not None:
        return ToolAnswer(format_failure(tool.failure, error), is_error=True)
    hint = f"\nhint: {error.hint}" if error.hint else ""
    return ToolAnswer(f"error: {error.message}{hint}", is_error=True)


async def _within_request(reply: Awaitable[T]) -> T:
    try:
        return await reply
    except DebuggerError as error:
        code = types.INVALID_PARAMS if error.code is ErrorCode.NOT_FOUND else types.INTERNAL_ERROR
        raise MCPError(code, error.message) from error


async def _with_progress(context: Context, reply: Awaitable[DaemonReply], what: str) -> DaemonReply:
    """Await an answer, and report the elapsed time meanwhile."""
    began = time.monotonic()
    # A task, so that the reports of progress do not interrupt the request.
    answer = asyncio.ensure_future(cast("Any", reply))
    try:
        while True:
            done, _ = await asyncio.wait({answer}, timeout=_PROGRESS_S)
            if done:
                return cast("DaemonReply", answer.result())
            waited = time.monotonic() - began
            await context.session.report_progress(
                waited, message=f"{what}: running for {waited:.0f} s"
            )
    finally:
        answer.cancel()
