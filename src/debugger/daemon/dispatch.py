"""How a request becomes a command, and its answer text: parse, bind, run, render."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from debugger import commands, config, paths
from debugger.backends import choose
from debugger.commands.call import Call
from debugger.config import Config
from debugger.core.activity import Activity, begin_activity
from debugger.core.answers import Answer
from debugger.core.command import COMMANDS
from debugger.daemon.handler import Handler, Publish, Reply, Request
from debugger.errors import Code, DebuggerError, Exit
from debugger.questions.evidence import Evidence
from debugger.render import Style, text, to_data
from debugger.session.closing import fit_hint
from debugger.session.sessions import Sessions
from debugger.surface import cli
from debugger.surface.cli import Invocation
from debugger.timeline import Timeline, remove_left

_BUDGET = 1000
_WIDTH = 100
_JSON_BUDGET = 20_000
_BUDGET_MIN, _BUDGET_MAX = 10, 1_000_000


class Dispatcher:
    """The daemon's handler: it owns the sessions (`Handler`)."""

    def __init__(self, publish: Publish) -> None:
        commands.load()
        self._publish = publish
        self._settings = Config()
        self._is_configured = False
        self._sessions = Sessions(on_change=self._changed, timeline=self._timeline)
        self._evidence = Evidence()
        self._activities: WeakKeyDictionary[Request, Activity] = WeakKeyDictionary()
        self._scratch_root = Path(paths.runtime_dir()) / "scratch"
        self._timelines = Path(paths.runtime_dir()) / "timelines"
        remove_left(self._timelines)

    def _changed(self) -> None:
        self._publish(self._sessions.described())

    def _timeline(self) -> Timeline:
        kept = self._settings.output
        return Timeline(
            kept.max_events,
            int(kept.max_bytes_mb * 2**20),
            max_traced=kept.max_traced,
            max_traced_bytes=int(kept.max_traced_mb * 2**20),
            folder=self._timelines,
        )

    async def handle(self, request: Request) -> Reply:
        """Answer a request."""
        wanted = None
        self._activities[request] = activity = Activity()
        begin_activity(activity)
        try:
            wanted = self._wanted(request)
            answer, stops_daemon = await self._run(request, wanted)
        except DebuggerError as error:
            is_json = wanted.is_json if wanted else "--json" in (request.argv or ())
            return Reply.failed(error, text=_error_json(error) if is_json else None)
        return _reply(answer, request, wanted, stops_daemon=stops_daemon)

    def _wanted(self, request: Request) -> Invocation:
        if request.argv is not None:
            return cli.parse(request.argv, COMMANDS)
        if request.command is None:
            raise DebuggerError(Code.USAGE, "neither argv nor command", hint="debugger --help")
        return Invocation(
            command=COMMANDS.get(request.command),
            args=dict(request.args),
            session=request.session,
            is_json=False,
            budget=None,
            is_color=False,
        )

    async def _run(self, request: Request, wanted: Invocation) -> tuple[Answer, bool]:
        arguments = wanted.command.bind(wanted.args)
        if wanted.budget is not None and not _BUDGET_MIN <= wanted.budget <= _BUDGET_MAX:
            raise DebuggerError(
                Code.USAGE,
                f"--budget is {_BUDGET_MIN} to {_BUDGET_MAX} tokens, not {wanted.budget}",
                hint="debugger --budget 500 COMMAND",
            )
        # Where the file is can be told however broken it is.
        if wanted.command.name != "config" or not arguments["path"]:
            self._settings = config.load(request.env)
            self._is_configured = True
            choose.profiles(self._settings.adapters)  # a section that means nothing is an error
        stops: list[bool] = []
        call = Call(
            sessions=self._sessions,
            config=self._settings,
            cwd=request.cwd,
            env=request.env,
            scratch_root=self._scratch_root,
            session_name=wanted.session
            or request.session
            or request.env.get("DEBUGGER_SESSION")
            or None,
            interrupted=request.interrupted,
            stream=request.stream,
            is_json=wanted.is_json,
            stop_daemon=partial(stops.append, True),  # noqa: FBT003 - a mark
            evidence=self._evidence,
            as_text=partial(_kept_text, request.cwd),
        )
        try:
            answer: Answer = await wanted.command.run(call, **arguments)
        except DebuggerError as error:
            raise self._fitted(error, call, wanted.command.name) from error
        return answer, bool(stops)

    def _fitted(self, error: DebuggerError, call: Call, command: str) -> DebuggerError:
        """Make a failure's hint one that helps in the session that the command was for."""
        try:
            return fit_hint(error, self._sessions.get(call.session_name), command)
        except DebuggerError:  # there is none
            return error

    def idle_s(self) -> float | None:
        """After how many idle seconds to end, as the last command's configuration has it."""
        return self._settings.daemon.idle_timeout_minutes * 60 if self._is_configured else None

    def busy(self) -> bool:
        """Whether a session lives."""
        return bool(self._sessions.described())

    def sessions(self) -> list[dict[str, Any]]:
        """List what would be lost with the daemon."""
        return self._sessions.described()

    def evidence(self) -> tuple[str, ...]:
        """Return the numbers of the kept answers."""
        return self._evidence.ids

    def describe_progress(self, request: Request) -> str:
        """Say what the request runs, or else what the youngest session does."""
        activity = self._activities.get(request)
        if activity is not None and (said := activity.describe()):
            return said
        live = [one for one in self._sessions.listed() if one.is_live]
        if not live:
            return ""
        events = live[-1].timeline.cursor()
        so_far = f", {events:,} events so far" if events else ""
        return f"{live[-1].name} is {live[-1].state.value}{so_far}"

    async def close(self) -> None:
        """End all sessions."""
        await self._sessions.close_all()
        if self._scratch_root.is_dir() and not any(self._scratch_root.iterdir()):
            self._scratch_root.rmdir()


def _reply(answer: Answer, request: Request, wanted: Invocation, *, stops_daemon: bool) -> Reply:
    needs_data = wanted.is_json or request.wants_result
    data = to_data(answer, budget=wanted.budget or _JSON_BUDGET) if needs_data else None
    if wanted.is_json:
        shown = _dumps({"ok": True, "data": data})
    else:
        # https://no-color.org: set, and not empty.
        is_color = wanted.is_color and not request.env.get("NO_COLOR")
        style = Style.TERMINAL if request.tty and is_color else Style.PLAIN
        budget = wanted.budget or _BUDGET
        shown = text(answer, budget=budget, style=style, width=request.width, folder=request.cwd)
    # Of every answer that has it: the time was up before the question was answered.
    is_running = getattr(answer, "timed_out", False)
    return Reply(
        result=data if request.wants_result else None,
        text=shown if shown.endswith("\n") or not shown else shown + "\n",
        exit=int(Exit.STILL_RUNNING if is_running else Exit.DONE),
        stop_daemon=stops_daemon,
    )


def _kept_text(folder: str, answer: Answer, budget: int) -> str:
    return text(answer, budget=budget, style=Style.PLAIN, width=_WIDTH, folder=folder)


def _dumps(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _error_json(error: DebuggerError) -> str:
    told = {"code": error.code.value, "message": error.message, "hint": error.hint}
    return _dumps({"ok": False, "error": told}) + "\n"


def build_handler(publish: Publish) -> Handler:
    """Make the daemon's handler."""
    return Dispatcher(publish)
