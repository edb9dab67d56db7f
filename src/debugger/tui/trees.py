"""Shows threads with their frames, and variables with their children, loaded when expanded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from debugger.errors import DebuggerError
from debugger.output.location_text import escape_text
from debugger.tui.session_watch import Request

_FRAMES: Final = 200  # of one thread
_CHILDREN: Final = 500  # of one value; then a row that loads more
_THREADS: Final = 500
_NAME_MAX: Final = 200  # characters
_VALUE_MAX: Final = 500
_WATCHES_MAX: Final = 20
_WATCHED: Final = "watched"  # in the paths of watched expressions
_EXPANDED_MAX: Final = 50  # values that are expanded again at the next stop
_REMEMBERED_MAX: Final = 20_000  # values that are compared with those of the next stop


def _plain(text: object, most: int) -> str:
    return escape_text(str(text))[:most]


class StackTree(Tree[dict[str, Any]]):
    """Threads, the stopped one first, with their frames; `Chosen` tells of a frame."""

    class Chosen(Message):
        """A frame was chosen."""

        def __init__(self, frame: dict[str, Any], thread: int, *, is_top: bool) -> None:
            super().__init__()
            self.frame = frame
            self.thread = thread
            self.is_top = is_top

    def __init__(self, request: Request, **options: Any) -> None:
        super().__init__("threads", **options)
        self._request = request
        self.show_root = False
        self.guide_depth = 2

    def show_text(self, text: str) -> None:
        """Show one line in place of threads."""
        self.clear()
        self.root.add_leaf(Text(text, style="bright_black"))

    async def show_stop(self, threads: list[dict[str, Any]], stopped: int) -> None:
        """Show the threads of a stop, and choose the frame where it stopped.

        Raises:
            DebuggerError: What the request for the frames raises.
        """
        frames = await self._load_frames(stopped)
        self.clear()
        ordered = sorted(threads[:_THREADS], key=lambda one: one["id"] != stopped)
        for one in ordered:
            is_stopped = one["id"] == stopped
            label = Text(_plain(one["name"], _NAME_MAX))
            if is_stopped:
                label.append(" stopped here", "bright_black")
            node = self.root.add(label, data={"thread": one["id"]}, expand=is_stopped)
            if is_stopped:
                self._add_frames(node, frames)
        self.root.expand()
        if len(threads) > _THREADS:
            self.root.add_leaf(Text(f"… {len(threads) - _THREADS} more", "bright_black"))
        if frames:
            self._choose(self.root.children[0].children[0])

    async def _load_frames(self, thread: int) -> list[dict[str, Any]]:
        arguments = {"threadId": thread, "levels": _FRAMES}
        found: list[dict[str, Any]] = (await self._request("stackTrace", arguments))["stackFrames"]
        return found

    def _add_frames(self, node: TreeNode[dict[str, Any]], frames: list[dict[str, Any]]) -> None:
        thread = (node.data or {})["thread"]
        for number, frame in enumerate(frames):
            is_subtle = frame.get("presentationHint") == "subtle"
            label = Text(_plain(frame["name"], _NAME_MAX), "bright_black" if is_subtle else "")
            source = frame.get("source") or {}
            if source.get("name"):
                label.append(f" {_plain(source['name'], 100)}:{frame['line']}", "bright_black")
            node.add_leaf(label, data={"frame": frame, "thread": thread, "number": number})

    async def on_tree_node_expanded(self, event: Tree.NodeExpanded[dict[str, Any]]) -> None:
        """Load the frames of a thread."""
        node = event.node
        if node.data and "frame" not in node.data and not node.children:
            try:
                self._add_frames(node, await self._load_frames(node.data["thread"]))
            except DebuggerError as error:
                node.add_leaf(Text(_plain(error.message, _VALUE_MAX), "red"))

    def on_tree_node_selected(self, event: Tree.NodeSelected[dict[str, Any]]) -> None:
        """Choose a frame."""
        self._choose(event.node)

    def _choose(self, node: TreeNode[dict[str, Any]]) -> None:
        data = node.data or {}
        if "frame" in data:
            # The line of a new node is known only after the tree was laid out.
            self.call_after_refresh(self.move_cursor, node)
            is_top = data["number"] == 0
            self.post_message(self.Chosen(data["frame"], data["thread"], is_top=is_top))


class VariablesTree(Tree[dict[str, Any]]):
    """The variables of a frame by scope; those that changed since the stop before are marked.

    `Edited` asks for a new value of the variable at the cursor.
    """

    BINDINGS: ClassVar = [
        Binding("e", "edit", "Set value"),
        Binding("delete", "unwatch", show=False),
    ]

    class Edited(Message):
        """A value is to be set."""

        def __init__(self, name: str, value: str, request: str, where: dict[str, Any]) -> None:
            super().__init__()
            self.name = name
            self.value = value
            self.request = request  # that sets it, with these arguments beside the value
            self.where = where

    def __init__(self, request: Request, **options: Any) -> None:
        super().__init__("variables", **options)
        self._request = request
        self.show_root = False
        self.guide_depth = 2
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}
        self._expanded: set[str] = set()
        self._watches: list[str] = []
        self._frame: Mapping[str, Any] | None = None
        self._owner = ""

    async def watch_expression(self, expression: str) -> None:
        """Evaluate an expression from now on at each stop; no longer, if it is watched already.

        Raises:
            DebuggerError: What showing the frame raises.
        """
        if expression in self._watches:
            self._watches.remove(expression)
        else:
            self._watches = [*self._watches, expression][-_WATCHES_MAX:]
        await self.show_again()

    async def show_again(self) -> None:
        """Show the frame's variables as they are now.

        Raises:
            DebuggerError: What showing the frame raises.
        """
        if self._frame is not None:
            await self.show_frame(self._frame, is_new_stop=False)

    @property
    def frame(self) -> Mapping[str, Any] | None:
        """The frame whose variables are shown."""
        return self._frame

    def action_edit(self) -> None:
        """Ask for a new value of the variable at the cursor."""
        data = (self.cursor_node.data if self.cursor_node else None) or {}
        if "setter" in data:
            self.post_message(self.Edited(data["name"], data["value"], *data["setter"]))

    async def action_unwatch(self) -> None:
        """Watch the expression at the cursor no longer."""
        data = (self.cursor_node.data if self.cursor_node else None) or {}
        if data.get("name") in self._watches and f"/{_WATCHED}/" in data.get("path", ""):
            self._watches.remove(data["name"])
            await self.show_again()

    def show_text(self, text: str) -> None:
        """Show one line in place of variables."""
        self._frame = None
        self.clear()
        self.root.add_leaf(Text(text, style="bright_black"))

    async def show_frame(
        self, frame: Mapping[str, Any], *, is_new_stop: bool, owner: str | None = None
    ) -> None:
        """Show a frame's variables.

        Args:
            frame: The frame.
            is_new_stop: Its values are compared with those of the stop before.
            owner: The process; the values of one are not those of another.

        Raises:
            DebuggerError: What the requests raise.
        """
        self._owner = owner if owner is not None else self._owner
        if is_new_stop:
            # What other processes had is kept: they may be shown again.
            self._before = {**self._before, **self._now}
            if len(self._before) > _REMEMBERED_MAX:
                self._before = self._now
            self._now = {}
        self._frame = frame
        watched = [await self._evaluate(one, frame["id"]) for one in self._watches]
        scopes = (await self._request("scopes", {"frameId": frame["id"]}))["scopes"]
        self.clear()
        for one in watched:
            where = {"expression": one["name"], "frameId": frame["id"]}
            setter = None if one.get("isProblem") else ("setExpression", where)
            await self._add_variable(
                self.root, one, f"{self._owner}/{_WATCHED}/{one['name']}", setter
            )
        for scope in scopes:
            path = f"{self._owner}/{frame['name']}/{scope['name']}"
            data = {"reference": scope["variablesReference"], "path": path}
            node = self.root.add(Text(_plain(scope["name"], _NAME_MAX), "bold"), data=data)
            if not scope.get("expensive"):
                await self._load(node)
                node.expand()
        self.root.expand()

    async def _evaluate(self, expression: str, frame: int) -> dict[str, Any]:
        arguments = {"expression": expression, "frameId": frame, "context": "watch"}
        try:
            found = await self._request("evaluate", arguments)
        except DebuggerError as error:
            return {"name": expression, "value": f"({error.message})", "isProblem": True}
        return {**found, "name": expression, "value": found["result"]}

    async def on_tree_node_expanded(self, event: Tree.NodeExpanded[dict[str, Any]]) -> None:
        """Load the children of a value."""
        node = event.node
        if node.data and not node.data.get("loaded"):
            self._remember(node)
            try:
                await self._load(node)
            except DebuggerError as error:
                node.add_leaf(Text(_plain(error.message, _VALUE_MAX), "red"))

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[dict[str, Any]]) -> None:
        """Leave a value closed at the next stop."""
        self._expanded.discard((event.node.data or {}).get("path", ""))

    async def on_tree_node_selected(self, event: Tree.NodeSelected[dict[str, Any]]) -> None:
        """Load more children."""
        node, parent = event.node, event.node.parent
        if parent is not None and node.data and "start" in node.data:
            start = node.data["start"]
            node.remove()
            await self._load(parent, start)

    def _remember(self, node: TreeNode[dict[str, Any]]) -> None:
        if len(self._expanded) < _EXPANDED_MAX and node.data:
            self._expanded.add(node.data["path"])

    async def _load(self, node: TreeNode[dict[str, Any]], start: int = 0) -> None:
        data = node.data or {}
        data["loaded"] = True
        arguments = {
            "variablesReference": data["reference"],
            "start": start,
            "count": _CHILDREN,
        }
        found = (await self._request("variables", arguments))["variables"]
        for one in found[:_CHILDREN]:
            where = {"variablesReference": data["reference"], "name": one["name"]}
            path = f"{data['path']}/{one['name']}"
            await self._add_variable(node, one, path, ("setVariable", where))
        end = start + len(found[:_CHILDREN])
        # Some adapters send fewer than were requested (debugpy at most 100).
        if found and (end < data.get("total", 0) or len(found) >= _CHILDREN):
            more = Text("… more: Enter", "bright_black")
            node.add_leaf(more, data={"start": end, "path": "", "loaded": True})

    async def _add_variable(
        self,
        parent: TreeNode[dict[str, Any]],
        one: Mapping[str, Any],
        path: str,
        setter: tuple[str, dict[str, Any]] | None,
    ) -> None:
        value = _plain(one["value"], _VALUE_MAX)
        if len(self._now) < _REMEMBERED_MAX:
            self._now[path] = value
        is_changed = path in self._before and self._before[path] != value
        label = Text(_plain(one["name"], _NAME_MAX))
        label.append(" = ", "bright_black")
        label.append(value, "bold yellow" if is_changed else "cyan")
        data: dict[str, Any] = {"name": one["name"], "value": one["value"], "path": path}
        if setter is not None:
            data["setter"] = setter
        if not one.get("variablesReference"):
            parent.add_leaf(label, data={**data, "loaded": True})
            return
        total = one.get("indexedVariables", 0) + one.get("namedVariables", 0)
        data |= {"reference": one["variablesReference"], "total": total}
        node = parent.add(label, data=data)
        if path in self._expanded:
            await self._load(node)
            node.expand()
