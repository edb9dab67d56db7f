"""The screen: one session, followed live, and what a person who has taken over does to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.widgets import Footer, OptionList, Static, TabbedContent, TabPane

from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode
from debugger.output.location_text import base_name, escape_text, format_count
from debugger.tui.answer_screen import AnswerScreen, ShownPlace
from debugger.tui.breakpoint_rows import BreakpointRows, place_name
from debugger.tui.console_view import ConsoleView
from debugger.tui.edit_screens import FormScreen, breakpoint_fields
from debugger.tui.group_members import GroupMember
from debugger.tui.group_view import GroupGrid, MergedTree
from debugger.tui.group_watch import GroupWatch, find_group, list_choices
from debugger.tui.history_views import AnswerList, TimelineList
from debugger.tui.output_view import OutputView
from debugger.tui.screen_state import ScreenState
from debugger.tui.session_watch import SessionWatch
from debugger.tui.source_view import SourceView
from debugger.tui.text_screen import KEYS, ChoiceScreen, QuestionScreen, TextScreen
from debugger.tui.trees import StackTree, VariablesTree

_ACTIONS: Final = {"continue": "continue", "over": "next", "into": "stepIn", "out": "stepOut"}
_RUNNING: Final = "the program is running"
# By the number of the key; as on the page, and the breakpoints.
_PANES: Final = (
    *("#stack", "#source", "#variables", "#output", "#answers", "#timeline", "#console"),
    *("#group", "#breakpoints"),
)
_TABS: Final = frozenset(_PANES[3:])
_LARGE: Final = "large"
_QUIET_S: Final = 0.15  # a step that is quicker changes nothing on the screen in between


class TuiApp(App[None]):
    """The terminal's screen of the sessions."""

    TITLE = "debugger"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "tui_app.tcss"
    BINDINGS: ClassVar = [
        Binding("f1,question_mark", "keys", "Keys"),
        Binding("f2,t", "take", "Take/back"),
        Binding("shift+f2,f14,T", "take(True)", "Take all", show=False),
        Binding("f5,c", "act('continue')", "Cont"),
        Binding("f6,p", "act('pause')", "Pause"),
        Binding("C", "act_on_all('continue')", show=False),
        Binding("P", "act_on_all('pause')", show=False),
        Binding("f10,n", "act('over')", "Over"),
        Binding("f11,s", "act('into')", "Into"),
        Binding("shift+f11,f23,f", "act('out')", "Out", key_display="⇧f11"),
        Binding("f9,b", "breakpoint", "Break"),
        Binding("shift+f9,f21,B", "breakpoint_form", show=False),
        Binding("ctrl+shift+f5,ctrl+r", "act('restart')", show=False),
        Binding("w,alt+w", "watch", "Watch"),
        Binding("m", "merge", show=False),
        Binding("f3", "choose", "Sessions"),
        Binding("q,ctrl+c", "quit", "Quit"),
        Binding("alt+0,0", "enlarge", show=False),
        *(Binding(f"alt+{n},{n}", f"pane({n - 1})", show=False) for n in range(1, 10)),
    ]

    def __init__(self, daemon: DaemonClient, session: str | None) -> None:
        super().__init__()
        self.state = ScreenState()
        self.watch_session = SessionWatch(daemon, self._receive, session)
        self._overview: Mapping[str, Any] = {"sessions": [], "groups": [], "evidence": []}
        self._group = GroupWatch(self.watch_session.run_command, self._show_members)
        self._group_states: Mapping[str, str] = {}
        self._is_new_stop = False

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        run_command = self.watch_session.run_command
        yield Static(id="status", markup=False)
        with Horizontal(id="main"):
            yield SourceView(self.watch_session.request, id="source")
            with Vertical(id="side"):
                yield StackTree(self.watch_session.request, id="stack")
                yield MergedTree(id="merged")
                yield VariablesTree(self.watch_session.request, id="variables")
        with TabbedContent(id="below"):
            with TabPane("Output", id="output-tab"):
                yield OutputView(id="output")
            with TabPane("Answers", id="answers-tab"):
                yield AnswerList(id="answers")
            with TabPane("Timeline", id="timeline-tab"):
                yield TimelineList(run_command, self.state.name_member, id="timeline")
            with TabPane("Console", id="console-tab"):
                yield ConsoleView(self._evaluate, id="console")
            with TabPane("Group", id="group-tab"):
                yield GroupGrid(id="group")
            with TabPane("Breakpoints", id="breakpoints-tab"):
                yield BreakpointRows(run_command, id="breakpoints")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin to follow."""
        for name in ("source", "stack", "variables"):
            self.query_one(f"#{name}").border_title = name
        self.query_one(MergedTree).border_title = "stacks of all members"
        self.query_one(MergedTree).display = False
        self.query_one(TabbedContent).hide_tab("group-tab")
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
            "stopped": self._note_stop,
            "continued": self._note_running,
            "breakpoint": self._load_breakpoints,
            "invalidated": self._show_variables_again,
            "terminated": self._show_end,
        }
        if name in receivers:
            with suppress(NoMatches):  # while the screen is taken down
                await receivers[name](body)
                self._show_status()
                if name in {"stopped", "continued", "session", "terminated"}:
                    await self._load_timeline()

    async def _begin(self, body: Mapping[str, Any]) -> None:
        if body["session"] != self.state.session:
            self.query_one(OutputView).clear_lines()
            self.query_one(TimelineList).clear_events()
            self.query_one(SourceView).forget_source()
        self.state.begin(body["session"])
        self._find_group()
        await self._load_breakpoints()

    async def _show_session(self, body: Mapping[str, Any]) -> None:
        had, self.state.about = self.state.acts, body
        if had and not self.state.acts:
            self.notify("handed back: the agent acts")
        if body["state"] == "running" and self.state.group is None:
            self.state.note_running()
            self._show_running()
        self._mark_group()

    async def _note_stop(self, body: Mapping[str, Any]) -> None:
        if self.state.note_stop(body):
            await self._show_stop(body)
        else:
            await self._load_breakpoints()  # their hits
        self._note_group()

    async def _show_stop(self, body: Mapping[str, Any]) -> None:
        self._is_new_stop = True
        own = {"session": self.state.member} if self.state.group else {}
        try:
            threads = (await self.watch_session.request("threads", own))["threads"]
            await self.query_one(StackTree).show_stop(threads, body["threadId"])
        except DebuggerError as error:
            self._show_error(error)
        await self._load_breakpoints()

    async def _note_running(self, body: Mapping[str, Any]) -> None:
        if self.state.note_running(body.get("session")):
            self._show_running()
        self._note_group()

    def _show_running(self) -> None:
        """Show that the program runs, if it still does in a moment: a step is quicker."""

        def clear() -> None:
            if self.state.is_live and self.state.stopped is None:
                self._clear_program(_RUNNING)

        self.set_timer(_QUIET_S, clear)

    async def _show_end(self, body: Mapping[str, Any]) -> None:
        del body
        self.state.note_end()
        self._clear_program("the program has ended")
        self._note_group()

    async def _show_gone(self, body: Mapping[str, Any]) -> None:
        self.state.session = body["session"]
        self.state.problem = escape_text(body["message"])
        self.state.about = None
        self._clear_program(self.state.problem)

    async def _show_lost(self, body: Mapping[str, Any]) -> None:
        del body
        self.state.stops = {}
        if not self.state.is_over:
            self.state.about, self.state.problem = None, "connecting again"

    def _clear_program(self, text: str) -> None:
        self.query_one(SourceView).clear_current()
        self.query_one(StackTree).show_text(text)
        self.query_one(VariablesTree).show_text(text)

    async def _add_output(self, body: Mapping[str, Any]) -> None:
        self.query_one(OutputView).add_output(body["output"], body.get("category"))

    async def _show_overview(self, body: Mapping[str, Any]) -> None:
        self._overview = body
        news = self.query_one(AnswerList).show_answers(body["evidence"])
        if news is not None:
            self.notify(escape_text(news)[:200], markup=False)
        own = next((one for one in body["sessions"] if one["session"] == self.state.session), None)
        # It was started again.
        if own and self.state.is_over and own["state"] not in {"terminated", "idle"}:
            self.state.is_over = False
        self._find_group()

    async def _show_variables_again(self, body: Mapping[str, Any]) -> None:
        del body
        if self.state.stopped is not None:
            await self._attempt(self.query_one(VariablesTree).show_again())

    async def _load_breakpoints(self, body: Mapping[str, Any] | None = None) -> None:
        del body
        await self.query_one(BreakpointRows).load()
        self._mark_breakpoints()

    async def _load_timeline(self) -> None:
        if self.query_one(TabbedContent).active == "timeline-tab":
            await self.query_one(TimelineList).load()

    # -- groups ------------------------------------------------------------------------------------

    def _find_group(self) -> None:
        """Look whether the session is a group's, and what its members do."""
        found = find_group(self._overview, self.state.session)
        self.state.group = found.name if found else None
        if self._group.follow(self.state.group):
            tabs = self.query_one(TabbedContent)
            (tabs.show_tab if found else tabs.hide_tab)("group-tab")
            self._show_merged(is_shown=False)
        if found is None:
            return
        if self.state.note_states(found.states):
            self._clear_program(f"{self.state.label_of(self.state.member)} has ended")
        # A state may have the end in words, so that it never is the same.
        if self._group_states != found.states:
            self._group_states = found.states
            self._note_group()

    def _note_group(self) -> None:
        """Look at the members soon: one of them has stopped, or goes on."""
        if self.state.group is not None:
            self.run_worker(self._group.look())

    async def _show_members(self, members: Sequence[GroupMember]) -> None:
        self.state.labels = {one.session: one.label for one in members}
        title = escape_text(base_name(self.state.group or ""))[:40]
        with suppress(NoMatches):  # while the screen is taken down
            grid = self.query_one(GroupGrid)
            grid.show_members(f"{title}: {format_count(len(members), 'member')}", members)
            self._mark_group()
            self._show_status()
            if self.query_one(MergedTree).display:
                await self._load_merged()

    def _mark_group(self) -> None:
        self.query_one(GroupGrid).mark_members(self.state.member, self.state.held_sessions())

    async def _load_merged(self) -> None:
        tree = self.query_one(MergedTree)
        try:
            found = await self.watch_session.run_command(
                "backtrace", {"group": self.state.group, "by": "line"}
            )
        except DebuggerError as error:
            tree.show_text(error.message)
        else:
            tree.show_stacks(found)

    def _show_merged(self, *, is_shown: bool) -> None:
        self.query_one(MergedTree).display = is_shown
        self.query_one(StackTree).display = not is_shown

    async def action_merge(self) -> None:
        """Show the stacks of all members of a group, or those of the chosen one."""
        if self.state.group is None:
            self.notify("this is no group: debugger start --group PROGRAM")
            return
        tree = self.query_one(MergedTree)
        self._show_merged(is_shown=not tree.display)
        if tree.display:
            await self._load_merged()
            tree.focus()

    @on(GroupGrid.MemberChosen)
    async def show_member(self, event: GroupGrid.MemberChosen) -> None:
        """Show a member of the group, as it is now."""
        self._show_merged(is_shown=False)
        self.state.show_member(event.session)
        if (stop := self.state.stopped) is not None:
            await self._show_stop(stop)
        else:
            does = "running" if self.state.is_running else "not stopped"
            self._clear_program(f"{self.state.label_of(event.session)} is {does}")
        self._mark_group()
        self._show_status()

    @on(MergedTree.BranchChosen)
    async def show_branch(self, event: MergedTree.BranchChosen) -> None:
        """Show the member of a branch, or the line of its members."""
        own = [one for one in self._group.members if one.label in event.members]
        if len(event.members) == 1 and own and own[0].state == "stopped":
            self.query_one(GroupGrid).post_message(GroupGrid.MemberChosen(own[0].session))
        elif event.frame is not None:
            await self._show_place(event.frame["file"], event.frame["line"])

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
            await self.query_one(VariablesTree).show_frame(
                event.frame, is_new_stop=is_new, owner=self.state.member or ""
            )
        except DebuggerError as error:
            self._show_error(error)

    async def _show_place(self, file: str, line: int) -> None:
        await self._show_source({"path": file, "name": file})
        self.query_one(SourceView).show_line(line, is_next=False)

    async def _show_source(self, source: Mapping[str, Any]) -> None:
        await self.query_one(SourceView).show_source(source)
        self._mark_breakpoints()

    def _mark_breakpoints(self) -> None:
        view = self.query_one(SourceView)
        view.set_breakpoints(self.query_one(BreakpointRows).lines_of(view.path))

    def _show_status(self) -> None:
        state = self.state
        name = base_name(state.group) if state.group else state.session
        words = [f" {escape_text(name)[:40]}"] if name else []
        words += [state.describe_program(), state.describe_actor()]
        style = "bold yellow" if state.acts else ""
        text = Text(" · ".join(one for one in words if one), style)
        self.query_one("#status", Static).update(text)
        self.query_one(ConsoleView).set_acting(acts=state.acts)

    def _show_error(self, error: DebuggerError) -> None:
        # What belonged to a stop that is over is no news.
        if "earlier stop" not in error.message and "program is running" not in error.message:
            text = f"{error.message}; {error.hint}" if error.hint else error.message
            self.notify(escape_text(text)[:300], severity="error", markup=False)

    # -- what a person does ------------------------------------------------------------------------

    async def action_take(self, is_all: bool = False) -> None:  # noqa: FBT001, FBT002 - of a key
        """Take over, or hand back: the chosen member of a group alone, or all."""
        state = self.state
        if state.group is None or is_all:
            await self._request("handBack" if state.acts_on_all else "takeOver", {})
        elif state.member is None:
            self.notify("choose a member first (8)")
        elif state.acts_on_all and not state.own_holder:
            self.notify("you act on all: Shift+F2 hands back")
        else:
            is_own = state.held_sessions().get(state.member)
            await self._request("handBack" if is_own else "takeOver", {"session": state.member})

    async def action_quit(self) -> None:
        """Hand back, and leave; the session goes on."""
        if self.state.acts_on_all:
            await self._request("handBack", {})
        for session in [name for name, is_own in self.state.held_sessions().items() if is_own]:
            await self._request("handBack", {"session": session})
        self.exit()

    async def action_act(self, action: str) -> None:
        """Continue, step, pause or restart, if this person acts."""
        if (why := self.state.why_not(action)) is not None:
            if why:
                self.notify(why)
            return
        if action == "restart":
            await self._request("restart", {})
            return
        own = {"session": self.state.member} if self.state.group else {}
        if action == "pause":
            await self._request("pause", {"threadId": 0, **own})
            return
        stop = self.state.stopped or {}
        self.state.is_busy = True
        thread = self.state.thread or stop.get("threadId")
        if await self._resume(_ACTIONS[action], {"threadId": thread}, stop):
            self._show_running()
        else:
            self.state.is_busy = False

    async def _resume(
        self, command: str, arguments: Mapping[str, Any], stop: Mapping[str, Any]
    ) -> bool:
        """Let a process go on from a stop; who has requested it gets no event that it runs."""
        if not await self._request(command, arguments):
            return False
        self.state.forget_stop(stop)
        return True

    async def action_act_on_all(self, action: str) -> None:
        """Continue or pause all members that this person has taken over."""
        state = self.state
        if state.group is None:
            await self.action_act(action)
            return
        if not state.acts_somewhere:
            self.notify("the agent acts: take over first (F2, all: Shift+F2)")
            return
        if action == "continue":
            stops = state.own_stops()
            resumed = (self._resume(action, {"threadId": one["threadId"]}, one) for one in stops)
            await asyncio.gather(*resumed)
            self._show_running()
            self._note_group()
        else:
            some = [{"threadId": 0, "session": one} for one in state.own_running()]
            await asyncio.gather(*(self._request(action, one) for one in some))

    def action_breakpoint(self) -> None:
        """Set or remove the breakpoint at the cursor's line."""
        self.query_one(SourceView).toggle_at_cursor()

    @on(SourceView.Toggled)
    async def toggle_breakpoint(self, event: SourceView.Toggled) -> None:
        """Set or remove a breakpoint."""
        await self._attempt(self.query_one(BreakpointRows).toggle(event.path, event.line))
        await self._load_breakpoints()

    def action_breakpoint_form(self) -> None:
        """Set or change the breakpoint at the cursor's line, with a condition."""
        view = self.query_one(SourceView)
        if view.path is not None and view.line_count:
            line = view.cursor + 1
            known = self.query_one(BreakpointRows).find(view.path, line)
            self._open_breakpoint(known, f"{view.path}:{line}")

    @on(BreakpointRows.Acted)
    async def act_on_breakpoint(self, event: BreakpointRows.Acted) -> None:
        """Switch, change or remove a breakpoint."""
        if event.action == "change":
            self._open_breakpoint(event.known, place_name(event.known))
            return
        await self._attempt(self.query_one(BreakpointRows).act(event.action, event.known))
        await self._load_breakpoints()

    def _open_breakpoint(self, known: Mapping[str, Any] | None, place: str) -> None:
        async def save(fields: list[str]) -> None:
            condition, hits, log = fields
            await self.query_one(BreakpointRows).save(known, place, (condition, hits, log))
            self._mark_breakpoints()

        name = f"Breakpoint {known['id']}" if known else "New breakpoint"
        title = f"{name} at {base_name(place)}"
        self.push_screen(FormScreen(title, breakpoint_fields(known), save))

    @on(OptionList.OptionSelected, "#breakpoints, #timeline")
    async def show_chosen_place(self, event: OptionList.OptionSelected) -> None:
        """Show the source of a breakpoint, or of an event."""
        rows = self.query_one(BreakpointRows).breakpoints
        if event.option_list.id == "timeline":
            rows = self.query_one(TimelineList).events
        one = rows[event.option_index]
        if one.get("file") and one.get("line"):
            await self._show_place(one["file"], one["line"])

    @on(OptionList.OptionSelected, "#answers")
    async def show_answer(self, event: OptionList.OptionSelected) -> None:
        """Show an answer as it was given, with its picture."""
        number = str(event.option_id)
        drawing = None
        try:
            found = await self.watch_session.run_command("evidence_show", {"number": number})
            if found["is_drawn"]:
                width = max(self.size.width * 94 // 100 - 6, 40)
                with suppress(DebuggerError):  # it has nothing to draw: its text says why
                    drawing = await self.watch_session.draw_answer(number, width)
        except DebuggerError as error:
            self._show_error(error)
            return
        screen = AnswerScreen(str(event.option.prompt), found["text"], drawing)
        self.push_screen(screen, self._go_to_place)

    def _go_to_place(self, place: ShownPlace | None) -> None:
        if place is not None:
            self.run_worker(self._show_place(*place))

    @on(VariablesTree.Edited)
    def edit_value(self, event: VariablesTree.Edited) -> None:
        """Ask for a new value, and set it."""
        if (why := self.state.why_not("edit")) is not None:
            self.notify(why)
            return

        async def save(fields: list[str]) -> None:
            arguments = {**event.where, "value": fields[0]}
            await self.watch_session.request(event.request, arguments)
            await self.query_one(VariablesTree).show_again()

        self.push_screen(FormScreen(f"New value of {event.name}", {"": event.value}, save))

    async def _evaluate(self, text: str) -> Mapping[str, Any]:
        """Evaluate what was typed; it may change something only while this person acts."""
        variables = self.query_one(VariablesTree)
        if variables.frame is None:
            raise DebuggerError(ErrorCode.WRONG_STATE, "nothing is stopped here")
        context = "repl" if self.state.acts else "watch"
        arguments = {"expression": text, "frameId": variables.frame["id"], "context": context}
        found = await self.watch_session.request("evaluate", arguments)
        if context == "repl":
            await self._attempt(variables.show_again())
        return found

    def action_choose(self) -> None:
        """Choose the session to follow; a group is one of them."""
        names = list_choices(self._overview)

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
                watched = self.query_one(VariablesTree).watch_expression(expression)
                self.run_worker(self._attempt(watched))

        self.push_screen(QuestionScreen("Watch an expression (again: no longer)"), take)

    def action_keys(self) -> None:
        """Show the keys."""
        self.push_screen(TextScreen("Keys", KEYS))

    def action_enlarge(self) -> None:
        """Give what is below most of the screen, or take it back."""
        self.query_one("#below").toggle_class(_LARGE)

    async def action_pane(self, number: int) -> None:
        """Go to a part of the screen."""
        name = _PANES[number]
        if name == "#group" and self.state.group is None:
            self.notify("this is no group: debugger start --group PROGRAM")
            return
        if name in _TABS:
            self.query_one(TabbedContent).active = f"{name[1:]}-tab"
        if name == "#console":
            self.query_one(ConsoleView).focus_line()
            return
        if name == "#stack" and self.query_one(MergedTree).display:
            name = "#merged"
        self.query_one(name).focus()
        await self._load_timeline()

    async def _request(self, command: str, arguments: Mapping[str, Any]) -> bool:
        return await self._attempt(self.watch_session.request(command, arguments))

    async def _attempt(self, work: Awaitable[Any]) -> bool:
        """Wait for something; a failure is shown, and False returned."""
        try:
            await work
        except DebuggerError as error:
            self._show_error(error)
            return False
        return True
