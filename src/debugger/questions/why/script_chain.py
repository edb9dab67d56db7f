"""Follows a value of Ruby or PHP back through a recorded history, link by link. Pure."""

from __future__ import annotations

import re

from msgspec import structs

from debugger.questions.why import script_statement as statements
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    WhyLink,
)
from debugger.questions.why.script_links import FollowedValue
from debugger.questions.why.script_origins import ScriptOrigins
from debugger.questions.why.script_refused import RefusedCall
from debugger.questions.why.script_values import writer_of
from debugger.questions.why.statement_origin import OriginKind
from debugger.recorders.script.step_history import Change, PassedValue, Step

# What makes an object with the fields of another one.
_CLONES = re.compile(r"\bclone\b\s*\(?\s*(?P<of>\$\w+(?:->\w+|\[[^\[\]]*\])*)")
_DUPLICATES = re.compile(r"(?:(?P<of>@{0,2}[A-Za-z_]\w*(?:\.\w+)*?)&?\.)?\b(?:dup|clone)\b(?!\s*=)")
_TARGETS = re.compile(r"[$@]?\w+(?=\s*[^\s\w=!<>]{0,2}=[^=>~])")
_DROPPED = "it was written before the part of the run that was recorded, its last {:,} records"


class ScriptChain(ScriptOrigins):
    """Makes the links of one value: which statement changed it, and what that read."""

    def follow(
        self, expression: str, call: int, index: int, value: PassedValue | None = None
    ) -> None:
        """Follow the value that an expression has at a record."""
        found = self._find(expression, call, index)
        if found is None:
            origin = statements.classify(expression)
            found = self._follow_origin(origin, call, index, value, None)
        self._follow_links(found)

    def find_result(self, expression: str, call: int, index: int) -> PassedValue | None:
        """Return what a call in the statement at a record returned; nothing, if one of them did."""
        origin = statements.classify(expression)
        step = self._history.last_step(call, index + 1)
        for value in (PassedValue("null" if self._is_php else "nil"), None):
            if step is not None:
                child, is_named = self._giving_call(origin, call, step, value)
                if child is not None and is_named:
                    return child.result
        return None

    def follow_result(
        self, expression: str, call: int, index: int, value: PassedValue | None = None
    ) -> None:
        """Follow what a call in the statement at a record returned."""
        origin = statements.classify(expression)
        step = self._history.last_step(call, index + 1)
        self._follow_links(self._follow_origin(origin, call, index, value, step))

    def follow_refused(self, refused: RefusedCall, name: str) -> str | None:
        """Follow an argument that PHP did not take; return its value, None if it is not known."""
        step, value = refused.step, None
        chosen = self._argument_text(refused.arguments, refused.parameters.index(name), name)
        if chosen is not None:
            value = self._value_of(chosen, step)
        self._add_passed(step, f"{name} passed to {refused.function}", value)
        if chosen is None:
            self._end(ChainEnd.NOT_FOLLOWED, f"no argument of the statement is {name}")
            return None
        origin = statements.classify(chosen)
        self._follow_links(self._follow_origin(origin, step.call, step.index, None, step))
        return value

    def _value_of(self, text: str, step: Step) -> str | None:
        """Return the value that an expression had in a statement, as far as it was recorded."""
        origin = statements.classify(text)
        if origin.kind is OriginKind.CONSTANT:
            return origin.text
        slot = self._values.resolve(text, step.call, step.index)
        if slot is not None:
            return slot.value.text
        if self._missing_element(text, step.call, step.index) is not None:
            return "null"
        child, is_named = self._giving_call(origin, step.call, step, None)
        return child.result.text if child is not None and child.result and is_named else None

    def _follow_links(self, value: FollowedValue | None) -> None:
        while value is not None:
            if len(self.links) >= self._links_most:
                self._end(ChainEnd.BOUND, f"{self._links_most} links were followed")
                return
            self._followed = value
            value = self._follow_value(value)
            if value is None and self.ended is ChainEnd.NOT_FOLLOWED:
                value = self._content_of_last()

    def _content_of_last(self) -> FollowedValue | None:
        """Return what changed the array or the hash of Ruby last that cannot be followed itself."""
        last = self._followed
        content = self._changed_content(last, None) if last is not None else None
        if content is not None:
            self.ending = None
        return content

    def _follow_value(self, value: FollowedValue) -> FollowedValue | None:
        """Add the link of the last change of a value; return the value that it came from."""
        slot = value.slot
        change = self._history.last_change(slot.owner, slot.path, value.index)
        inner = self._changed_content(value, change)
        if inner is not None:
            return inner
        again = self._equal_write(value, change)
        if again is not None:
            return self._follow_equal(value, again)
        if change is None or change.scanned < 0:
            passed = self._follow_passed(value) or self._follow_promoted(value)
            passed = passed or self._follow_receiver(value)
            if passed is not None or self.ending is not None:
                return passed
        step, is_sure = self._writer(change) if change is not None else (None, False)
        if change is None or step is None:
            self._end(*self._unseen(value))
            return None
        if not self._is_new(value, (change.owner, change.path, change.index)):
            return None
        return self._follow_writer(value, change, step, is_sure=is_sure)

    def _is_new(self, value: FollowedValue, key: tuple[str, tuple[str, ...], int]) -> bool:
        """Remember a change; one that was followed already ends the chain."""
        if key in self._visited:
            self._end(ChainEnd.NOT_FOLLOWED, f"{value.text} comes from its own earlier value")
            return False
        self._visited.add(key)
        return True

    def _equal_write(self, value: FollowedValue, change: Change | None) -> Step | None:
        """Return a later statement that assigned the same value again; it is no change."""
        owner, path = value.slot.owner, value.slot.path
        if len(path) != 1 or path[0].startswith("["):
            return None
        name = re.escape(path[0].removeprefix("->"))
        before = r"(?:\$this->)" if path[0].startswith("->") else r"(?<![\w$>@.:])"
        # Also one of several: `name, points = …`, `[$name, $points] = …`.
        several = rf"\A(?:[*@$\w]+\s*,\s*)*\*?{name}\s*(?:,\s*[*@$\w]+\s*)*=(?![=>~])"
        listed = rf"\A(?:\[|list\s*\()[^=\[\]]*{before}{name}(?!\w)[^=\[\]]*[\])]\s*=(?![=>~])"
        pattern = re.compile(rf"{before}{name}\s*=(?![=>~])|{several}|{listed}")
        after = change.index if change is not None else -1
        calls = [int(owner[1:])] if owner.startswith("L") else []
        if owner.startswith("O"):
            number = int(owner[1:])
            calls = [one.number for one in self._history.calls.values() if one.receiver == number]
        later = [
            step
            for call in calls
            for step in self._history.steps_of(call)
            if after < step.index < value.index
            and pattern.search(statements.blank_strings(self._text_of(step)))
        ]
        # The last statement before the place may go on still, and one that raised assigned nothing.
        later = [one for one in later if one.index < self._begun(value) and not self._is_left(one)]
        return max(later, key=lambda one: one.index, default=None)

    def _is_left(self, step: Step) -> bool:
        """Return whether an exception left a statement: `rescue` or `ensure` of Ruby came next."""
        steps = [one for one in self._history.steps_of(step.call) if one.index > step.index]
        following = min(steps, key=lambda one: one.index, default=None)
        if self._is_php or following is None or following.line <= step.line:
            return False
        return statements.is_left_between(
            [self._statement(step.call, line) for line in range(step.line + 1, following.line)]
        )

    def _begun(self, value: FollowedValue) -> int:
        """Return where the statement begins that a value is read in."""
        step = self._history.last_step(value.call, value.index + 1)
        return step.index if step is not None else value.index

    def _follow_equal(self, value: FollowedValue, step: Step) -> FollowedValue | None:
        if not self._is_new(value, (value.slot.owner, value.slot.path, step.index)):
            return None
        text = self._text_of(step)
        is_sure = not re.search(r"\b(?:if|unless|while|else|elseif|elsif)\b", text)
        self.links.append(
            WhyLink(
                kind=LinkKind.WRITTEN,
                certainty=LinkCertainty.SEEN if is_sure else LinkCertainty.INFERRED,
                text=f"{value.text} written",
                frame=self._frame(step.call, step.line),
                statement=text,
                stack=self._stack(step.call),
                new=value.slot.value.text,
            )
        )
        name = re.sub(r"^(?:->|::|@@?)", "", value.slot.path[0])
        origin, _ = statements.origin_in(text, [name])
        return self._follow_origin(origin, step.call, step.index, value.slot.value, step)

    def _unseen(self, value: FollowedValue) -> tuple[ChainEnd, str]:
        if self._history.dropped:
            return ChainEnd.BOUND, _DROPPED.format(len(self._history.steps))
        # A variable of Ruby is nil before its first value: an assignment of nil changes nothing.
        is_nil = not self._is_php and value.slot.value.text == "nil"
        what = f"gave {value.text} another value than nil" if is_nil else f"wrote {value.text}"
        return ChainEnd.NOT_FOLLOWED, f"no statement was seen that {what}"

    def _writer(self, change: Change) -> tuple[Step | None, bool]:
        name = re.sub(r"^(?:->|::|@@?)", "", change.path[0])
        names = [name, *([] if self._is_php else self._aliases(change))]

        def is_write(step: Step) -> bool:
            text = self._text_of(step)
            return any(statements.may_change(text, one) for one in names)

        return writer_of(self._history, change, is_write, self._values.shares)

    def _aliases(self, change: Change) -> list[str]:
        """Return names by which a container of Ruby is known."""
        number = int(change.owner[1:]) if change.owner.startswith("O") else 0
        if not number or not change.path[0].startswith("["):
            return []
        found = set()
        for owner, changes in self._history.changes.items():
            for path, some in changes.items():
                if any(one.value.object == number for one in some) and owner != change.owner:
                    found.add(path[-1].lstrip("@"))
        return sorted(found)

    def _follow_writer(
        self, value: FollowedValue, change: Change, step: Step, *, is_sure: bool
    ) -> FollowedValue | None:
        """Add the link of a statement that changed a value; return the value that it read."""
        text, line, call = self._text_of(step), step.line, step.call
        name = change.path[0]
        bare = re.sub(r"^(?:->|::|@@?)", "", name)
        source = None
        is_assigned = name.startswith("[") or statements.assigns_name(text, bare)
        if change.owner.startswith("L") and not is_assigned:
            counted = self._counting_loop(step, bare) if self._is_php else None
            loop = self._enclosing_loop(step, bare) if self._is_php and not counted else None
            if counted is not None:
                line, text = counted
                is_assigned = True
            elif loop is not None:
                line, text = loop
                source, is_assigned = statements.loop_source(text, bare), True
            elif self._follow_caught(value, change, step):
                return None
        if not is_assigned and len(change.path) == 1:
            parts = self._changed_parts(change)
            change = parts[0] if len(parts) == 1 else change
        shown = f"{value.text}{''.join(change.path[len(value.slot.path) :])}"
        copied = None if is_assigned else self._copied_field(change, text, step)
        self.links.append(
            WhyLink(
                kind=LinkKind.WRITTEN,
                certainty=LinkCertainty.SEEN if is_sure else LinkCertainty.INFERRED,
                text=f"{shown} written",
                frame=self._frame(call, line),
                statement=text,
                stack=self._stack(call),
                old=change.old,
                new=change.value.text if change.value.text is not None else "(removed)",
                details=() if is_assigned else _describe_unassigned(text, bare, copied),
            )
        )
        if source is not None:
            if statements.is_loop_key(text, name):
                self._end(ChainEnd.NOT_FOLLOWED, f"it is a key of {source}")
                return None
            return self._follow_element(change, source, call, step.index)
        if not is_assigned:
            return (
                copied
                or self._kept_static(change, text, call)
                or self._follow_alias(change, text, call, step)
            )
        if name.startswith("["):
            return self._follow_item(value, change, text, step)
        return self._follow_assigned(change, text, step)

    def _follow_assigned(self, change: Change, text: str, step: Step) -> FollowedValue | None:
        """Return the value that a statement read which assigns to a name."""
        name = change.path[0]
        bare = re.sub(r"^(?:->|::|@@?)", "", name)
        static = self._kept_static(change, text, step.call)
        if static is not None:
            return static
        origin, keys = statements.origin_in(text, [bare, *change.path[1:]])
        key = statements.destructured_key(text, bare)
        if key is not None:
            left = (key, *change.path[1:])
            return self._follow_origin(origin, step.call, step.index, None, step, keys=left)
        left = change.path[1 + keys :]
        assigned = self._history.last_change(change.owner, change.path[: 1 + keys], change.index)
        passed = assigned.value if left and assigned is not None else change.value
        return self._follow_origin(origin, step.call, step.index, passed, step, keys=left)

    def _follow_item(
        self, value: FollowedValue, change: Change, text: str, step: Step
    ) -> FollowedValue | None:
        """Follow an element of an array or a hash of Ruby, which is an object of its own."""
        key = change.path[0]
        self._note_same_object(value, change, text, step)
        if text.startswith(("{", "[")):
            origin = statements.classify(text)
            return self._follow_origin(
                origin, step.call, step.index, change.value, step, keys=(key,)
            )
        target = re.match(
            r"(?P<name>[@$]{0,2}[\w.@]+)(?:\[[^=]*\])?\s*(?:\|\||<<|[-+*/]|&&)?=(?![=>~])", text
        )
        name = re.split(r"\.", target["name"])[-1] if target is not None else ""
        if not name:
            name = re.split(r"[\s.\[(<]", text)[0]
        origin, keys = statements.origin_in(text, [name, key])
        is_element = target is not None and "[" in target[0] and change.scanned >= 0
        left = () if is_element or (keys and change.scanned >= 0) else (key,)
        if origin.kind is OriginKind.UNKNOWN and origin.operands:
            origin = structs.replace(origin, kind=OriginKind.COMPUTED)
        return self._follow_origin(origin, step.call, step.index, change.value, step, keys=left)

    def _note_same_object(
        self, value: FollowedValue, change: Change, text: str, step: Step
    ) -> None:
        """Say at the last link that the statement has another name of the container."""
        changed = statements.changed_container(text)
        known = statements.container_of(value.text)
        if changed is None or known is None or changed == known or change.scanned < 0:
            return
        slot = self._values.resolve(changed, step.call, step.index)
        if slot is not None and f"O{slot.value.object}" == change.owner:
            self._add_detail(f"{changed} is the same object as {known}")

    def _changed_parts(self, change: Change) -> list[Change]:
        """Return the elements that changed together with a container, the innermost ones."""
        settled = self._history.settled(change.index)
        known = self._history.changes.get(change.owner, {})
        found = [
            one
            for path, some in known.items()
            if len(path) > len(change.path) and path[: len(change.path)] == change.path
            for one in some
            if change.index < one.index < settled
        ]
        depth = max((len(one.path) for one in found), default=0)
        return [one for one in found if len(one.path) == depth]

    def _follow_caught(self, value: FollowedValue, change: Change, step: Step) -> bool:
        """Add the link of a variable of a `catch`; False if it is none."""
        lines = self._lines_of(self._history.function_of(step.call).file)
        after = self._history.steps_of(step.call)
        later = next((one for one in after if one.index > change.index), None)
        last = later.line if later is not None else len(lines)
        name = re.escape(change.path[0])
        pattern = re.compile(rf"\bcatch\s*\([^)]*{name}\s*\)|\brescue\b.*=>\s*{name}\b")
        for line in range(min(last, len(lines)), 0, -1):
            if not pattern.search(lines[line - 1]):
                continue
            before = self._history.step_before(change.index) or step
            place = f"line {before.line}: {self._text_of(before)}"
            self.links.append(
                WhyLink(
                    kind=LinkKind.OTHER,
                    certainty=LinkCertainty.SEEN,
                    text=f"{value.text} caught",
                    frame=self._frame(step.call, line),
                    statement=lines[line - 1].strip(),
                    stack=self._stack(step.call),
                    new=change.value.text,
                    details=(f"thrown in {self._history.function_of(before.call).name}, {place}",),
                )
            )
            self._end(ChainEnd.NOT_FOLLOWED, "the exception was thrown there")
            return True
        return False

    def _counting_loop(self, step: Step, name: str) -> tuple[int, str] | None:
        """Return the line and the head of the `for` around a statement that counts by a name."""
        function = self._history.function_of(step.call)
        lines = self._lines_of(function.file)
        for line in range(min(step.line, len(lines)), max(function.line, 1) - 1, -1):
            head = statements.counting_loop(statements.statement_lines(lines, line), name)
            if head is not None:
                return line, head
        return None

    def _enclosing_loop(self, step: Step, name: str) -> tuple[int, str] | None:
        """Return the `foreach` above a statement that gives its elements to a name."""
        function = self._history.function_of(step.call)
        lines = self._lines_of(function.file)
        first = function.line if function.line > 0 else 1
        for line in range(min(step.line, len(lines)), first - 1, -1):
            text = lines[line - 1].strip()
            if statements.loop_source(text, name) is not None:
                return line, text
        return None

    def _follow_element(
        self, change: Change, source: str, call: int, index: int
    ) -> FollowedValue | None:
        slot = self._values.resolve(source, call, index)
        literal = re.match(r"\[[^$@]*\]$", source)
        if literal is not None:
            self._end(ChainEnd.CONSTANT, f"it is an element of the literal {source}")
            return None
        if slot is None:
            return self._follow_origin(
                statements.classify(source), call, index, change.value, None, is_part=True
            )
        settled = self._history.settled(change.index)
        element = self._values.find_element(slot, change.value, settled)
        if element is None:
            self._end(
                ChainEnd.NOT_FOLLOWED, f"it is one of the elements of {source}, several are equal"
            )
            return None
        return FollowedValue(element, f"{source}{element.path[-1]}", call, settled)

    def _kept_static(self, change: Change, text: str, call: int) -> FollowedValue | None:
        """Return a static variable at the end of the call of the function before."""
        if not re.match(rf"static\s[^=]*{re.escape(change.path[0])}\b", text):
            return None
        function = self._history.calls[call].function
        earlier = [
            one
            for one in self._history.calls.values()
            if one.function == function and one.number < call
        ]
        for one in reversed(earlier):
            slot = self._values.read(f"L{one.number}", change.path, change.index)
            if slot is not None and slot.value == change.value:
                return FollowedValue(
                    slot, f"{change.path[0]} of the call before", one.number, one.end
                )
        return None

    def _copied_field(self, change: Change, text: str, step: Step) -> FollowedValue | None:
        """Return the same field of the object of which a statement made a copy."""
        if not change.owner.startswith("O") or change.old is not None:
            return None
        for found in (_CLONES if self._is_php else _DUPLICATES).finditer(text):
            source = found["of"] or "self"
            slot = self._values.resolve(source, step.call, step.index)
            if slot is None or not slot.value.object:
                continue
            field = self._values.read(f"O{slot.value.object}", change.path, step.index)
            if field is None or field.value != change.value:
                continue
            path = "".join(change.path)
            shown = path if source == "self" else f"{source}{re.sub('^@', '.', path)}"
            return FollowedValue(field, shown, step.call, step.index)
        return None

    def _follow_alias(
        self, change: Change, text: str, call: int, step: Step
    ) -> FollowedValue | None:
        """Follow a value that a statement wrote by another name of it: a reference, or a call."""
        for child in reversed(self._children(call, step, change.index)):
            for name, _ in child.arguments:
                slot = self._values.read(f"L{child.number}", (name, *change.path[1:]), child.end)
                known = slot is not None and self._history.last_change(
                    slot.owner, slot.path, child.end
                )
                if slot is not None and known and slot.value == change.value and known.scanned >= 0:
                    return FollowedValue(
                        slot, "".join((name, *change.path[1:])), child.number, child.end
                    )
        targets = _TARGETS.findall(text)
        loop = re.search(r"\bas\s+(?:&?\$\w+\s*=>\s*)?&?(?P<name>\$\w+)", text)
        names = [*targets, *([loop["name"]] if loop is not None else [])]
        settled = self._history.settled(change.index)
        for name in names:
            written = self._history.last_change(f"L{call}", (name,), settled)
            # A variable that the statement did not write has the same value by chance.
            if written is not None and written.index > step.index and written.value == change.value:
                self._note_reference(name, step)
                source = statements.loop_source(text, name)
                if source is not None:
                    return self._follow_element(change, source, call, step.index)
                origin, _ = statements.origin_in(text, [name])
                return self._follow_origin(origin, call, step.index, change.value, step)
        for name in dict.fromkeys(one[0] for one in statements.PATH.finditer(text)):
            same = self._values.resolve(name, call, step.index)
            if same is not None and same.value.object and same.value.object == change.value.object:
                last = self.links[-1]
                fact = f"{name} is the same object"
                self.links[-1] = structs.replace(last, details=(fact,))
                break
        bare = re.sub(r"^(?:->|::|@@?)", "", change.path[0])
        origin, _ = statements.origin_in(text, [bare, *change.path[1:]])
        if origin.kind is OriginKind.UNKNOWN and origin.operands:
            read = tuple(one for one in origin.operands if one not in targets)
            origin = structs.replace(origin, kind=OriginKind.COMPUTED, operands=read)
        return self._follow_origin(origin, call, step.index, change.value, step)

    def _note_reference(self, name: str, step: Step) -> None:
        """Say at the last link which statement made a name a reference."""
        pattern = re.compile(rf"&\s*{re.escape(name)}\b|{re.escape(name)}\s*=\s*&")
        for one in reversed(self._history.steps_of(step.call)):
            text = self._text_of(one) if one.index < step.index else ""
            if pattern.search(text):
                fact = f"{name} is a reference to it since line {one.line}: {text}"
                self.links[-1] = structs.replace(self.links[-1], details=(fact,))
                return


def _describe_unassigned(text: str, name: str, copied: FollowedValue | None) -> tuple[str, ...]:
    """Say how a statement changed what it does not assign to."""
    if copied is not None:
        return ("the statement copies the object that has it",)
    if statements.names_value(text, name):
        return ()
    return (f"the statement does not name {name}: a reference, or code that it called",)
