"""Builds the links of a chain of Go values, each from the records and the stack of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.model.answers.frames import FrameView
from debugger.questions.why import (
    go_called,
    go_chain,
    go_expressions,
    go_plan,
    go_source,
    go_values,
)
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    WhyLink,
)
from debugger.questions.why.go_chain import (
    Activation,
    CallSite,
    ChainEnded,
    GoPosition,
    GoStep,
    NeedsRun,
    NeedsWatch,
    WatchStart,
)
from debugger.questions.why.go_expressions import RightSide
from debugger.questions.why.go_links import GoLinks
from debugger.questions.why.go_run import GoFrame, GoRecord, GoStop
from debugger.questions.why.go_source import GoSourceFunction, GoSources
from debugger.questions.why.go_unwritten import describe_argument_use, explain_unwritten
from debugger.questions.why.go_values import are_different
from debugger.questions.why.why_request import repeat_with

_INTEGER = re.compile(r"-?\d+")
_ELEMENTS_MAX = 64  # of a slice, in which a range's element is looked for
_INPUTS = re.compile(
    r"(?:os\.(?:Args|Getenv|LookupEnv|ReadFile|Environ)|io\.ReadAll|rand\.|time\.Now|flag\."
    r"|bufio\.|\w+\.(?:Read\w*|Text|Scan\w*)\b|fmt\.S?F?[Ss]can)"
)
_INPUT_VARIABLES = re.compile(r"os\.Args\b")
_CONVERTERS = re.compile(r"(?:strconv\.(?:Atoi|Parse\w+|Itoa|Format\w+)|strings\.Trim\w*)$")


class GoSteps(GoLinks):
    """The links so far; each method adds one, and returns what comes before it."""

    def __init__(self, sources: GoSources, expression: str) -> None:
        super().__init__(sources)
        self._expression = expression
        # The value at the location.
        self.value: str | None = None
        # Where the memory of the value may be watched, the last link's first.
        self._starts: list[WatchStart] = []
        # By the text of an index or a key: its value where it was read last.
        self._indexes: dict[str, str] = {}
        self._kept = 0  # links before that of the last write

    async def activation_of(self, stop: GoStop, number: int) -> Activation:
        """Return the call that a frame of the stack is."""
        frame = stop.frames[number]
        function = self.sources.function_at(frame.file, frame.line)
        if function is None:
            function = GoSourceFunction(frame.function, frame.file or "", frame.line or 0, 0)
        return Activation(function, stop.goroutine, await stop.depth_of(number), number)

    async def explain(self, stop: GoStop, position: GoPosition) -> GoStep:
        """Add the link of the last write of a value, and return what comes before it."""
        side = go_expressions.classify_value(position.expression)
        if side.kind == "call":
            return await self._follow_call(stop, position, side, "", 0, position.before)
        found = go_chain.find_write(stop.log.records, position)
        appended = go_chain.find_appended(stop.log.records, position)
        if appended is not None and (found is None or found.prefix != position.expression):
            return await self._explain_appended(stop, position, appended)
        if found is not None:
            return await self._explain_write(stop, position, found)
        root = go_expressions.split_path(position.expression.lstrip("&*"))[-1]
        function = position.activation.function
        if root in function.parameters or root == function.receiver:
            return await self._explain_parameter(stop, position, root)
        inner = go_source.closure_parameters(function, position.line)
        if root in inner:
            return await self._explain_closure_parameter(stop, position, root, inner)
        ended = explain_unwritten(self.sources, position, root, is_optimised=self.is_optimised)
        return msgspec.structs.replace(ended, is_unseen=True)

    async def _explain_write(
        self, stop: GoStop, position: GoPosition, found: go_chain.FoundWrite
    ) -> GoStep:
        record, site = found.record, found.record.site
        self._starts.insert(0, WatchStart(record, position.expression.lstrip("&*")))
        self._kept = len(self.links)
        suffix = position.expression.lstrip("&").removeprefix(found.prefix)
        text, number = site.value_of(found.target)
        side = go_expressions.classify_value(text)
        activation = self.activation_of_record(stop, record, position)
        here = GoPosition(
            text, activation, record.sequence, site.line, position.value, self.certainty(position)
        )
        if side.kind == "append" and suffix.startswith("[") and site.operator in {"", ":="}:
            written = position, found
            return await self._follow_append(stop, here, side, suffix, position.before, written)
        certainty = found.certainty
        if certainty is LinkCertainty.SEEN:
            certainty = self.certainty(position)
        self.add_write(position, found, side, certainty)
        given = self.other_value(record, side, position, suffix)
        if site.operator in {"", ":="} and given is not None:
            return self._written_unseen(given, position.value, site.place)
        if site.operator == "range":
            return await self._follow_range(stop, here, found, suffix)
        if site.operator == "loop":
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED,
                f"the counter of the loop at {site.place}, which begins with {text}",
            )
        if site.operator not in {"", ":="}:
            names = (found.target, *go_expressions.paths_in(text))
            full = f"{found.target} {site.operator} {text}"
            return await self._follow_computed(stop, here, names, full, position.before)
        return await self._follow_side(stop, here, side, suffix, number, position.before)

    async def _explain_appended(
        self, stop: GoStop, position: GoPosition, found: go_chain.FoundWrite
    ) -> GoStep:
        """Add the link of the line that appended an equal value to a slice, and follow that."""
        record = found.record
        side = go_expressions.classify_value(found.target)
        self.add_write(position, found, side, LinkCertainty.INFERRED)
        text = f"an equal value was appended to {found.prefix}"
        self.links[-1] = msgspec.structs.replace(self.links[-1], text=text, new=position.value)
        inner = GoPosition(
            found.target,
            self.activation_of_record(stop, record, position),
            record.sequence,
            record.site.line,
            position.value,
            LinkCertainty.INFERRED,
        )
        return await self._follow_side(stop, inner, side, "", 0, position.before)

    def _written_unseen(self, given: str, value: str | None, place: str) -> NeedsWatch:
        """Have the memory watched, because a statement gave it another value."""
        if self.links:
            self.links[-1] = msgspec.structs.replace(
                self.links[-1], certainty=LinkCertainty.INFERRED
            )
        got = describe_argument_use(self.sources, self.links)
        again = f"debugger who-wrote '{self._expression}' --at {place} -- CMD"
        since = f"something that was not seen wrote {value} since"
        text = f"{place} gave {given}, so {since}{got or f': {again}'}"
        return self._watched(value, ChainEnded(ChainEnd.NOT_FOLLOWED, text, is_unseen=True))

    def _watched(self, value: str | None, otherwise: ChainEnded) -> NeedsWatch:
        return NeedsWatch(tuple(self._starts), value, self._kept, otherwise)

    async def _follow_side(  # noqa: PLR0917 - the parts of a statement
        self,
        stop: GoStop,
        here: GoPosition,
        side: RightSide,
        suffix: str,
        number: int,
        before: int,
    ) -> GoStep:
        """Return what comes before the right side of an assignment, or a `return`."""
        if side.kind == "literal":
            return await self._follow_literal(stop, here, side, suffix, before)
        if side.kind == "call":
            return await self._follow_call(stop, here, side, suffix, number, before)
        if side.kind == "receive":
            return await self._follow_receive(stop, here, side.text, suffix, before)
        if side.kind == "append" and suffix.startswith("["):
            return await self._follow_append(stop, here, side, suffix, before)
        if side.kind == "computed":
            names = go_expressions.paths_in(here.expression)
            return await self._follow_computed(stop, here, names, side.text, before)
        return self._follow_plain(here, side, suffix)

    async def _follow_computed(
        self, stop: GoStop, here: GoPosition, names: Sequence[str], text: str, before: int
    ) -> GoStep:
        """Follow the one call or operand that explains a value, or list them."""
        record, records = here.activation.record, stop.log.records
        parts = go_called.find_called_parts(self.sources, records, record, text, before)
        read = record.values if record is not None else {}
        chosen = go_called.choose_part(parts, text, read, here.value)
        if chosen is not None:
            is_sure = chosen.value == here.value and here.certainty is not LinkCertainty.INFERRED
            certainty = here.certainty if is_sure else LinkCertainty.INFERRED
            inner = msgspec.structs.replace(here, value=chosen.value, certainty=certainty)
            side = go_expressions.classify_value(chosen.text)
            return await self._follow_return(stop, inner, chosen.returned, "", 0, side)
        self.add_called(parts)
        if parts:
            names = go_called.other_names(text, parts)
        return self.computed(here, names, text, parts)

    def _follow_plain(self, here: GoPosition, side: RightSide, suffix: str) -> GoStep:
        """Return what comes before a right side without a call."""
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        if side.kind == "path":
            return self._follow_path(here, side.text, suffix, place)
        if side.kind == "constant" and not suffix and are_different(side.text, here.value):
            return self._written_unseen(side.text, here.value, place)
        if side.kind == "allocation":
            return self._follow_allocation(side, suffix, place, here)
        ends = {
            "constant": (ChainEnd.CONSTANT, f"{side.text} is a literal at {place}"),
            "closure": (ChainEnd.CONSTANT, f"a function that is written at {place}"),
            "append": (ChainEnd.ALLOCATION, f"the slice grew there: {side.text} at {place}"),
        }
        if side.kind in ends:
            return ChainEnded(*ends[side.kind])
        return self.computed(here, go_expressions.paths_in(here.expression), side.text)

    def _follow_path(self, here: GoPosition, path: str, suffix: str, place: str) -> GoStep:
        if _INPUT_VARIABLES.match(path):
            return ChainEnded(ChainEnd.INPUT, f"{path} at {place}")
        text = path.lstrip("*") if suffix else path
        record = here.activation.record
        value = record.values.get(path) if record is not None and not suffix else None
        self._indexes |= go_called.index_values(path, record)
        return msgspec.structs.replace(here, expression=text + suffix, value=value or here.value)

    def _follow_allocation(
        self, side: RightSide, suffix: str, place: str, here: GoPosition
    ) -> GoStep:
        if side.text.startswith("&") and suffix:
            return msgspec.structs.replace(here, expression=side.text[1:] + suffix)
        if suffix and not go_values.is_zero(self.value):
            return self._not_seen(here, suffix, f"{side.text} at {place}")
        if suffix:
            text = f"the zero value: {side.text} at {place}, not written since"
            return ChainEnded(ChainEnd.CONSTANT, text, is_unseen=True)
        return ChainEnded(ChainEnd.ALLOCATION, f"{side.text} at {place}")

    def _not_seen(self, here: GoPosition, suffix: str, made: str) -> GoStep:
        """Have the memory watched of a part that a statement did not give."""
        expression = self._starts[0].expression if self._starts else self._expression
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        again = f"debugger who-wrote '{expression}' --at {place} -- CMD watches the memory"
        got = describe_argument_use(self.sources, self.links)
        end = ChainEnded(
            ChainEnd.NOT_FOLLOWED,
            f"made by {made}, which gives no {suffix.lstrip('.')}; no line that writes it by its "
            f"name was seen{got or f': {again} from there on'}",
            is_unseen=True,
        )
        return self._watched(here.value, end) if self._starts else end

    async def _follow_literal(
        self, stop: GoStop, here: GoPosition, side: RightSide, suffix: str, before: int
    ) -> GoStep:
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        suffix = go_called.with_known_index(suffix, self._indexes)
        part = re.match(r"\.[A-Za-z_]\w*|\[[^\[\]]*\]", suffix)
        made = f"{side.text} at {place}"
        if part is None or not go_expressions.is_fixed_part(part[0]):
            is_made = part is None
            made_there = ChainEnded(ChainEnd.ALLOCATION, made)
            return made_there if is_made else self._not_seen(here, suffix, made)
        value = go_values.part_of_literal(side.text, part[0], self.sources.fields_of(side.text))
        outer = self.sources.embedded_with(side.text, part[0].lstrip(".")) if not value else ""
        if outer:
            return await self._follow_literal(stop, here, side, f".{outer}{suffix}", before)
        if value is None and not go_values.is_zero(self.value):
            return self._not_seen(here, suffix, made)
        if value is None:
            return ChainEnded(
                ChainEnd.CONSTANT,
                f"the zero value: {made} gives no {part[0].lstrip('.')}",
                is_unseen=True,
            )
        inner = msgspec.structs.replace(here, expression=value)
        rest, given = suffix[part.end() :], go_expressions.classify_value(value)
        record = here.activation.record
        known = self.given_part(record, value, rest) if record is not None else None
        if known is not None and are_different(known, here.value):
            return self._written_unseen(known, here.value, place)
        return await self._follow_side(stop, inner, given, rest, 0, before)

    async def _follow_call(  # noqa: PLR0917 - the parts of a call
        self,
        stop: GoStop,
        here: GoPosition,
        side: RightSide,
        suffix: str,
        number: int,
        before: int,
    ) -> GoStep:
        origin, record = side.origin, here.activation.record
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        called = side.text.partition("(")[0]
        assert origin is not None
        suffix = f".{origin.field}{suffix}" if origin.field else suffix
        functions = self.sources.functions_named(origin.function)
        is_value = not functions and self.sources.is_function_value(called)
        if not functions and not is_value:
            return await self._follow_library(stop, here, side, suffix, before)
        records = stop.log.records
        returned = result = None
        if record is not None:
            before = go_chain.end_of_call(records, record, before)
            sites = self.sources.returns_of_values(record.site.file) if is_value else ()
            parts = go_called.find_called_parts(
                self.sources, records, record, ", ".join(record.site.values), before
            )
            returned = go_called.only_return(parts, side.text) or go_chain.find_return(
                records, record, functions, before, sites
            )
            result = go_chain.find_result(records, record, functions, number, before)
        if result is not None and (returned is None or returned.sequence < result.record.sequence):
            inner = msgspec.structs.replace(here, expression=result.prefix + suffix)
            return await self._explain_write(stop, inner, result)
        if returned is None:
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED,
                f"no return of {called} was seen for the call at {place}"
                + ", where optimisation may have put its code" * self.is_optimised
                + f": debugger calls {origin.function} -- CMD",
                is_unseen=True,
            )
        return await self._follow_return(stop, here, returned, suffix, number, side)

    async def _follow_library(
        self, stop: GoStop, here: GoPosition, side: RightSide, suffix: str, before: int
    ) -> GoStep:
        """Return what comes before the result of a function that has no source here."""
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        called = side.text.partition("(")[0]
        atomic = go_values.atomic_path(side.text)
        if atomic is not None:
            return self._follow_path(here, atomic, suffix, place)
        if _CONVERTERS.match(called) and side.origin is not None and side.origin.arguments:
            argument = go_expressions.classify_value(side.origin.arguments[0])
            inner = msgspec.structs.replace(here, expression=argument.text, value=None)
            return await self._follow_side(stop, inner, argument, "", 0, before)
        if _INPUTS.match(called):
            return ChainEnded(ChainEnd.INPUT, f"{side.text} at {place}")
        return self.computed(here, go_expressions.paths_in(side.text), side.text)

    async def _follow_return(  # noqa: PLR0917 - the parts of a call
        self,
        stop: GoStop,
        here: GoPosition,
        returned: GoRecord,
        suffix: str,
        number: int,
        side: RightSide,
    ) -> GoStep:
        site = returned.site
        caller = CallSite(here.activation, side.text, here.line, here.before)
        activation = Activation(
            site.function, returned.goroutine, returned.depth, None, caller, returned
        )
        is_inner = site in self.sources.closure_returns
        # A recovered panic ends in the same code as the last `return`.
        may_recover = go_source.recovers(site.function)
        self.links.append(
            WhyLink(
                LinkKind.RETURNED,
                LinkCertainty.INFERRED if may_recover else self.certainty(here),
                "returned by "
                + "a function in " * is_inner
                + site.function.name
                + ", or by its recovered panic" * may_recover,
                frame=FrameView(0, site.function.name, site.file, site.line),
                statement=site.statement,
                thread=None,
                new=here.value if not suffix else None,
            )
        )
        is_whole = len(site.values) == 1 and number > 0
        text = (
            site.values[0 if is_whole else min(number, len(site.values) - 1)] if site.values else ""
        )
        inner = GoPosition(
            text, activation, returned.sequence, site.line, here.value, here.certainty
        )
        value = go_expressions.classify_value(text)
        # The records of what this `return` itself calls come before the caller's next one.
        return await self._follow_side(
            stop, inner, value, suffix, number if is_whole else 0, stop.log.count
        )

    async def _follow_receive(
        self, stop: GoStop, here: GoPosition, channel: str, suffix: str, before: int
    ) -> GoStep:
        record = here.activation.record
        sent = (
            go_chain.find_send(
                stop.log.records,
                record,
                channel,
                before,
                here.value,
                lambda one: self.given_part(one, one.site.values[0], suffix),
            )
            if record is not None
            else None
        )
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        if sent is None:
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED,
                f"no send to {channel} was seen before {place}: a library may send",
            )
        site = sent.site
        self.links.append(
            WhyLink(
                LinkKind.PASSED,
                # Of several sends to a channel the last one with the value is taken.
                LinkCertainty.INFERRED,
                f"sent to the channel {site.targets[0]}",
                frame=FrameView(0, site.function.name, site.file, site.line),
                statement=site.statement,
                thread=self.thread(sent.goroutine, here),
                new=here.value if not suffix else None,
            )
        )
        activation = self.activation_of_record(stop, sent, here)
        text = site.values[0]
        inner = GoPosition(
            text, activation, sent.sequence, site.line, here.value, LinkCertainty.INFERRED
        )
        return await self._follow_side(
            stop, inner, go_expressions.classify_value(text), suffix, 0, before
        )

    async def _follow_append(  # noqa: PLR0917 - the parts of a statement
        self,
        stop: GoStop,
        here: GoPosition,
        side: RightSide,
        suffix: str,
        before: int,
        written: tuple[GoPosition, go_chain.FoundWrite] | None = None,
    ) -> GoStep:
        """Follow an element of a slice that has grown: appended there, or before."""
        record = here.activation.record
        assert side.origin is not None
        base, *added = side.origin.arguments
        at = re.match(r"\[(\d+)\]", suffix)
        length = record.lengths.get(base) if record is not None else None
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        if at is None or length is None or any(one.endswith("...") for one in added):
            if written is not None:
                self.add_write(*written, side, LinkCertainty.INFERRED)
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED, f"which element {side.text} gave is not known: {place}"
            )
        number, rest = int(at[1]), suffix[at.end() :]
        if not length <= number < length + len(added):
            return msgspec.structs.replace(here, expression=base + suffix)
        text = added[number - length]
        value = go_expressions.classify_value(text)
        if written is not None:
            self.add_write(*written, value, self.certainty(here))
            self.links[-1] = msgspec.structs.replace(
                self.links[-1], text=f"appended to {base} as element {number}", new=here.value
            )
        given = self.given_part(record, text, rest) if record is not None else None
        if given is not None and are_different(given, here.value):
            return self._written_unseen(given, here.value, place)
        inner = msgspec.structs.replace(here, expression=text)
        return await self._follow_side(stop, inner, value, rest, 0, before)

    async def _follow_range(
        self, stop: GoStop, here: GoPosition, found: go_chain.FoundWrite, suffix: str
    ) -> GoStep:
        """Follow the element that a `range` has reached, by its index or its value."""
        site = found.record.site
        base, place, index = site.values[0], site.place, here.activation.index
        if site.targets[0] == found.target and len(site.targets) > 1:
            return ChainEnded(ChainEnd.CONSTANT, f"the counter of the loop over {base} at {place}")
        if index is None or not go_expressions.is_path(base):
            number = go_values.only_element(found.record.values.get(base, ""), suffix, here.value)
            if number is None:
                text = f"an element of {base} at {place}: ask for one of them there"
                return ChainEnded(ChainEnd.NOT_FOLLOWED, text)
            path, by_value = f"{base}[{number}]{suffix}", LinkCertainty.INFERRED
            return msgspec.structs.replace(here, expression=path, certainty=by_value)
        counter = site.targets[0]
        known = await stop.evaluate(counter, index) if counter != "_" else None
        if known is None:
            count = min(await stop.number_of(f"len({base})", index), _ELEMENTS_MAX)
            equal = [
                str(at)
                for at in range(count)
                if await stop.evaluate(f"{base}[{at}]", index) == here.value
            ]
            known = equal[0] if len(equal) == 1 else None
        if known is None:
            text = f"several elements of {base} have the value: {repeat_with(f'{base}[K]', place)}"
            return ChainEnded(ChainEnd.NOT_FOLLOWED, text)
        activation = msgspec.structs.replace(here.activation, record=None)
        return msgspec.structs.replace(
            here, expression=f"{base}[{known}]{suffix}", activation=activation
        )

    async def _explain_parameter(self, stop: GoStop, position: GoPosition, root: str) -> GoStep:
        """Follow a parameter to the argument of the call, on the stack or in the records."""
        activation = position.activation
        suffix = position.expression.lstrip("&*").removeprefix(root)
        if activation.call is not None:
            return await self._pass_on(stop, position, root, suffix, activation.call, None)
        if activation.index is None:
            if activation.record is None:
                return ChainEnded(
                    ChainEnd.LOST, f"the call of {activation.function.name} is not known"
                )
            return NeedsRun(activation.record, position)
        at = activation.index + 1
        frame = stop.frames[at] if at < len(stop.frames) else None
        if frame is None or frame.file is None or frame.function.startswith("runtime."):
            return self.describe_start(activation.function, root)
        outer = await self.activation_of(stop, at)
        statement = go_chain.call_statement(frame, activation.function)
        call = CallSite(outer, statement, frame.line or 0, position.before)
        return await self._pass_on(stop, position, root, suffix, call, frame)

    async def _explain_closure_parameter(
        self, stop: GoStop, position: GoPosition, root: str, names: tuple[str, ...]
    ) -> GoStep:
        """Follow a parameter of a function without a name to the argument of its call."""
        activation, file = position.activation, Path(position.activation.function.file).name
        if activation.call is None:
            text = f"{root} is a parameter of a function without a name at {file}:{position.line}"
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED, f"{text}: debugger calls {file}:{position.line} -- CMD"
            )
        name = go_expressions.called_name(activation.call.statement).rpartition(".")[2]
        closure = msgspec.structs.replace(
            activation.function, name=name, parameters=names, results=(), receiver=""
        )
        called = msgspec.structs.replace(activation, function=closure)
        inner = msgspec.structs.replace(position, activation=called)
        return await self._explain_parameter(stop, inner, root)

    async def _pass_on(  # noqa: PLR0917 - the parts of a call
        self,
        stop: GoStop,
        position: GoPosition,
        root: str,
        suffix: str,
        call: CallSite,
        frame: GoFrame | None,
    ) -> GoStep:
        function = position.activation.function
        text = go_plan.passed_argument(call.statement, function, root)
        outer = call.activation
        place = f"{Path(outer.function.file or '?').name}:{call.line}"
        if not text and root in function.parameters:
            captured = self.explain_captured(position, root)
            if captured is not None:
                return captured
        if not text:
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED,
                f"the call of {function.name} at {place} does not show what it passes for {root}",
            )
        number = function.parameters.index(root) + 1 if root in function.parameters else 0
        message = f"argument {number} (`{root}`)" if number else f"the receiver `{root}`"
        name = frame.function.rpartition(".")[2] if frame is not None else outer.function.name
        self.links.append(
            WhyLink(
                LinkKind.PASSED,
                self.certainty(position),
                f"passed as {message}",
                frame=FrameView(0, name, outer.function.file, call.line),
                statement=call.statement,
                new=position.value if not suffix else None,
            )
        )
        inner = GoPosition(
            text, outer, call.sequence, call.line, position.value, position.certainty
        )
        side = go_expressions.classify_value(text)
        if side.kind == "call" and outer.record is None:
            outer = go_chain.with_call_record(stop.log.records, outer, call)
            inner = msgspec.structs.replace(inner, activation=outer)
        # The calls in an argument return before the function runs.
        return await self._follow_side(stop, inner, side, suffix, 0, position.before)
