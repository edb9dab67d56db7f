"""Builds the links of a Go value's chain from records and positions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from debugger.model.answers.frames import FrameView
from debugger.questions.why import go_chain, go_expressions, go_plan, go_source, go_values
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, ValueOperand, WhyLink
from debugger.questions.why.go_called import CalledPart
from debugger.questions.why.go_chain import Activation, ChainEnded, GoPosition, GoStep
from debugger.questions.why.go_expressions import RightSide
from debugger.questions.why.go_run import GoRecord, GoStop
from debugger.questions.why.go_source import GoSourceFunction, GoSources
from debugger.questions.why.go_values import are_different
from debugger.questions.why.guilty_factor import find_guilty_factor
from debugger.questions.why.why_request import repeat_with

_OPERANDS = 4
_CALL = re.compile(r"[\w\]]\(")


class GoLinks:
    """The links so far."""

    def __init__(self, sources: GoSources) -> None:
        self.sources = sources
        self.links: list[WhyLink] = []
        # Whether the records are those of the run that reached the location.
        self.is_first_run = True
        # Whether the program was built with optimisation: its lines run in another order, then.
        self.is_optimised = False

    def certainty(self, position: GoPosition) -> LinkCertainty:
        """Return how the value of a position is known."""
        if position.certainty is LinkCertainty.INFERRED or self.is_optimised:
            return LinkCertainty.INFERRED
        return LinkCertainty.SEEN if self.is_first_run else LinkCertainty.RERUN

    @staticmethod
    def activation_of_record(stop: GoStop, record: GoRecord, position: GoPosition) -> Activation:
        """Return the activation of a record: the position's own, one on the stack, or another."""
        mine = position.activation
        index, call = None, None
        if go_chain.is_same_call(stop.log.records, record, position):
            index, call = mine.index, mine.call
        return Activation(record.site.function, record.goroutine, record.depth, index, call, record)

    def add_write(
        self,
        position: GoPosition,
        found: go_chain.FoundWrite,
        side: RightSide,
        certainty: LinkCertainty,
    ) -> None:
        """Add the link of a record's write."""
        record, site = found.record, found.record.site
        kind, text = {
            "constant": (LinkKind.WRITTEN, "written: a literal"),
            "literal": (LinkKind.WRITTEN, "made with its first values"),
            "path": (LinkKind.COPIED, f"copied from {side.text}"),
            "call": (LinkKind.RETURNED, f"the result of {side.text.partition('(')[0]}"),
            "receive": (LinkKind.COPIED, f"received from {side.text}"),
            "allocation": (LinkKind.ALLOCATED, "allocated"),
            "closure": (LinkKind.WRITTEN, "written: a function"),
        }.get(side.kind, (LinkKind.COMPUTED, "computed"))
        if site.operator not in {"", ":="}:
            kind, text = LinkKind.COMPUTED, "computed"
            if site.operator == "loop":
                text = "counted by the loop"
            if site.operator == "range":
                kind, text = LinkKind.LOADED, f"an element of {side.text}"
        is_part = found.prefix != position.expression
        operands = tuple(
            ValueOperand(name, record.values[name])
            for name in go_expressions.paths_in(site.value_of(found.target)[0])
            if side.kind != "receive" and go_values.plain_value(record.values.get(name)) is not None
        )
        self.links.append(
            WhyLink(
                kind,
                certainty,
                f"{found.prefix} {text}" if is_part else text,
                frame=FrameView(0, site.function.name, site.file, site.line),
                statement=site.statement,
                thread=self.thread(record.goroutine, position),
                old=None if is_part else go_values.plain_value(record.values.get(found.target)),
                new=None if is_part else position.value,
                operands=operands[:_OPERANDS],
            )
        )

    @staticmethod
    def other_value(
        record: GoRecord, side: RightSide, position: GoPosition, suffix: str
    ) -> str | None:
        """Return the value of a right side that is another one than the followed value."""
        given = side.text if side.kind == "constant" else record.values.get(side.text)
        given = go_values.part_of_value(given, suffix) if suffix else given
        return given if are_different(given, position.value) else None

    @staticmethod
    def thread(goroutine: int, position: GoPosition) -> str | None:
        """Return the name of a goroutine that is not the position's own."""
        return f"goroutine {goroutine}" if goroutine != position.activation.goroutine else None

    def varying_operands(
        self, names: Sequence[str], read: Mapping[str, str], added: str
    ) -> list[str]:
        """Return the operands of a value without constants, and without the 0 that is added to.

        Args:
            names: The operands.
            read: Those whose values are known, with these.
            added: The sum, if the statement adds to a variable: `n + x` of `n += x`.
        """
        found = []
        for name in dict.fromkeys(names):
            root = go_expressions.split_path(name)[-1]
            is_global = name == root and bool(self.sources.globals_named(root))
            is_written = any(root in one.targets for one in self.sources.sites)
            is_begin = added.startswith(f"{name} + ") and go_values.is_zero(read.get(name))
            if not is_begin and (is_written or not is_global):
                found.append(name)
        return found

    def add_called(self, parts: Sequence[CalledPart]) -> None:
        """Add to the last link what the functions that its statement calls have returned."""
        if self.links and parts:
            details = (*self.links[-1].details, *(one.describe() for one in parts[:_OPERANDS]))
            self.links[-1] = msgspec.structs.replace(self.links[-1], details=details)

    def computed(
        self, here: GoPosition, names: Sequence[str], text: str, parts: Sequence[CalledPart] = ()
    ) -> GoStep:
        """Follow the one operand that explains a value, or list them with their values.

        `parts` are the calls in it, of which none alone explains it.
        """
        record = here.activation.record
        values = dict(record.values) if record is not None else {}
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        read = {one: values[one] for one in names if one in values}
        is_telling = not (go_values.is_common(here.value) and _CALL.search(text))
        equal = [one for one, value in read.items() if value == here.value and is_telling]
        chosen = equal[0] if len(equal) == 1 else None
        chosen = chosen or find_guilty_factor(text, read, here.value or "")
        varying = self.varying_operands(names, read, text if text != here.expression else "")
        if chosen is None and len(varying) == 1 and varying[0] in read and not parts:
            chosen = varying[0]
        if chosen is not None:
            is_sure = len(read) == 1
            certainty = here.certainty if is_sure else LinkCertainty.INFERRED
            return msgspec.structs.replace(
                here, expression=chosen, value=read[chosen], certainty=certainty
            )
        # A package is no operand: `strings` of `strings.TrimSpace(t)[4:]`.
        names = [one for one in names if one in read or f"{one}." not in text] or names
        shown = [f"{one}={read[one]}" if one in read else one for one in dict.fromkeys(names)]
        shown += [f"{one.text}={one.value}" for one in parts if one.value is not None]
        message = ", ".join(shown[:_OPERANDS])
        if not names and parts:
            return ChainEnded(ChainEnd.NOT_FOLLOWED, f"computed from {message or text} at {place}")
        if not names:
            return ChainEnded(ChainEnd.NOT_FOLLOWED, f"computed by {text} at {place}")
        hit = record.hit if record is not None else 1
        telling = [one for one in names if one in read and not go_values.is_zero(read[one])]
        again = repeat_with((telling or names)[0], place).replace(
            " -- ", f" --nth {hit} -- " if hit > 1 else " -- "
        )
        return ChainEnded(
            ChainEnd.NOT_FOLLOWED, f"computed from {message or text}; go on with {again}"
        )

    def given_part(self, record: GoRecord, text: str, suffix: str) -> str | None:
        """Return what an expression of a record gives to a part of its value, if that is known."""
        side = go_expressions.classify_value(text)
        part = re.match(r"\.[A-Za-z_]\w*", suffix)
        if side.kind == "literal" and part is not None:
            fields = self.sources.fields_of(side.text)
            inner = go_values.part_of_literal(side.text, part[0], fields)
            return self.given_part(record, inner, suffix[part.end() :]) if inner else None
        if suffix:
            return None
        value = side.text if side.kind == "constant" else record.values.get(side.text)
        return value or go_values.sum_of(side.text, record.values)

    def explain_captured(self, position: GoPosition, root: str) -> ChainEnded | None:
        """Return the end for a parameter of a function that made the running one, and is over."""
        function = position.activation.function
        passed = [
            (caller, statement, text)
            for caller, statement in self.sources.callers_of(function)
            if (text := go_plan.passed_argument(statement, function, root))
        ]
        equal = [one for one in passed if one[2] == position.value]
        chosen = equal if len(equal) == 1 else passed if len(passed) == 1 else []
        if not chosen:
            return None
        caller, statement, text = chosen[0]
        number = function.parameters.index(root) + 1
        line = go_source.line_of(caller, statement)
        self.links.append(
            WhyLink(
                LinkKind.PASSED,
                LinkCertainty.INFERRED,
                f"passed as argument {number} (`{root}`) to {function.name}, whose inner function "
                "ran later",
                frame=FrameView(0, caller.name, caller.file, line),
                statement=statement,
                new=position.value,
            )
        )
        place = f"{Path(caller.file).name}:{line}"
        if equal:
            return ChainEnded(ChainEnd.CONSTANT, f"{text} is a literal at {place}")
        return ChainEnded(
            ChainEnd.NOT_FOLLOWED, f"{text} was given there; go on with {repeat_with(text, place)}"
        )

    def describe_start(self, function: GoSourceFunction, root: str) -> ChainEnded:
        """Return the end for a parameter of the first function of a goroutine."""
        if function.name == "main":
            return ChainEnded(ChainEnd.INPUT, f"{root} is of the command line")
        for caller, statement in self.sources.callers_of(function):
            if statement.startswith("go "):
                text = go_plan.passed_argument(statement, function, root)
                name = Path(caller.file).name
                return ChainEnded(
                    ChainEnd.NOT_FOLLOWED,
                    f"the goroutine began with {root} = {text} in {caller.name} ({name}): "
                    f"{repeat_with(text or root, f'{name}:LINE')}",
                )
        return ChainEnded(ChainEnd.NOT_FOLLOWED, f"{root} was given at the goroutine's beginning")
