"""The screen: one session, followed live, and what a person who has taken over does to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.widgets import Footer, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError
from debugger.output.location_text import escape_text
from debugger.tui.output_view import OutputView
from debugger.tui.screen_state import ScreenState
from debugger.tui.session_watch import SessionWatch
from debugger.tui.source_view import SourceView
from debugger.tui.text_screen import KEYS, ChoiceScreen, QuestionScreen, TextScreen
from debugger.tui.trees import StackTree, VariablesTree

_ROWS_MAX: Final = 500  # answers, or breakpoints
_ACTIONS: Final = {"continue": "continue", "over": "next", "into": "stepIn", "out": "stepOut"}
_RUNNING: Final = "the program is running"
_PANES: Final = ("#stack", "#source", "#variables", "#output", "#answers", "#breakpoints")
_TABS: Final = {"#output": "output-tab", "#answers": "answers-tab", "#breakpoints": "places-tab"}


class TuiApp(App[None]):
    """The terminal's screen of the sessions."""

    TITLE = "debugger"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen, SourceView, OutputView, Tree, OptionList { background: $background; }
    #status { height: 1; background: $panel; color: $text; padding: 0 1; }
    #main { height: 1fr; }
    #source { width: 3fr; }
    #source, #stack, #variables {
        border: round $surface-lighten-2; border-title-color: $text-muted;
    }
    #side { width: 2fr; }
    #stack { height: 2fr; }
    #variables { height: 3fr; }
    #below { height: 30%; min-height: 6; }
    #output, #answers, #breakpoints { height: 1fr; border: none; }
    SourceView:focus, Tree:focus { border: round $accent !important; }
    TabPane { padding: 0; }
    Tree { padding: 0; }
    Tree, SourceView, OutputView { scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; }
    """
    BINDINGS: ClassVar = [
        Binding("f2,t", "take", "Take/hand back"),
        Binding("f5,c", "act('continue')", "Continue"),
        Binding("f6,p", "act('pause')", "Pause"),
        Binding("f10,n", "act('over')", "Over"),
        Binding("f11,s", "act('into')", "Into"),
        Binding("shift+f11,f23,f", "act('out')", "Out"),
        Binding("f9,b", "breakpoint", "Breakpoint"),
        Binding("ctrl+shift+f5,ctrl+r", "act('restart')", "Restart", show=False),
        Binding("w", "watch", "Watch"),
        Binding("f3", "choose", "Sessions"),
        Binding("f1,question_mark", "keys", "Keys"),
        Binding("q,ctrl+c", "quit", "Quit"),
        *(Binding(f"alt+{n},{n}", f"pane({n - 1})", show=False) for n in range(1, 7)),
    ]

    def __init__(self, daemon: DaemonClient, session: str | None) -> None:
        super().__init__()
        self.state = ScreenState()
        self.watch_session = SessionWatch(daemon, self._receive, session)
        self._overview: Mapping[str, Any] = {"sessions": [], "evidence": []}
        self._places: list[dict[str, Any]] = []
        self._is_new_stop = False
        self._source_name: str | None = None  # the path or reference of the file that is shown

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static(id="status", markup=False)
        with Horizontal(id="main"):
            yield SourceView(id="source")
            with Vertical(id="side"):
                yield StackTree(self.watch_session.request, id="stack")
                yield VariablesTree(self.watch_session.request, id="variables")
        with TabbedContent(id="below"):
            with TabPane("Output", id="output-tab"):
                yield OutputView(id="output")
            with TabPane("Answers", id="answers-tab"):
                yield OptionList(id="answers", markup=False)
            with TabPane("Breakpoints", id="places-tab"):
                yield OptionList(id="breakpoints", markup=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin to follow."""
        for name, title in (("source", "source"), ("stack", "stack"), ("variables", "variables")):
            self.query_one(f"#{name}").border_title = title
        self._show_status()
        self.run_worker(self.watch_session.run(), exit_on_error=True)
        self.query_one(SourceView).focus()

    # -- what happens ------------------------------------------------------------------------------

    async def _receive(self, name: str, body: Mapping[str, Any]) -> None:
        receivers: dict[str, Callable[[Mapping[str, Any]], Awaitable[None]]] = {
            "overview": self._show_overview,
            "joined": self._begin,
            "gone": self._show_gone,
            "lost": self._show_lost,
            "session": self._show_session,
            "output": self._add_output,
            "stopped": self._show_stop,
            "continued": self._show_running,
            "breakpoint": self._load_places,
            "terminated": self._show_end,
        }
        if name in receivers:
            with suppress(NoMatches):  # while the screen is taken down
                await receivers[name](body)
                self._show_status()

    async def _begin(self, body: Mapping[str, Any]) -> None:
        if body["session"] != self.state.session:
            self.query_one(OutputView).clear_lines()
            self._source_name = None
        self.state.begin(body["session"])
        await self._load_places()

    async def _show_session(self, body: Mapping[str, Any]) -> None:
        had, self.state.about = self.state.acts, body
        if had and not body.get("holder"):
            self.notify("handed back: the agent acts")
        if body["state"] == "running":
            await self._show_running(body)

    async def _show_stop(self, body: Mapping[str, Any]) -> None:
        self.state.note_stop(body)
        self._is_new_stop = True
        try:
            threads = (await self.watch_session.request("threads", {}))["threads"]
            await self.query_one(StackTree).show_stop(threads, body["threadId"])
        except DebuggerError as error:
            self._show_error(error)
        await self._load_places()

    async def _show_running(self, body: Mapping[str, Any]) -> None:
        del body
        self.state.note_running()
        self.query_one(SourceView).clear_current()
        self.query_one(StackTree).show_text(_RUNNING)
        self.query_one(VariablesTree).show_text(_RUNNING)

    async def _show_end(self, body: Mapping[str, Any]) -> None:
        del body
        self.state.note_end()
        self._clear_program("the program has ended")

    async def _show_gone(self, body: Mapping[str, Any]) -> None:
        self.state.session = body["session"]
        self.state.problem = escape_text(body["message"])
        self.state.about = None
        self._clear_program(self.state.problem)

    async def _show_lost(self, body: Mapping[str, Any]) -> None:
        del body
        self.state.stopped = None
        if not self.state.is_over:
            self.state.about, self.state.problem = None, "connecting again"

    def _clear_program(self, text: str) -> None:
        self.query_one(SourceView).clear_current()
        self.query_one(StackTree).show_text(text)
        self.query_one(VariablesTree).show_text(text)

    async def _add_output(self, body: Mapping[str, Any]) -> None:
        is_error = body.get("category") == "stderr"
        self.query_one(OutputView).add_output(body["output"], is_error=is_error)

    async def _show_overview(self, body: Mapping[str, Any]) -> None:
        known = len(self._overview["evidence"])
        self._overview = body
        answers = body["evidence"][-_ROWS_MAX:]
        if known and len(body["evidence"]) > known:
            last = answers[-1]
            self.notify(escape_text(f"{last['id']}: {last['summary']}")[:200], markup=False)
        listed = self.query_one("#answers", OptionList)
        listed.clear_options()
        for one in reversed(answers):
            command = one["command"].removeprefix("debugger ")
            text = escape_text(f"{one['id']}  {command}  {one['summary']}")[:300]
            listed.add_option(Option(text, id=str(one["id"])))
        own = next((one for one in body["sessions"] if one["session"] == self.state.session), None)
        # It was started again.
        if own and self.state.is_over and own["state"] not in {"terminated", "idle"}:
            self.state.is_over = False

    async def _load_places(self, body: Mapping[str, Any] | None = None) -> None:
        del body
        try:
            found = await self.watch_session.run_command("breakpoint_list", {})
        except DebuggerError:
            found = {"breakpoints": []}
        self._places = found["breakpoints"]
        listed = self.query_one("#breakpoints", OptionList)
        listed.clear_options()
        listed.add_options(
            [Option(_place_text(one), id=str(one["id"])) for one in self._places[:_ROWS_MAX]]
        )
        self._mark_places()

    # -- what is shown -----------------------------------------------------------------------------

    @on(StackTree.Chosen)
    async def show_frame(self, event: StackTree.Chosen) -> None:
        """Show a frame's source and variables."""
        self.state.thread = event.thread
        is_new, self._is_new_stop = self._is_new_stop, False
        source = event.frame.get("source") or {}
        view = self.query_one(SourceView)
        try:
            await self._show_source(source)
            if view.path is not None:
                view.show_line(event.frame["line"], is_next=event.is_top)
            await self.query_one(VariablesTree).show_frame(event.frame, is_new_stop=is_new)
        except DebuggerError as error:
            self._show_error(error)

    async def _show_source(self, source: Mapping[str, Any]) -> None:
        view = self.query_one(SourceView)
        if not source:
            self._source_name = None
            view.show_problem("no source here")
            return
        reference = source.get("sourceReference") or 0
        name = source.get("path") or f"{source.get('name')}#{reference}"
        if name != self._source_name:
            arguments = {"sourceReference": reference, "source": source}
            try:
                text = (await self.watch_session.request("source", arguments))["content"]
            except DebuggerError as error:
                self._source_name = None
                view.show_problem(escape_text(error.message))
                return
            self._source_name = name
            view.show_file(name, text)
            view.border_title = escape_text(name)[-80:]
        self._mark_places()

    def _mark_places(self) -> None:
        view = self.query_one(SourceView)
        view.set_breakpoints(
            {
                one["line"]: one["enabled"]
                for one in self._places
                if one.get("file") == view.path and one.get("line")
            }
        )

    def _show_status(self) -> None:
        state = self.state
        words = [f" {escape_text(state.session)[:40]}"] if state.session else []
        words += [state.describe_program(), state.describe_actor()]
        style = "bold yellow" if state.acts else ""
        text = Text(" · ".join(one for one in words if one), style)
        self.query_one("#status", Static).update(text)

    def _show_error(self, error: DebuggerError) -> None:
        # What belonged to a stop that is over is no news.
        if "earlier stop" not in error.message and "program is running" not in error.message:
            text = f"{error.message}; {error.hint}" if error.hint else error.message
            self.notify(escape_text(text)[:300], severity="error", markup=False)

    # -- what a person does ------------------------------------------------------------------------

    async def action_take(self) -> None:
        """Take over, or hand back."""
        await self._attempt("handBack" if self.state.acts else "takeOver", {})

    async def action_quit(self) -> None:
        """Hand back, and leave; the session goes on."""
        if self.state.acts:
            await self._attempt("handBack", {})
        self.exit()

    async def action_act(self, action: str) -> None:
        """Continue, step, pause or restart, if this person acts."""
        why = self.state.why_not(action)
        if why is not None:
            if why:
                self.notify(why)
            return
        if action in {"pause", "restart"}:
            await self._attempt(action, {"threadId": 0} if action == "pause" else {})
            return
        stop = self.state.stopped or {}
        self.state.is_busy = True
        thread = self.state.thread or stop.get("threadId")
        if not await self._attempt(_ACTIONS[action], {"threadId": thread}):
            self.state.is_busy = False

    def action_breakpoint(self) -> None:
        """Set or remove the breakpoint at the cursor's line."""
        self.query_one(SourceView).toggle_at_cursor()

    @on(SourceView.Toggled)
    async def toggle_place(self, event: SourceView.Toggled) -> None:
        """Set or remove a breakpoint."""
        known = [
            one["id"]
            for one in self._places
            if one.get("file") == event.path and one.get("line") == event.line
        ]
        try:
            if known:
                await self.watch_session.run_command("breakpoint_remove", {"ids": known})
            else:
                place = f"{event.path}:{event.line}"
                await self.watch_session.run_command("breakpoint_add", {"place": place})
        except DebuggerError as error:
            self._show_error(error)
        await self._load_places()

    @on(OptionList.OptionSelected, "#answers")
    async def show_answer(self, event: OptionList.OptionSelected) -> None:
        """Show an answer as it was given."""
        try:
            found = await self.watch_session.run_command(
                "evidence_show", {"number": event.option_id}
            )
        except DebuggerError as error:
            self._show_error(error)
            return
        self.push_screen(TextScreen(str(event.option.prompt), found["text"]))

    @on(OptionList.OptionSelected, "#breakpoints")
    async def show_place(self, event: OptionList.OptionSelected) -> None:
        """Show the source of a breakpoint."""
        one = next((one for one in self._places if str(one["id"]) == event.option_id), None)
        if one and one.get("file"):
            await self._show_source({"path": one["file"], "name": one["file"]})
            self.query_one(SourceView).show_line(one["line"], is_next=False)

    def action_choose(self) -> None:
        """Choose the session to follow."""
        names = [str(one["session"]) for one in self._overview["sessions"]]

        def take(name: str | None) -> None:
            if name is not None:
                self.run_worker(self.watch_session.choose(name))

        if names:
            self.push_screen(ChoiceScreen("Sessions", names), take)
        else:
            self.notify("no session yet: debugger start PROGRAM")

    def action_watch(self) -> None:
        """Ask for an expression to watch, or to watch no longer."""

        def take(expression: str | None) -> None:
            if expression:
                self.run_worker(self._watch_expression(expression))

        self.push_screen(QuestionScreen("Watch an expression (again: no longer)"), take)

    async def _watch_expression(self, expression: str) -> None:
        try:
            await self.query_one(VariablesTree).watch_expression(expression)
        except DebuggerError as error:
            self._show_error(error)

    def action_keys(self) -> None:
        """Show the keys."""
        self.push_screen(TextScreen("Keys", KEYS))

    def action_pane(self, number: int) -> None:
        """Go to a part of the screen."""
        name = _PANES[number]
        if name in _TABS:
            self.query_one(TabbedContent).active = _TABS[name]
        self.query_one(name).focus()

    async def _attempt(self, command: str, arguments: Mapping[str, Any]) -> bool:
        try:
            await self.watch_session.request(command, arguments)
        except DebuggerError as error:
            self._show_error(error)
            return False
        return True


def _place_text(one: Mapping[str, Any]) -> str:
    place = f"{one['file']}:{one.get('line')}" if one.get("file") else one.get("function") or "?"
    more = [
        f"if {one['condition']}" if one.get("condition") else "",
        f"logs {one['log']}" if one.get("log") else "",
        f"{one['hits']} hits" if one.get("hits") else "",
        "" if one.get("enabled") else "off",
        "" if one.get("verified") else "not bound",
    ]
    return escape_text(f"{one['id']}  {place}  {', '.join(each for each in more if each)}")[:300]
