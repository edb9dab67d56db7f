"""Follows a parameter of Ruby or PHP to what the caller passed. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.questions.why import script_calls as calls_of
from debugger.questions.why import script_statement as statements
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, WhyLink
from debugger.questions.why.script_links import FollowedValue, ScriptLinks
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.recorders.script.step_history import PassedValue, Step, StepCall


class ScriptArguments(ScriptLinks):
    """Follows arguments, defaults, and what a block is given."""

    def _follow_origin(
        self,
        origin: StatementOrigin,
        call: int,
        index: int,
        value: PassedValue | None,
        step: Step | None,
        *,
        keys: tuple[str, ...] = (),
        is_part: bool = False,
    ) -> FollowedValue | None:
        """Return the value that an expression read, or end the chain."""
        raise NotImplementedError

    def _called_operands(
        self, texts: Sequence[str], call: int, step: Step | None
    ) -> dict[str, StepCall]:
        """Return the calls in expressions whose result is known, each the only one so named."""
        if step is None:
            return {}
        named: dict[str, list[StepCall]] = {}
        for each in self._children(call, step, 1 << 60):
            function = self._history.function_of(each.number).name
            named.setdefault(calls_of.last_name(function), []).append(each)
        pending = [one for text in texts for one in calls_of.find_calls(text)] if named else []
        found: dict[str, StepCall] = {}
        names: list[str] = []
        while pending:
            text = pending.pop(0)
            head, _, inner = text.partition("(")
            names.append(calls_of.last_name(head.strip()))
            results = named.get(names[-1], [])
            if len(results) == 1 and results[0].result is not None:
                found[text] = results[0]
            else:  # one of the language's own, whose arguments are calls
                pending += calls_of.find_calls(inner[:-1])
        return {
            text: one
            for text, one in found.items()
            if names.count(calls_of.last_name(text.partition("(")[0].strip())) == 1
        }

    def _follow_passed(self, value: FollowedValue) -> FollowedValue | None:
        """Add the link of an argument; None if the value is none."""
        slot = value.slot
        if not slot.owner.startswith("L"):
            return None
        call = self._history.calls.get(int(slot.owner[1:]))
        if call is None:
            return None
        for at, (name, passed) in enumerate(call.arguments):
            if name == slot.path[0]:
                return self._follow_argument(value, call, at, passed)
        return None

    def _follow_receiver(self, value: FollowedValue) -> FollowedValue | None:
        """Follow `$this` or `self` to what the caller's statement called the method of."""
        owner, path = value.slot.owner, value.slot.path
        call = self._history.calls.get(value.call)
        while call is not None and f"O{call.receiver}" != owner:
            call = self._history.calls.get(call.parent)  # a block has the object of its method
        step = self._history.calling_step(call) if call is not None else None
        if path or call is None or step is None:
            return None
        name = self._history.functions[call.function].name
        text = self._text_of(step)
        self._add_passed(step, f"{name} called")
        receiver = calls_of.receiver_of(text, name)
        if receiver is None:
            self._end(ChainEnd.NOT_FOLLOWED, f"the statement does not name the object of {name}")
            return None
        passed = PassedValue(None, call.receiver)
        return self._follow_origin(
            statements.classify(receiver), step.call, step.index, passed, step
        )

    def _follow_promoted(self, value: FollowedValue) -> FollowedValue | None:
        """Follow a property that a constructor's parameter declares; None if it is none."""
        owner, path = value.slot.owner, value.slot.path
        is_property = owner.startswith("O") and bool(path) and path[0].startswith("->")
        if not self._is_php or not is_property:
            return None
        for call in self._history.calls.values():
            name = self._history.function_of(call.number).name
            if f"O{call.receiver}" != owner or not name.endswith("->__construct"):
                continue
            for at, (one, passed) in enumerate(call.arguments):
                if one == f"${path[0].removeprefix('->')}":
                    return self._follow_argument(value, call, at, passed)
        return None

    def _follow_argument(
        self, value: FollowedValue, call: StepCall, at: int, passed: PassedValue
    ) -> FollowedValue | None:
        function = self._history.functions[call.function]
        name = call.arguments[at][0]
        step = self._history.calling_step(call) if call.parent else None
        if step is None:
            self._end(ChainEnd.NOT_FOLLOWED, f"{function.name} was called by code that is no own")
            return None
        text = self._text_of(step)
        is_block = function.name.startswith("block ")
        passes_value = is_block or function.name == "{closure}"
        arguments = (
            self._passed_to_value(text, call, passed, at)
            if passes_value
            else self._passed_texts(text, call, step, at)
        )
        # A function that a library calls back is not named by the statement.
        self._add_passed(step, f"{name} passed to {function.name}", passed.text)
        if is_block and arguments is None:
            return self._follow_block(text, passed, step)
        mapped = calls_of.find_mapped_array(text) if passes_value and arguments is None else None
        if mapped is not None and (element := self._find_element(mapped, passed, step)) is not None:
            return element
        if arguments is None and self.ending is None:
            what = f"the statement does not name {function.name}: it was called back"
            self._end(ChainEnd.NOT_FOLLOWED, what)
        if arguments is None:
            return None
        chosen = self._argument_text(arguments, at, name)
        if chosen is None:
            return self._follow_default(call, function.line, name)
        origin = statements.classify(chosen)
        keys = value.slot.path[1:]
        return self._follow_origin(origin, step.call, step.index, passed, step, keys=keys)

    def _passed_to_value(
        self, text: str, call: StepCall, passed: PassedValue, at: int
    ) -> tuple[str, ...] | None:
        """Return what a statement gives to the block or closure that it calls by a value."""
        made = calls_of.list_value_arguments(text)
        # A block takes an array apart, and leaves out what it has no parameter for.
        if made is None or len(made) != len(call.arguments):
            return None
        chosen = self._argument_text(made, at, call.arguments[at][0])
        return made if chosen is not None and self._may_pass(chosen, passed) else None

    def _passed_texts(
        self, text: str, call: StepCall, step: Step, at: int
    ) -> tuple[str, ...] | None:
        """Return what a statement gives to a call; nothing if it does not say which of several."""
        name, passed = call.arguments[at]
        made = calls_of.list_called_arguments(text, self._history.function_of(call.number).name)
        same = [
            one.number
            for one in self._children(step.call, step, 1 << 60)
            if one.function == call.function
        ]
        if len(made) > 1 and len(made) == len(same) and call.number in same:
            return made[same.index(call.number)]
        fitting = [
            one for one in made if self._may_pass(self._argument_text(one, at, name), passed)
        ]
        if len(made) > 1 and len({self._argument_text(one, at, name) for one in fitting}) > 1:
            self._end(ChainEnd.NOT_FOLLOWED, f"several calls in {text} may have passed it")
            return None
        return next(iter(fitting or made), None)

    @staticmethod
    def _may_pass(text: str | None, passed: PassedValue) -> bool:
        origin = statements.classify(text) if text is not None else None
        if origin is None or origin.kind is not OriginKind.CONSTANT:
            return True
        return origin.text.strip("'\"").lower() == (passed.text or "").strip("'\"").lower()

    def _add_passed(self, step: Step, what: str, value: str | None = None) -> None:
        """Add the link of a statement that called a function with a value."""
        self.links.append(
            WhyLink(
                kind=LinkKind.PASSED,
                certainty=LinkCertainty.SEEN,
                text=what,
                frame=self._frame(step.call, step.line),
                statement=self._text_of(step),
                stack=self._stack(step.call),
                new=value,
            )
        )

    @staticmethod
    def _argument_text(arguments: Sequence[str], at: int, name: str) -> str | None:
        for one in arguments:
            named = re.match(rf"{re.escape(name.lstrip('$'))}:\s*(?P<value>[^:].*)$", one)
            if named is not None:
                return named["value"]
        if any(one.startswith(("*", "...")) for one in arguments[: at + 1]):
            return arguments[min(at, len(arguments) - 1)].lstrip("*.")
        chosen = arguments[at] if at < len(arguments) else None
        return None if chosen is not None and re.match(r"\w+:\s", chosen) else chosen

    def _follow_default(self, call: StepCall, line: int, name: str) -> FollowedValue | None:
        function = self._history.functions[call.function]
        head = statements.statement_lines(self._lines_of(function.file), line)
        default = calls_of.default_of(head, name)
        if default is None:
            self._end(ChainEnd.NOT_FOLLOWED, f"no argument of the statement is {name}")
            return None
        self.links.append(
            WhyLink(
                kind=LinkKind.CONSTANT,
                certainty=LinkCertainty.INFERRED,
                text=f"the default of {name}, since the call passes none",
                frame=self._frame(call.number, line),
                statement=head,
            )
        )
        origin = statements.classify(default)
        if origin.kind is OriginKind.CONSTANT:
            self._end(ChainEnd.CONSTANT, f"{default} is a literal")
            return None
        return self._follow_origin(origin, call.number, call.index, None, None)

    def _follow_block(self, text: str, passed: PassedValue, step: Step) -> FollowedValue | None:
        """Follow the argument of a block to the element that the block's method gave it."""
        source = re.search(
            r"(?P<of>[@$]{0,2}[A-Za-z_][\w.@\[\]:'\"]*?)\.\w+[?!]?(?:\([^()]*\))?\s*(?:\{|do\b)",
            text,
        )
        if source is None or self._values.resolve(source["of"], step.call, step.index) is None:
            self._end(ChainEnd.NOT_FOLLOWED, "the block's argument is not followed")
            return None
        element = self._find_element(source["of"], passed, step)
        if element is None:
            self._end(ChainEnd.NOT_FOLLOWED, f"it is given by {source[0].rstrip('{ ').strip()}")
        return element

    def _find_element(self, name: str, passed: PassedValue, step: Step) -> FollowedValue | None:
        """Return the only element of a container that a statement may have passed."""
        slot = self._values.resolve(name, step.call, step.index)
        element = self._values.find_element(slot, passed, step.index) if slot is not None else None
        if element is None:
            return None
        return FollowedValue(element, f"{name}{element.path[-1]}", step.call, step.index)
