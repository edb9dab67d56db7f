"""Dispatches a request to its command: parses, binds, runs, and renders the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import msgspec

from debugger import config, paths
from debugger.backends import select_backend
from debugger.cli import commands, parser
from debugger.cli.answer_text import format_answer
from debugger.cli.parser import Invocation
from debugger.config import Config
from debugger.daemon.command_request import CommandReply, CommandRequest, Handler, Publish
from debugger.daemon.hint_words import complete_hint
from debugger.daemon.peer import as_answer
from debugger.editors import editor_door
from debugger.errors import DebuggerError, ErrorCode, ExitCode
from debugger.hosts.host_call import HostCall
from debugger.hosts.host_list import HostRequest
from debugger.hosts.host_router import HostRouter, Route
from debugger.model.answers import Answer, Sessions
from debugger.model.command_registry import (
    COMMANDS,
    Activity,
    Command,
    begin_activity,
    describe_activity,
)
from debugger.output import OutputStyle, to_data
from debugger.output.location_text import format_count
from debugger.questions.group.group_choice import acts_on_members
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.evidence_store import EvidenceStore
from debugger.session.process_tree import root_session
from debugger.session.session_list import SessionList, fit_hint
from debugger.session.timeline import Timeline, remove_abandoned
from debugger.targets import launch_target, launchers
from debugger.targets.caller_commands import TYPED_CODE, TypedCode

# Their processes are compared: those that a launcher starts on other hosts, too.
_COMPARING: Final = frozenset({"probe", "diff", "path"})


_BUDGET = 1000  # tokens of a text answer
_WIDTH = 100  # columns
_PUBLISH_S = 0.05  # seconds from a change of the live sessions to when they are written
_JSON_BUDGET = 20_000  # tokens of a --json answer
_BUDGET_MIN, _BUDGET_MAX = 10, 1_000_000


class Dispatcher:
    """The daemon's request handler, and owner of the sessions (`Handler`)."""

    def __init__(self, publish: Publish) -> None:
        commands.load_all()
        self._publish = publish
        self._publication: asyncio.TimerHandle | None = None
        self._settings = Config()
        self._is_configured = False
        self._sessions = SessionList(on_change=self._publish_soon, timeline=self._create_timeline)
        self._evidence = EvidenceStore()
        self._router = HostRouter(self._run_for_group)
        self._activities: WeakKeyDictionary[CommandRequest, Activity] = WeakKeyDictionary()
        self._scratch_root = Path(paths.runtime_dir()) / "scratch"
        self._timelines = Path(paths.runtime_dir()) / "timelines"
        remove_abandoned(self._timelines)

    def _publish_soon(self) -> None:
        """Publish the live sessions once for all changes that come together.

        Each time all of them are written: a thousand members that end would take many seconds. The
        server publishes them before each answer, too.
        """
        if self._publication is None:
            loop = asyncio.get_running_loop()
            self._publication = loop.call_later(_PUBLISH_S, self._publish_sessions)

    def _publish_sessions(self) -> None:
        self._publication = None
        self._publish(self.live_sessions())

    def _create_timeline(self) -> Timeline:
        settings = self._settings.output
        return Timeline(
            settings.max_events,
            int(settings.max_bytes_mb * 2**20),
            max_traced=settings.max_traced,
            max_traced_bytes=int(settings.max_traced_mb * 2**20),
            folder=self._timelines,
        )

    async def handle(self, request: CommandRequest) -> CommandReply:
        """Answer a request."""
        parsed = None
        if request.known_as is not None:
            self._sessions.name_suffix = f"@{request.known_as}"
        self._activities[request] = activity = Activity()
        begin_activity(activity)
        try:
            parsed = self._parse_request(request)
            route = self._router.find_route(parsed, request)
            if route is not None:
                return await self._run_at_host(request, parsed, route)
            if _is_about_launcher(parsed, request.cwd):
                answer, stops_daemon = await self._run_launcher(request, parsed), False
            else:
                answer, stops_daemon = await self._run_command(request, parsed)
        except DebuggerError as error:
            is_json = parsed.is_json if parsed else "--json" in (request.argv or ())
            return CommandReply.from_error(error, text=_error_json(error) if is_json else None)
        return _build_reply(answer, request, parsed, stops_daemon=stops_daemon)

    def _parse_request(self, request: CommandRequest) -> Invocation:
        if request.argv is not None:
            return parser.parse_argv(request.argv, COMMANDS)
        if request.command is None:
            raise DebuggerError(ErrorCode.USAGE, "neither argv nor command", hint="debugger --help")
        return Invocation(
            command=COMMANDS.get(request.command),
            args=dict(request.args),
            session=request.session,
            is_json=request.is_json,
            budget=request.budget,
            is_color=request.is_color,
        )

    async def _run_at_host(
        self, request: CommandRequest, invocation: Invocation, route: Route
    ) -> CommandReply:
        # Bad arguments are told without a connection.
        invocation.command.bind_arguments(invocation.args)
        self._read_settings(request.env)
        reported = [""]

        def note_progress(text: str) -> None:
            # The other side begins with the command and the seconds, as ours does.
            reported[0] = text.partition(", ")[2]

        call = self._make_host_call(request, invocation, note_progress)
        with describe_activity(lambda: reported[0]):
            answer = await self._router.run(call, route)
        if isinstance(answer, CommandReply):
            return answer
        return _build_reply(answer, request, invocation, stops_daemon=False)

    def _make_host_call(
        self,
        request: CommandRequest,
        invocation: Invocation,
        note_progress: Callable[[str], None] | None = None,
    ) -> HostCall:
        names = frozenset(one.name for one in self._sessions.all_sessions())
        current = self._sessions.current
        root = root_session(self._sessions.get(current)).name if current is not None else None
        return HostCall(
            request,
            invocation,
            self._settings,
            note_progress,
            names,
            root,
            lambda group: self._sessions.groups.get(group).first.breakpoints.user_breakpoints(),
        )

    async def _run_for_group(self, request: HostRequest) -> dict[str, Any]:
        """Run the part of a group's command that is for this machine, as another host would."""
        message = request.message
        own = CommandRequest(
            id=0,
            stream=request.stream or _drop_text,
            command=message["command"],
            args=message["args"],
            session=message["session"],
            is_json=message["json"],
            budget=message["budget"],
            is_color=message["color"],
            cwd=message["cwd"],
            env=request.env,
            width=message["width"],
            tty=message["tty"],
            wants_result=message["result"],
            interrupted=request.interrupted or asyncio.Event(),
        )
        invocation = self._parse_request(own)
        try:
            answer, stops_daemon = await self._run_command(own, invocation)
        except DebuggerError as error:
            reply = CommandReply.from_error(error)
        else:
            reply = _build_reply(answer, own, invocation, stops_daemon=stops_daemon)
        return {**as_answer(0, reply), **self.describe_sessions()}

    async def _run_launcher(self, request: CommandRequest, invocation: Invocation) -> Answer:
        """Run a command that starts a launcher, whose ranks may come to be on other hosts."""

        async def run_here(own: HostCall) -> Answer:
            answer, _ = await self._run_command(own.request, own.invocation)
            return answer

        self._read_settings(request.env)
        call = self._make_host_call(request, invocation)
        if invocation.command.name == "hang":
            return await self._router.jobs.explain_hang(call, run_here)
        if invocation.command.name == "crash":
            return await self._router.jobs.explain_crash(call, run_here)
        if invocation.command.name != "start":
            return await self._router.jobs.compare_ranks(call, run_here)
        timeout = invocation.args.get("timeout")
        seconds = self._settings.timeouts.await_default_secs if timeout is None else timeout
        answer = await self._router.jobs.follow_start(call, seconds, run_here)
        self._router.choose_group(str(getattr(answer, "group", "")))
        return answer

    async def _run_command(
        self, request: CommandRequest, invocation: Invocation
    ) -> tuple[Answer, bool]:
        arguments = invocation.command.bind_arguments(invocation.args)
        if invocation.budget is not None and not _BUDGET_MIN <= invocation.budget <= _BUDGET_MAX:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--budget is {_BUDGET_MIN} to {_BUDGET_MAX} tokens, not {invocation.budget}",
                hint="debugger --budget 500 COMMAND",
            )
        # Where the file is can be told however broken it is.
        if invocation.command.name != "config" or not arguments["path"]:
            self._read_settings(request.env, finds_adapters=not invocation.command.acts_on_program)
        stops: list[bool] = []
        call = self._make_call(request, invocation, stops)
        try:
            self._check_control(call, invocation.command, arguments)
            answer: Answer = await invocation.command.run(call, **arguments)
        except DebuggerError as error:
            named = complete_hint(error, invocation.command.name, arguments, request.argv or ())
            raise self._fit_hint(named, call, invocation.command.name) from error
        self._router.leave(invocation.command.name)
        if isinstance(answer, Sessions):
            at_hosts = HostCall(request, invocation, self._settings)
            answer = await self._router.list_sessions(at_hosts, answer)
        return answer, bool(stops)

    def _check_control(
        self, call: CommandCall, command: Command, arguments: Mapping[str, Any]
    ) -> None:
        """Refuse a command on a program that a person has taken over.

        Of a group each member is checked where the command acts on it.
        """
        if not command.acts_on_program:
            return
        is_all = command.name == "stop" and bool(arguments.get("every"))
        if not is_all and acts_on_members(call, arguments):
            return
        current = call.current_name()
        for one in self._sessions.all_sessions():
            if is_all or one.name == current:
                one.control.check_agent(command.name)

    def _read_settings(self, env: Mapping[str, str], *, finds_adapters: bool = True) -> None:
        settings = config.load_config(env, finds_adapters=finds_adapters)
        if self._is_configured and settings is self._settings:
            return
        # A section that means nothing is an error.
        if not self._is_configured or settings.adapters != self._settings.adapters:
            select_backend.list_adapters(settings.adapters)
        self._settings, self._is_configured = settings, True

    def _make_call(
        self, request: CommandRequest, invocation: Invocation, stops: list[bool]
    ) -> CommandCall:
        return CommandCall(
            sessions=self._sessions,
            config=self._settings,
            cwd=request.cwd,
            env=request.env,
            scratch_root=self._scratch_root,
            session_name=invocation.session
            or request.session
            or request.env.get("DEBUGGER_SESSION")
            or None,
            interrupted=request.interrupted,
            stream=request.stream,
            report_begun=request.report_begun,
            is_json=invocation.is_json,
            stop_daemon=partial(stops.append, True),  # noqa: FBT003 - a mark
            evidence=self._evidence,
            as_text=partial(_saved_text, request.cwd),
        )

    async def serve_editor(
        self, request: CommandRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Hold the conversation with an editor, until it disconnects."""
        invocation = self._parse_request(request)
        self._read_settings(request.env)
        await editor_door.serve_editor(self._make_call(request, invocation, []), reader, writer)

    def _fit_hint(self, error: DebuggerError, call: CommandCall, command: str) -> DebuggerError:
        """Adapt a failure's hint to the session of the command."""
        try:
            return fit_hint(error, call.current_session(), command)
        except DebuggerError:  # there is none
            return error

    def idle_s(self) -> float | None:
        """Return the idle seconds after which to end, by the last command's configuration."""
        return self._settings.daemon.idle_timeout_minutes * 60 if self._is_configured else None

    def has_live_session(self) -> bool:
        """Whether a session lives."""
        return bool(self.live_sessions())

    def live_sessions(self) -> list[dict[str, Any]]:
        """List the sessions that would be lost with the daemon."""
        return [*self._sessions.describe_live(), *self._router.hosts.live_sessions()]

    def describe_sessions(self) -> dict[str, Any]:
        """Describe all sessions, for the daemon of another machine."""
        live = {one["name"]: one for one in self._sessions.describe_live()}
        listed = [
            {"name": one.name, **live.get(one.name, {}), "is_live": one.name in live}
            for one in self._sessions.all_sessions()
        ]
        current = self._sessions.current
        # By its clock the other daemon dates the events of this one.
        return {"sessions": listed, "current": current, "ticks": time.monotonic()}

    def evidence_numbers(self) -> tuple[str, ...]:
        """Return the ids of the stored answers."""
        return self._evidence.answer_ids

    def describe_progress(self, request: CommandRequest) -> str:
        """Describe the request's current work, or else that of the youngest session."""
        activity = self._activities.get(request)
        if activity is not None and (text := activity.describe()):
            return text
        live = [one for one in self._sessions.all_sessions() if one.is_live]
        if not live:
            return ""
        events = live[-1].timeline.cursor()
        so_far = f", {format_count(events, 'event')} so far" if events else ""
        return f"{live[-1].name} is {live[-1].state.value}{so_far}"

    async def close(self) -> None:
        """End all sessions."""
        await asyncio.gather(self._sessions.close_all(), self._router.hosts.close())
        TypedCode(self._scratch_root.parent / TYPED_CODE).remove_all()
        if self._scratch_root.is_dir() and not any(self._scratch_root.iterdir()):
            self._scratch_root.rmdir()


def _build_reply(
    answer: Answer, request: CommandRequest, invocation: Invocation, *, stops_daemon: bool
) -> CommandReply:
    needs_data = invocation.is_json or request.wants_result
    data = to_data(answer, budget=invocation.budget or _JSON_BUDGET) if needs_data else None
    if invocation.is_json:
        shown = _encode_json({"ok": True, "data": data})
    else:
        is_color = invocation.is_color and request.takes_colour
        style = OutputStyle.TERMINAL if request.tty and is_color else OutputStyle.PLAIN
        budget = invocation.budget or _BUDGET
        shown = format_answer(
            answer, budget=budget, style=style, width=request.width, folder=request.cwd
        )
    # Of every answer that has it: the time was up before the question was answered.
    is_running = getattr(answer, "timed_out", False)
    exit_code = ExitCode.STILL_RUNNING if is_running else ExitCode.DONE
    if getattr(answer, "has_failed", False):  # it answers, and what it checked does not hold
        exit_code = ExitCode.FAILED
    return CommandReply(
        result=data if request.wants_result else None,
        text=shown if shown.endswith("\n") or not shown else shown + "\n",
        exit=int(exit_code),
        stop_daemon=stops_daemon,
    )


def _is_about_launcher(invocation: Invocation, cwd: str) -> bool:
    """Return whether a command starts a launcher whose ranks may come to be on other hosts."""
    args = invocation.args
    words: tuple[str, ...] = args.get("words") or ("",)
    if invocation.command.name in _COMPARING and launchers.is_launcher(words[0]):
        # A part of such a question has its name.
        is_whole = bool(args.get("is_group")) and not args.get("part")
        return is_whole and launch_target.find_other_host(words, cwd) is not None
    programs = {"start": args.get("program"), "hang": words[0], "crash": words[0]}
    program = programs.get(invocation.command.name)
    return bool(args.get("is_group")) and launchers.is_launcher(program)


async def _drop_text(_text: str) -> None: ...


def _saved_text(folder: str, answer: Answer, budget: int) -> str:
    return format_answer(
        answer, budget=budget, style=OutputStyle.PLAIN, width=_WIDTH, folder=folder
    )


def _encode_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _error_json(error: DebuggerError) -> str:
    body = {"code": error.code.value, "message": error.message, "hint": error.hint}
    return _encode_json({"ok": False, "error": body}) + "\n"


def build_handler(publish: Publish) -> Handler:
    """Create the daemon's handler."""
    return Dispatcher(publish)
