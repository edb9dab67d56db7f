"""Explains values of Go by the records and the stack of a run: a link, and what comes before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.model.answers.frames import FrameView
from debugger.questions.why import go_chain, go_plan, go_source
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    ValueOperand,
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
from debugger.questions.why.go_memory import are_different
from debugger.questions.why.go_run import GoFrame, GoRecord, GoStop
from debugger.questions.why.go_source import GoSourceFunction, GoSources, RightSide
from debugger.questions.why.why_request import repeat_with

_OPERANDS = 4
_INTEGER = re.compile(r"-?\d+")
_ELEMENTS_MAX = 64  # of a slice, in which a range's element is looked for
_INPUTS = re.compile(
    r"(?:os\.(?:Args|Getenv|LookupEnv|ReadFile|Environ)|io\.ReadAll|rand\.|time\.Now|flag\."
    r"|bufio\.|\w+\.(?:Read\w*|Text|Scan\w*)\b|fmt\.S?F?[Ss]can)"
)
_WRITERS_SHOWN = 4
_CONVERTERS = re.compile(r"(?:strconv\.(?:Atoi|Parse\w+|Itoa|Format\w+)|strings\.Trim\w*)$")


class GoSteps:
    """The links so far; each method adds one, and returns what comes before it."""

    def __init__(self, sources: GoSources, expression: str) -> None:
        self._sources, self._expression = sources, expression
        self.links: list[WhyLink] = []
        # The value at the location.
        self.value: str | None = None
        # Whether the records are those of the run that reached the location.
        self.is_first_run = True
        # Where the memory of the value may be watched, the last link's first.
        self._starts: list[WatchStart] = []
        self._kept = 0  # links before that of the last write

    async def activation_of(self, stop: GoStop, number: int) -> Activation:
        """Return the call that a frame of the stack is."""
        frame = stop.frames[number]
        function = self._sources.function_at(frame.file, frame.line)
        if function is None:
            function = GoSourceFunction(frame.function, frame.file or "", frame.line or 0, 0)
        return Activation(function, stop.goroutine, await stop.depth_of(number), number)

    async def explain(self, stop: GoStop, position: GoPosition) -> GoStep:
        """Add the link of the last write of a value, and return what comes before it."""
        found = go_chain.find_write(stop.log.records, position)
        appended = go_chain.find_appended(stop.log.records, position)
        if appended is not None and (found is None or found.prefix != position.expression):
            return self._explain_appended(stop, position, appended)
        if found is not None:
            return await self._explain_write(stop, position, found)
        root = go_source.split_path(position.expression.lstrip("&*"))[-1]
        function = position.activation.function
        if root in function.parameters or root == function.receiver:
            return await self._explain_parameter(stop, position, root)
        return self._explain_unwritten(position, root)

    def _explain_unwritten(self, position: GoPosition, root: str) -> ChainEnded:
        for one in self._sources.globals_named(root):
            name = Path(one.file).name
            writers = self._sources.unseen_writers(root)
            if writers:
                shown = ", ".join(writers[:_WRITERS_SHOWN])
                text = f"no write of {root} was seen; not watched are {shown}"
                return ChainEnded(ChainEnd.NOT_FOLLOWED, text)
            return ChainEnded(
                ChainEnd.CONSTANT, f"{root} was not changed: {one.text} at {name}:{one.line}"
            )
        function = position.activation.function
        place = f"{Path(function.file).name}:{position.line}"
        by = go_source.describe_address_use(function, root, position.line) or "a pointer to it"
        return ChainEnded(
            ChainEnd.NOT_FOLLOWED,
            f"no line of the program's sources was seen to write {position.expression} before "
            f"{place}: a library may have, or {by}; debugger who-wrote "
            f"'{position.expression}' --at {place} -- CMD watches the memory from there on",
        )

    async def _explain_write(
        self, stop: GoStop, position: GoPosition, found: go_chain.FoundWrite
    ) -> GoStep:
        record, site = found.record, found.record.site
        self._starts.insert(0, WatchStart(record, position.expression.lstrip("&*")))
        self._kept = len(self.links)
        suffix = position.expression.lstrip("&").removeprefix(found.prefix)
        text, number = site.value_of(found.target)
        side = go_source.classify_value(text)
        activation = self._activation_of_record(stop, record, position)
        here = GoPosition(
            text, activation, record.sequence, site.line, position.value, self._certainty(position)
        )
        if side.kind == "append" and suffix.startswith("[") and site.operator in {"", ":="}:
            return await self._follow_append(position, found, here, side, suffix)
        certainty = found.certainty
        if certainty is LinkCertainty.SEEN:
            certainty = self._certainty(position)
        self._add_write(position, found, side, certainty)
        given = self._other_value(record, side, position, suffix)
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
            names = (found.target, *go_source.paths_in(text))
            return self._computed(here, names, f"{found.target} {site.operator} {text}")
        return self._follow_side(stop, here, side, suffix, number, position.before)

    def _explain_appended(
        self, stop: GoStop, position: GoPosition, found: go_chain.FoundWrite
    ) -> GoStep:
        """Add the link of the line that appended an equal value to a slice, and follow that."""
        record = found.record
        side = go_source.classify_value(found.target)
        self._add_write(position, found, side, LinkCertainty.INFERRED)
        text = f"an equal value was appended to {found.prefix}"
        self.links[-1] = msgspec.structs.replace(self.links[-1], text=text, new=position.value)
        inner = GoPosition(
            found.target,
            self._activation_of_record(stop, record, position),
            record.sequence,
            record.site.line,
            position.value,
            LinkCertainty.INFERRED,
        )
        return self._follow_side(stop, inner, side, "", 0, position.before)

    def _certainty(self, position: GoPosition) -> LinkCertainty:
        if position.certainty is LinkCertainty.INFERRED:
            return LinkCertainty.INFERRED
        return LinkCertainty.SEEN if self.is_first_run else LinkCertainty.RERUN

    @staticmethod
    def _activation_of_record(stop: GoStop, record: GoRecord, position: GoPosition) -> Activation:
        """Return the activation of a record: the position's own, one on the stack, or another."""
        mine = position.activation
        index, call = None, None
        if go_chain.is_same_call(stop.log.records, record, position):
            index, call = mine.index, mine.call
        return Activation(record.site.function, record.goroutine, record.depth, index, call, record)

    def _add_write(
        self,
        position: GoPosition,
        found: go_chain.FoundWrite,
        side: RightSide,
        certainty: LinkCertainty,
    ) -> None:
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
            for name in go_source.paths_in(site.value_of(found.target)[0])
            if side.kind != "receive" and go_chain.plain_value(record.values.get(name)) is not None
        )
        self.links.append(
            WhyLink(
                kind,
                certainty,
                f"{found.prefix} {text}" if is_part else text,
                frame=FrameView(0, site.function.name, site.file, site.line),
                statement=site.statement,
                thread=self._thread(record.goroutine, position),
                old=None if is_part else go_chain.plain_value(record.values.get(found.target)),
                new=None if is_part else position.value,
                operands=operands[:_OPERANDS],
            )
        )

    @staticmethod
    def _other_value(
        record: GoRecord, side: RightSide, position: GoPosition, suffix: str
    ) -> str | None:
        """Return the value of a right side that is another one than the followed value."""
        given = side.text if side.kind == "constant" else record.values.get(side.text)
        return given if not suffix and are_different(given, position.value) else None

    def _written_unseen(self, given: str, value: str | None, place: str) -> NeedsWatch:
        """Have the memory watched, because a statement gave it another value."""
        if self.links:
            self.links[-1] = msgspec.structs.replace(
                self.links[-1], certainty=LinkCertainty.INFERRED
            )
        again = f"debugger who-wrote '{self._expression}' --at {place} -- CMD"
        text = f"{place} gave {given}, so something that was not seen wrote {value} since: {again}"
        return self._watched(value, ChainEnded(ChainEnd.NOT_FOLLOWED, text))

    def _watched(self, value: str | None, otherwise: ChainEnded) -> NeedsWatch:
        return NeedsWatch(tuple(self._starts), value, self._kept, otherwise)

    @staticmethod
    def _thread(goroutine: int, position: GoPosition) -> str | None:
        return f"goroutine {goroutine}" if goroutine != position.activation.goroutine else None

    def _follow_side(  # noqa: PLR0917 - the parts of a statement
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
            return self._follow_literal(stop, here, side, suffix, before)
        if side.kind == "call":
            return self._follow_call(stop, here, side, suffix, number, before)
        if side.kind == "receive":
            return self._follow_receive(stop, here, side.text, suffix, before)
        return self._follow_plain(here, side, suffix)

    def _follow_plain(self, here: GoPosition, side: RightSide, suffix: str) -> GoStep:
        """Return what comes before a right side without a call."""
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        if side.kind == "path":
            return self._follow_path(here, side.text, suffix, place)
        if side.kind == "allocation":
            return self._follow_allocation(side, suffix, place, here)
        ends = {
            "constant": (ChainEnd.CONSTANT, f"{side.text} is a literal at {place}"),
            "closure": (ChainEnd.CONSTANT, f"a function that is written at {place}"),
            "append": (ChainEnd.ALLOCATION, f"the slice grew there: {side.text} at {place}"),
        }
        if side.kind in ends:
            return ChainEnded(*ends[side.kind])
        return self._computed(here, go_source.paths_in(here.expression), side.text)

    def _follow_path(self, here: GoPosition, path: str, suffix: str, place: str) -> GoStep:
        if _INPUTS.match(path):
            return ChainEnded(ChainEnd.INPUT, f"{path} at {place}")
        text = path.lstrip("*") if suffix else path
        record = here.activation.record
        value = record.values.get(path) if record is not None and not suffix else None
        return msgspec.structs.replace(here, expression=text + suffix, value=value or here.value)

    def _follow_allocation(
        self, side: RightSide, suffix: str, place: str, here: GoPosition
    ) -> GoStep:
        if side.text.startswith("&") and suffix:
            return msgspec.structs.replace(here, expression=side.text[1:] + suffix)
        if suffix and not go_chain.is_zero(self.value):
            return self._not_seen(here, suffix, f"{side.text} at {place}")
        if suffix:
            return ChainEnded(
                ChainEnd.CONSTANT, f"the zero value: {side.text} at {place}, not written since"
            )
        return ChainEnded(ChainEnd.ALLOCATION, f"{side.text} at {place}")

    def _not_seen(self, here: GoPosition, suffix: str, made: str) -> GoStep:
        """Have the memory watched of a part that a statement did not give."""
        expression = self._expression
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        end = ChainEnded(
            ChainEnd.NOT_FOLLOWED,
            f"made by {made}, which gives no {suffix.lstrip('.')}; no line that writes it by its "
            f"name was seen: debugger who-wrote '{expression}' --at {place} -- CMD watches the "
            "memory from there on",
        )
        return self._watched(here.value, end) if self._starts else end

    def _follow_literal(
        self, stop: GoStop, here: GoPosition, side: RightSide, suffix: str, before: int
    ) -> GoStep:
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        part = re.match(r"\.[A-Za-z_]\w*|\[[^\[\]]*\]", suffix)
        if part is None:
            return ChainEnded(ChainEnd.ALLOCATION, f"{side.text} at {place}")
        value = go_source.part_of_literal(side.text, part[0], self._sources.fields_of(side.text))
        if value is None and not go_chain.is_zero(self.value):
            return self._not_seen(here, suffix, f"{side.text} at {place}")
        if value is None:
            return ChainEnded(
                ChainEnd.CONSTANT,
                f"the zero value: {side.text} at {place} gives no {part[0].lstrip('.')}",
            )
        inner = msgspec.structs.replace(here, expression=value)
        rest, given = suffix[part.end() :], go_source.classify_value(value)
        if not rest and given.kind == "constant" and are_different(value, here.value):
            return self._written_unseen(value, here.value, place)
        return self._follow_side(stop, inner, given, rest, 0, before)

    def _follow_call(  # noqa: PLR0917 - the parts of a call
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
        functions = self._sources.functions_named(origin.function)
        if not functions:
            if _CONVERTERS.match(called) and origin.arguments:
                argument = go_source.classify_value(origin.arguments[0])
                inner = msgspec.structs.replace(here, expression=argument.text, value=None)
                return self._follow_side(stop, inner, argument, "", 0, before)
            if _INPUTS.match(called):
                return ChainEnded(ChainEnd.INPUT, f"{side.text} at {place}")
            return self._computed(here, go_source.paths_in(side.text), side.text)
        returned = (
            go_chain.find_return(stop.log.records, record, functions, before)
            if record is not None
            else None
        )
        if returned is None:
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED,
                f"no return of {called} was seen for the call at {place}: debugger calls "
                f"{origin.function} -- CMD",
            )
        return self._follow_return(stop, here, returned, suffix, number, side)

    def _follow_return(  # noqa: PLR0917 - the parts of a call
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
        self.links.append(
            WhyLink(
                LinkKind.RETURNED,
                self._certainty(here),
                f"returned by {site.function.name}",
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
        value = go_source.classify_value(text)
        # The records of what this `return` itself calls come before the caller's next one.
        return self._follow_side(
            stop, inner, value, suffix, number if is_whole else 0, stop.log.count
        )

    def _follow_receive(
        self, stop: GoStop, here: GoPosition, channel: str, suffix: str, before: int
    ) -> GoStep:
        record = here.activation.record
        sent = (
            go_chain.find_send(stop.log.records, record, channel, before, here.value)
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
                thread=self._thread(sent.goroutine, here),
                new=here.value if not suffix else None,
            )
        )
        activation = self._activation_of_record(stop, sent, here)
        text = site.values[0]
        inner = GoPosition(
            text, activation, sent.sequence, site.line, here.value, LinkCertainty.INFERRED
        )
        return self._follow_side(stop, inner, go_source.classify_value(text), suffix, 0, before)

    async def _follow_append(
        self,
        position: GoPosition,
        found: go_chain.FoundWrite,
        here: GoPosition,
        side: RightSide,
        suffix: str,
    ) -> GoStep:
        """Follow an element of a slice that has grown: appended there, or before."""
        assert side.origin is not None
        base, *added = side.origin.arguments
        at = re.match(r"\[(\d+)\]", suffix)
        length = found.record.lengths.get(base)
        if at is None or length is None or any(one.endswith("...") for one in added):
            self._add_write(position, found, side, LinkCertainty.INFERRED)
            place = f"{Path(here.activation.function.file).name}:{here.line}"
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED, f"which element {side.text} gave is not known: {place}"
            )
        number = int(at[1])
        if not length <= number < length + len(added):
            return msgspec.structs.replace(here, expression=base + suffix, value=position.value)
        text = added[number - length]
        value = go_source.classify_value(text)
        self._add_write(position, found, value, self._certainty(position))
        link = self.links[-1]
        self.links[-1] = msgspec.structs.replace(
            link, text=f"appended to {base} as element {number}", new=position.value
        )
        inner = msgspec.structs.replace(here, expression=text)
        return self._follow_side(None, inner, value, suffix[at.end() :], 0, position.before)  # type: ignore[arg-type]

    async def _follow_range(
        self, stop: GoStop, here: GoPosition, found: go_chain.FoundWrite, suffix: str
    ) -> GoStep:
        """Follow the element that a `range` has reached, by its index or its value."""
        site = found.record.site
        base = site.values[0]
        place = site.place
        index = here.activation.index
        if site.targets[0] == found.target and len(site.targets) > 1:
            return ChainEnded(ChainEnd.CONSTANT, f"the counter of the loop over {base} at {place}")
        if index is None or not go_source.is_path(base):
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED, f"an element of {base} at {place}: ask for one of them there"
            )
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
            again = repeat_with(f"{base}[K]", place)
            return ChainEnded(
                ChainEnd.NOT_FOLLOWED, f"several elements of {base} have the value: {again}"
            )
        activation = msgspec.structs.replace(here.activation, record=None)
        return msgspec.structs.replace(
            here, expression=f"{base}[{known}]{suffix}", activation=activation
        )

    def _computed(self, here: GoPosition, names: Sequence[str], text: str) -> GoStep:
        """Follow the one operand that explains a value, or list them with their values."""
        record = here.activation.record
        values = dict(record.values) if record is not None else {}
        place = f"{Path(here.activation.function.file).name}:{here.line}"
        read = {one: values[one] for one in names if one in values}
        equal = [one for one, value in read.items() if value == here.value]
        chosen = equal[0] if len(equal) == 1 else None
        if chosen is None and len(read) == 1 == len(set(names)):
            chosen = next(iter(read))
        if chosen is not None:
            is_sure = len(read) == 1
            certainty = here.certainty if is_sure else LinkCertainty.INFERRED
            return msgspec.structs.replace(
                here, expression=chosen, value=read[chosen], certainty=certainty
            )
        message = ", ".join(f"{one}={value}" for one, value in [*read.items()][:_OPERANDS])
        if not names:
            return ChainEnded(ChainEnd.NOT_FOLLOWED, f"computed by {text} at {place}")
        hit = record.hit if record is not None else 1
        again = repeat_with(names[0], place).replace(
            " -- ", f" --nth {hit} -- " if hit > 1 else " -- "
        )
        return ChainEnded(
            ChainEnd.NOT_FOLLOWED, f"computed from {message or text}; go on with {again}"
        )

    async def _explain_parameter(self, stop: GoStop, position: GoPosition, root: str) -> GoStep:
        """Follow a parameter to the argument of the call, on the stack or in the records."""
        activation = position.activation
        suffix = position.expression.lstrip("&*").removeprefix(root)
        if activation.call is not None:
            return self._pass_on(stop, position, root, suffix, activation.call, None)
        if activation.index is None:
            if activation.record is None:
                return ChainEnded(
                    ChainEnd.LOST, f"the call of {activation.function.name} is not known"
                )
            return NeedsRun(activation.record, position)
        at = activation.index + 1
        frame = stop.frames[at] if at < len(stop.frames) else None
        if frame is None or frame.file is None or frame.function.startswith("runtime."):
            return self._start_of_goroutine(activation.function, root)
        outer = await self.activation_of(stop, at)
        statement = go_chain.call_statement(frame, activation.function)
        call = CallSite(outer, statement, frame.line or 0, position.before)
        return self._pass_on(stop, position, root, suffix, call, frame)

    def _start_of_goroutine(self, function: GoSourceFunction, root: str) -> ChainEnded:
        if function.name == "main":
            return ChainEnded(ChainEnd.INPUT, f"{root} is of the command line")
        for caller, statement in self._sources.callers_of(function):
            if statement.startswith("go "):
                text = go_plan.passed_argument(statement, function, root)
                name = Path(caller.file).name
                return ChainEnded(
                    ChainEnd.NOT_FOLLOWED,
                    f"the goroutine began with {root} = {text} in {caller.name} ({name}): "
                    f"{repeat_with(text or root, f'{name}:LINE')}",
                )
        return ChainEnded(ChainEnd.NOT_FOLLOWED, f"{root} was given at the goroutine's beginning")

    def _pass_on(  # noqa: PLR0917 - the parts of a call
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
                self._certainty(position),
                f"passed as {message}",
                frame=FrameView(0, name, outer.function.file, call.line),
                statement=call.statement,
                new=position.value if not suffix else None,
            )
        )
        inner = GoPosition(
            text, outer, call.sequence, call.line, position.value, position.certainty
        )
        side = go_source.classify_value(text)
        if side.kind == "call" and outer.record is None:
            outer = go_chain.with_call_record(stop.log.records, outer, call)
            inner = msgspec.structs.replace(inner, activation=outer)
        return self._follow_side(stop, inner, side, suffix, 0, call.sequence)
