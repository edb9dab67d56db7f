"""Stores the links of what a finished statement wrote: names, fields, items."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MERGING = frozenset({"extend", "update"})
_UPDATED = frozenset({"dict", "OrderedDict", "defaultdict"})
_ELEMENTS = 500  # of a new container
_FOR = (ast.For, ast.AsyncFor)
_WITH = (ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class StatementWrites:
    """Stores the writes of statements."""

    def __init__(self, reader: Any, links: Any, plans: Any, inputs: Any, items: Any) -> None:
        self._reader = reader
        self._items = items
        self._moves = items.moves
        self._copies = links.CopiedItems(reader, links, plans, items)
        self._parts = plans
        self._links = links
        self._plans = plans
        self._inputs = inputs
        self._missing = links.MISSING

    def prepare(self, plan: Any, scope: Any) -> None:
        """Read what a statement reads, before it runs."""
        reader = self._reader
        for node in plan.files:
            text = self._inputs.before_call(node, scope, reader)
            if text:
                scope.files[id(node)] = text
            elif isinstance(node.func, ast.Attribute):
                position = reader.buffers.position(reader.read(node.func.value, scope))
                scope.positions[id(node)] = position
        if isinstance(plan.node, _FOR):
            # The loop begins at its first instruction, and each further round behind it.
            first = scope.loop_starts.setdefault(id(plan.node), scope.lasti)
            if scope.lasti <= first:
                scope.loops[id(plan.node)] = 0
        reader.joins.note_target(plan.node, scope)
        for node in plan.loads:
            scope.loaded[id(node)] = reader.load(node, scope)
        for node in plan.targets:
            scope.bases[id(node)] = reader.read(node.value, scope)
            if isinstance(node, ast.Subscript):
                key = scope.keys[id(node)] = reader.read(node.slice, scope)
                base = scope.bases[id(node)]
                if key is self._missing and type(base) is dict:
                    scope.sizes[id(node)] = len(base)
        reader.removals.prepare(plan, scope)

    def finish(self, plan: Any, scope: Any, following: int) -> None:
        """Store the writes of a statement that has run, before the following line."""
        scope.line = plan.line
        if plan.calls:
            self._moves.before_stores(plan, scope)
        self._finish_calls(plan, scope)
        if plan.stores:
            for node in plan.targets:
                self._find_new_key(node, scope)
            if self._has_bound(plan.node, following):
                self._finish_assignment(plan.node, scope)
            for one in plan.bound:
                self._bind(one.target, one.value, scope)
        if plan.calls or plan.targets:
            self._moves.after_stores(plan, scope)
        if plan.removing:
            self._reader.removals.finish(plan, scope)
        self._reader.used.note_uses(plan, scope)

    def _has_bound(self, node: Any, following: int) -> bool:
        """Return whether a statement has assigned, by the line that follows: a loop, or a case."""
        if isinstance(node, self._plans.CaseBinding):
            return following in node.body_lines
        return not isinstance(node, _FOR) or bool(_goes_on(node, following))

    def _finish_calls(self, plan: Any, scope: Any) -> None:
        for call in plan.calls:
            if scope.positions.get(id(call), -1) >= 0 and call.func.attr == "write" and call.args:
                self._store_written(call, scope)
            elif isinstance(call.func, ast.Attribute) and call.func.attr == "__setattr__":
                self._finish_setattr(call, scope)
            elif isinstance(call.func, ast.Attribute):
                self._reader.joins.note_filled(call, self._inputs, scope)
                self._finish_method(call, scope)
            elif isinstance(call.func, ast.Name) and call.func.id == "setattr":
                self._finish_setattr(call, scope)
            pushed = self._items.find_set(call, scope) or self._items.find_pushed(call, scope)
            if pushed is not None:
                self._store_item(call, pushed, scope)

    def _find_new_key(self, node: Any, scope: Any) -> None:
        """Take the key of a dictionary's new item where its expression cannot be read."""
        size = scope.sizes.get(id(node))
        base = scope.bases.get(id(node))
        if size is not None and type(base) is dict and len(base) == size + 1:
            scope.keys[id(node)] = next(reversed(base))

    def _finish_assignment(self, node: Any, scope: Any) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, node.value, scope)
        elif isinstance(node, ast.AugAssign):
            self._bind_changed(node, scope)
        elif isinstance(node, _FOR):
            self._bind_element(node, scope)
        elif isinstance(node, _WITH):
            for item in node.items:
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, item.context_expr, scope)
        else:
            self._bind_definition(node, scope)

    # -- assignments -------------------------------------------------------------------------------

    def _bind(self, target: Any, source: Any, scope: Any) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            self._bind_parts(target, source, scope)
            return
        value = self._target_value(target, scope)
        snap = self._links.snap_value(value) if value is not self._missing else value
        scope.value = value
        how, sources = self._reader.origin(source, scope, snap)
        self._put(target, how, sources, value, scope)
        self._put_by_snap(target, source, (how, sources), scope)
        if value is not self._missing:
            self.note_container(source, how, sources, value, scope)

    def note_container(self, source: Any, how: str, sources: Any, value: Any, scope: Any) -> None:
        """Store where the items of a new container come from."""
        if how == "new" and not isinstance(source, ast.Call):
            if self._plans.is_comprehension(source):
                self._copies.note_results(value, sources, scope)
                self._items.note_new(source, value, scope)
            elif self._missing is not value:
                self._reader.store.forget(value)
                self._items.note_new(source, value, scope)
        elif how in ("library", "drawn"):
            self._reader.buffers.add_content(source, value, sources)
            self._items.merges.note_fields(source, value, scope)
            self._copies.note_equal_items(value, sources, scope)
            self._reader.joins.note_fields(source, value, scope)
        elif how == "copy" and isinstance(getattr(source, "slice", None), ast.Slice):
            self._items.note_slice(source, sources, value, scope)
        elif how == "computed" and isinstance(source, ast.BinOp):
            self._items.note_new(source, value, scope)
        elif how == "copied":
            self._copies.note_copied(source, sources, value, scope)

    def _bind_parts(self, target: Any, source: Any, scope: Any) -> None:
        """Bind the parts of an unpacked value."""
        if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(target.elts):
            for one, value in zip(target.elts, source.elts):  # noqa: B905 - of Python 3.8, too
                self._bind(one, value, scope)
            return
        values = [self._target_value(one, scope) for one in target.elts]
        snaps = [one if one is self._missing else self._links.snap_value(one) for one in values]
        links = self._items.find_taken_parts(source, scope, snaps) or [None] * len(snaps)
        how, sources = self._reader.origin(source, scope, self._missing)
        for at, one in enumerate(target.elts):
            if values[at] is not self._missing and links[at] is not None:
                operand = self._links.ValueOperandLink(source, links[at], snaps[at])
                self._put(one, "copy", (operand,), values[at], scope)
        known = {(at,) for at, link in enumerate(links) if link is not None}
        for one, path in self._plans.flatten_target(target):
            value = self._target_value(one, scope)
            if value is not self._missing and path not in known:
                field = self._reader.joins.find_field(source, path[0], scope)
                found = self._part_origin(path, how, sources, value, scope)
                found = ("copy", (field,)) if field is not None else found
                scope.pieces = ()
                self._put(one, *found, value, scope)
        self._bind_rest(target, how, sources, scope)

    def _bind_rest(self, target: Any, how: str, sources: Any, scope: Any) -> None:
        """Bind the name with a star, whose list has the remaining parts."""
        for at, one in enumerate(target.elts):
            if not isinstance(one, ast.Starred):
                continue
            value = self._target_value(one.value, scope)
            if type(value) is not list:
                return
            self._reader.store.forget(value)
            for place, part in enumerate(value[:_ELEMENTS]):
                origin = self._part_origin((at + place,), how, sources, part, scope)
                snap = self._links.snap_value(part)
                link = scope.new_link("item", f"[{place}]", *origin, snap)
                self._reader.store.put(value, f"[{place}]", link)
            self._put(one.value, "copied", sources, value, scope)

    def _part_origin(
        self, path: tuple[int, ...], how: str, sources: Any, value: Any, scope: Any
    ) -> tuple[str, tuple[Any, ...]]:
        """Return the origin of a part of a value: its item's link, or else the whole's."""
        snap = self._links.snap_value(value)
        keys = tuple(f"[{at}]" for at in path)
        for one in sources:
            link, depth = self._reader.store.find_part(one.value, keys)
            if depth == len(keys) and self._links.is_same(link.value, snap):
                return "copy", (self._links.ValueOperandLink(one.node, link, snap),)
            if link is not None and depth < len(keys):
                keys = keys[depth:]
                sources = (self._links.ValueOperandLink(one.node, link, link.value),)
                break
        if how in ("input", "constant", "library", "drawn") or len(sources) != 1:
            return how, sources
        link = scope.new_link("part", "".join(keys), "part", sources, snap)
        link.is_inferred = True
        return "copy", (self._links.ValueOperandLink(None, link, snap),)

    def _bind_changed(self, node: Any, scope: Any) -> None:
        """Bind the target of `x += y`, which reads both."""
        value = self._target_value(node.target, scope)
        before = self._operand_before(node.target, scope)
        added = tuple(self._reader.leaves(node.value, scope))
        if isinstance(node.op, ast.BitOr) and isinstance(value, dict):
            self._items.merges.note_joined(node.value, value, scope)
        if type(value) is list and id(node) in scope.sizes:
            self._store_added(node, node.value, value, scope.sizes[id(node)], scope)
        pieces = self._reader.joins.find_added(node, before, value, scope)
        scope.note, scope.pieces = "", pieces
        link = self._put(node.target, "computed", (*before, *added), value, scope)
        if pieces and link is not None:
            self._reader.joins.put_content(value, link)

    def _operand_before(self, target: Any, scope: Any) -> tuple[Any, ...]:
        made = self._links.ValueOperandLink
        if isinstance(target, ast.Name):
            found = scope.loaded.get(id(target))
            return (found,) if found is not None and found.link is not None else ()
        base = scope.bases.get(id(target), self._missing)
        if base is self._missing:
            return ()
        link = self._reader.store.last_key(base, self._key_of(target, base, scope))
        if link is None:  # a value that `__missing__`, a factory or a getter of the program's made
            link = scope.returned(target, "")
        return (made(target, link, link.value),) if link is not None else ()

    def _bind_element(self, node: Any, scope: Any) -> None:
        """Bind the target of a loop to the element of this round."""
        scope.begin_round(node)
        is_pair = isinstance(node.target, (ast.Tuple, ast.List))
        scope.loop_key = self._target_value(node.target.elts[0] if is_pair else None, scope)
        holder = self._reader.read(node.iter, scope)
        file = ""
        if holder is not self._missing:
            file = self._inputs.describe_file(holder, is_read=False)
        for target, path in self._plans.flatten_target(node.target):
            value = self._target_value(target, scope)
            if value is self._missing:
                continue
            iterable, inner = self._items.narrow_iterable(node.iter, path)
            if iterable is None:
                self._put(target, "constant", (), value, scope, kind="loop", note="the round")
                continue
            display = iterable.elts if isinstance(iterable, (ast.List, ast.Tuple)) else ()
            if scope.round < len(display) and not inner and not _has_star(display):
                snap = self._links.snap_value(value)
                how, sources = self._reader.origin(display[scope.round], scope, snap)
                self._put(target, how, sources, value, scope, kind="loop")
                continue
            how, sources = self._reader.origin(iterable, scope, self._missing)
            note = scope.note
            if file:
                link = scope.new_link("input", node.iter, "input", (), self._missing)
                link.note = f"{file}, line {scope.loops[id(node)]:,} of the loop"
                sources = (self._links.ValueOperandLink(node.iter, link, self._missing),)
            link = self._find_element(iterable, inner, sources, value, scope)
            found = self._element_origin(link, how, sources, value, scope)
            self._put(target, *found, value, scope, kind="loop", note=note)

    def element_origin(self, node: Any, value: Any, scope: Any) -> tuple[str, tuple[Any, ...]]:
        """Return the origin of what an iterator gives next, as `yield from` hands it on."""
        how, sources = self._reader.origin(node, scope, self._missing)
        link = self._find_element(node, (), sources, value, scope)
        return self._element_origin(link, how, sources, value, scope)

    def _find_element(
        self, node: Any, path: tuple[int, ...], sources: Any, value: Any, scope: Any
    ) -> Any:
        """Return the link of an element's writing, or of a part of it; None if it is not known."""
        snap = self._links.snap_value(value)
        link = scope.returned_value(snap)
        if link is None:
            link = self._items.find_element(node, scope, path, snap)
        if link is None and not path:
            link = self._reader.store.find_value(sources, snap, f"[{scope.round}]")
        if link is not None:
            return link
        for one in scope.results():
            if one.kind == "yielded":
                key = f"[{path[0]}]" if path else ""
                found = self._reader.store.find_of(one.value, key, snap)
                is_whole = not path and self._links.is_same(one.value, snap)
                link = found or (one if is_whole else link)
        return link

    def _element_origin(
        self, link: Any, how: str, sources: Any, value: Any, scope: Any
    ) -> tuple[str, tuple[Any, ...]]:
        """Return the origin of an element by its link, and without one that of the whole."""
        snap = self._links.snap_value(value)
        made = self._links.ValueOperandLink
        if link is not None:
            return "copy", (made(None, link, snap),)
        if not sources:
            return how, sources
        link = scope.new_link("part", "element", "part", sources, snap)
        link.is_inferred = True
        return "copy", (made(None, link, snap),)

    def _bind_definition(self, node: Any, scope: Any) -> None:
        names = []
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [one.asname or one.name.partition(".")[0] for one in node.names]
        elif isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
            names = [node.name]
        for name in names:
            value = scope.name_value(name)
            if value is self._missing:
                continue
            link = scope.new_link("definition", name, "new", (), self._links.snap_value(value))
            scope.put_name(name, link)
            if isinstance(node, ast.ClassDef):
                for field, one in scope.classes.pop(name, {}).items():
                    one.kind = "class attribute"
                    self._reader.store.put(value, f".{field}", one)

    # -- targets -----------------------------------------------------------------------------------

    def _target_value(self, target: Any, scope: Any) -> Any:
        if isinstance(target, ast.Name):
            return scope.name_value(target.id)
        if not isinstance(target, (ast.Attribute, ast.Subscript)):
            return self._missing
        base = scope.bases.get(id(target), self._missing)
        if base is self._missing:
            return base
        if isinstance(target, ast.Attribute):
            return self._reader.field_place(base, target.attr).value
        key = scope.keys.get(id(target), self._missing)
        return self._reader.item_place(base, key).value if key is not self._missing else key

    def _key_of(self, target: Any, base: Any, scope: Any) -> str:
        if isinstance(target, ast.Attribute):
            return str(self._reader.field_place(base, target.attr).key)
        key = scope.keys.get(id(target), self._missing)
        return str(self._reader.item_place(base, key).key) if key is not self._missing else "[?]"

    def _put(
        self, target: Any, how: str, sources: Any, value: Any, scope: Any, *,
        kind: str = "", note: str = "",
    ) -> Any:  # fmt: skip
        snap = self._links.snap_value(value) if value is not self._missing else value
        if isinstance(target, ast.Name):
            link = scope.new_link(kind or "name", target.id, how, sources, snap)
            before = scope.previous_link(target.id)
            link.old = before.value if before is not None else self._missing
            scope.complete(link, note)
            scope.put_name(target.id, link)
            return link
        base = scope.bases.get(id(target), self._missing)
        if base is self._missing:
            return None
        kind = kind or ("field" if isinstance(target, ast.Attribute) else "item")
        link = scope.new_link(kind, target, how, sources, snap)
        scope.complete(link, note)
        self._set_owner(link, target.value, scope)
        key = self._key_of(target, base, scope)
        holder = base
        if isinstance(target, ast.Attribute):
            holder = self._reader.field_place(base, target.attr).holder
        elif scope.keys.get(id(target), self._missing) is not self._missing:
            holder = self._reader.item_place(base, scope.keys[id(target)]).holder
        before = self._reader.store.last_key(holder, key)
        if before is not None:  # which a method may have written in this statement
            link.old = before.old if before.number > scope.began else before.value
        self._reader.store.put(holder, key, link)
        return link

    def _set_owner(self, link: Any, holder: Any, scope: Any) -> None:
        """Note by which fields or items the written object was reached."""
        link.owner = self._links.find_owner(scope.loaded.get(id(holder)))
        first = holder
        while isinstance(first, (ast.Attribute, ast.Subscript)):
            first = first.value
        if first is not holder:
            link.root = self._links.find_owner(scope.loaded.get(id(first)))

    def _put_by_snap(self, target: Any, source: Any, origin: tuple[str, Any], scope: Any) -> None:
        """Store the write of a field or an item of a call's result, which no name holds."""
        if isinstance(target, ast.Name) or scope.bases.get(id(target)) is not self._missing:
            return
        holder = self._reader.find_by_snap(target.value, scope)
        if holder is None or type(holder.value) is not tuple:
            return
        how, sources = origin
        snap = self._missing
        if isinstance(source, ast.Constant):
            snap = self._links.snap_value(source.value)
        elif len(sources) == 1 and how in ("copy", "new"):
            snap = sources[0].value
        is_field = isinstance(target, ast.Attribute)
        link = scope.new_link("field" if is_field else "item", target, how, sources, snap)
        scope.complete(link)
        key = scope.keys.get(id(target), self._missing)
        name = f".{target.attr}" if is_field else self._reader.item_place(None, key).key
        self._reader.store.put_of(holder.value, name, link)

    # -- methods -----------------------------------------------------------------------------------

    def _finish_method(self, call: Any, scope: Any) -> None:
        """Store what a container's method copied into it, or `setdefault` put there."""
        name = call.func.attr
        self._reader.used.note_rewind(call, scope)
        self._reader.calls.note_call(call, scope)
        if name not in _MERGING | {"setdefault"}:
            return
        owner = self._reader.read(call.func.value, scope)
        if owner is self._missing:
            return
        if name == "update" and type(owner).__name__ in _UPDATED:
            self._items.merges.note_update(call, owner, scope)
        elif call.args and name != "setdefault":
            self._store_merged(call, owner, self._reader.read(call.args[0], scope), scope)
        elif call.args:
            self._store_default(call, owner, scope)

    def _store_default(self, call: Any, owner: Any, scope: Any) -> None:
        """Store the link of an item that `setdefault` has put into a dictionary."""
        source = self._reader.read(call.args[0], scope)
        if source is self._missing or len(call.args) < 2:  # noqa: PLR2004 - key, value
            return
        place = self._reader.item_place(owner, source)
        if place.value is self._missing:
            return
        snap = self._links.snap_value(place.value)
        given = self._reader.read(call.args[1], scope)
        is_given = given is self._missing or given is place.value
        if is_given and self._reader.store.find(owner, place.key, snap) is None:
            self._store_item(call, (owner, call.args[1], place.value, place.key), scope)

    def _store_merged(self, call: Any, owner: Any, source: Any, scope: Any) -> None:
        """Store the links of the items by which a list was extended, or a dictionary updated."""
        node = call.args[0]
        if call.func.attr == "extend" and type(owner) is list:
            size = scope.sizes.get(id(call), -1)
            self._store_added(call.func, node, owner, size, scope)
        elif source is not self._missing and type(source) is not str:
            self._reader.store.copy(source, owner)

    def _store_added(self, what: Any, node: Any, owner: Any, first: int, scope: Any) -> None:
        """Store the links of the items by which a list was extended, from a position on."""
        reader = self._reader
        source = reader.read(node, scope)
        if first < 0 and type(source) in (list, tuple):
            first = len(owner) - len(source)
        if first < 0 and isinstance(node, (ast.List, ast.Tuple)):
            first = len(owner) - len(node.elts)
        known = reader.find_by_snap(node, scope) if source is self._missing else None
        parts = reader.store.parts_of(known.value) if known is not None else {}
        is_display = isinstance(node, (ast.List, ast.Tuple)) and not _has_star(node.elts)
        for at, one in enumerate(owner[first : first + _ELEMENTS] if first >= 0 else ()):
            snap, key = self._links.snap_value(one), f"[{first + at}]"
            if is_display:
                how, sources = reader.origin(node.elts[at], scope, snap)
            else:
                link = parts.get(f"[{at}]")
                if source is not self._missing:
                    link = reader.store.find(source, f"[{at}]", snap)
                if link is None:
                    continue
                scope.note, scope.pieces = "", ()
                how, sources = "copy", (self._links.ValueOperandLink(node, link, snap),)
            link = scope.new_link("stored", what, how, sources, snap)
            scope.complete(link)
            reader.store.put(owner, key, link)
            if is_display and how in ("new", "copied"):
                self.note_container(node.elts[at], how, sources, one, scope)

    def _store_written(self, call: Any, scope: Any) -> None:
        """Store the link of what a call wrote to a buffer in memory."""
        value = self._reader.read(call.args[0], scope)
        snap = self._links.snap_value(value) if value is not self._missing else value
        how, sources = self._reader.origin(call.args[0], scope, snap)
        link = scope.new_link("stored", call.func, how, sources, snap)
        scope.complete(link)
        buffer = self._reader.read(call.func.value, scope)
        self._reader.buffers.add_write(buffer, scope.positions[id(call)], link)

    def _store_item(self, call: Any, pushed: Any, scope: Any) -> None:
        """Store the link of an item that a call put into a container."""
        owner, node, value, key = pushed
        snap = self._links.snap_value(value) if value is not self._missing else value
        scope.value = value
        how, sources = self._reader.origin(node, scope, snap)
        link = scope.new_link("stored", call.func, how, sources, snap)
        scope.complete(link)
        holder = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]
        self._set_owner(link, holder, scope)
        self._reader.store.put(owner, key, link)
        if value is not self._missing and how in ("new", "copied"):
            self.note_container(node, how, sources, value, scope)

    def _finish_setattr(self, call: Any, scope: Any) -> None:
        nodes = list(call.args)
        if len(nodes) == 2 and scope.code.co_argcount:  # noqa: PLR2004 - super().__setattr__(name, value)
            nodes.insert(0, ast.Name(scope.code.co_varnames[0], ast.Load()))
        if len(nodes) != 3:  # noqa: PLR2004 - object, name, value
            return
        owner, name = (self._reader.read(one, scope) for one in nodes[:2])
        if owner is self._missing or type(name) is not str:
            return
        place = self._reader.field_place(owner, name)
        snap = self._missing
        if place.value is not self._missing:
            snap = self._links.snap_value(place.value)
        how, sources = self._reader.origin(nodes[2], scope, snap)
        link = scope.new_link("field", f"setattr {name}", how, sources, snap)
        self._reader.store.put(place.holder, place.key, link)


def _goes_on(loop: Any, following: int) -> bool:
    """Return whether a loop has a further round, by the line that runs after its head."""
    first, last = loop.body[0].lineno, loop.body[-1].end_lineno
    return bool(first == loop.lineno or first <= following <= last)


def _has_star(elements: Any) -> bool:
    return any(isinstance(one, ast.Starred) for one in elements)
