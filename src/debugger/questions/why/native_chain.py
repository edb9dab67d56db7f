"""Builds the chain of a native value: links from stacks and statements, and what to watch next."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from debugger.questions.why import (
    container_items,
    frame_values,
    native_values,
    statement_origin,
    struct_parts,
)
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
)
from debugger.questions.why.chain_positions import (
    as_inferred,
    at_optimised_out,
    at_part,
    at_subject,
    at_text,
    before_change,
    copied_memory,
    end_in_library,
    end_of_operand,
    end_without_memory,
    given_operand,
    given_through,
    is_changed_parameter,
    origin_at,
    passed_whole,
    place_of,
    stored_value,
    written_origin,
)
from debugger.questions.why.container_items import ItemStore
from debugger.questions.why.guilty_factor import find_guilty_factor
from debugger.questions.why.native_links import (
    NativeLinks,
    describe_origin,
    describe_sum,
    observed,
)
from debugger.questions.why.native_steps import (
    MemoryTarget,
    NextStep,
    ReachedEnd,
    RegisterTarget,
    ReturnTarget,
    StoreTarget,
    ValuePosition,
)
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.questions.why.struct_parts import StructPart
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceValue

_LANE = 8  # hexadecimal digits of a number of four bytes
_OWN = frozenset({"this", "self"})


class NativeChain(NativeLinks):
    """The links so far. Each method adds what it can explain, and returns what comes next."""

    def __init__(self) -> None:
        super().__init__()
        # The sum that ended the chain, if one did.
        self.computed: tuple[ValuePosition, StatementOrigin] | None = None
        # The names of the program's functions, of which one may be called as a library's is.
        self.own_functions: frozenset[str] = frozenset()

    def explain_position(self, position: ValuePosition) -> NextStep:
        """Return where the value of an expression must come from, by its frame alone."""
        frame, name = position.frame, position.expression
        if name in frame.args and not is_changed_parameter(position):
            passed = self._follow_argument(position)
            if passed is not None:
                return passed
        if position.value.address:
            return MemoryTarget(position)
        origin = statement_origin.classify_expression(name)
        if origin.kind is OriginKind.OPERAND:
            return RegisterTarget(position)
        return self._follow_origin(origin, position)

    def _follow_argument(self, position: ValuePosition) -> NextStep | None:
        """Add the link of a parameter to the caller's argument; None if the values differ."""
        frame = position.frame
        at = position.index + 1
        if at >= len(position.frames):
            return None
        caller = position.frames[at]
        names = [one for one in frame.args if one not in _OWN]
        number = names.index(position.expression) if position.expression in names else -1
        if caller.library or not caller.file:
            return self._follow_library_call(position, caller)
        calls = statement_origin.calls_in_statement(caller.statement, frame.function)
        call = frame_values.choose_call(calls, number, caller, position.value)
        if call is None:
            return None
        text = call.arguments[number]
        origin = statement_origin.classify_expression(text)
        given = caller.vars.get(origin.text) if origin.kind is OriginKind.OPERAND else None
        is_whole = given is not None and given.size > position.value.size
        if given is not None and position.certainty is LinkCertainty.INFERRED:
            # A conversion keeps the number of a newtype, and may change what is beside it.
            is_whole = is_whole or given.bytes[:_LANE] == position.value.bytes[:_LANE]
        is_known = given is not None and bool(given.bytes) and not is_whole
        if given is not None and is_known and not given.is_equal(position.value):
            return None  # changed since, on one side
        self.add(
            LinkKind.PASSED,
            position,
            f"passed as argument {number + 1} (`{position.expression}`)",
            caller,
            statement=call.text,
            new=position.value.text,
        )
        # The caller's frame goes on from the same moment.
        outer = msgspec.structs.replace(position, expression=text, index=at)
        return self._follow_origin(origin, outer)

    def _follow_library_call(self, position: ValuePosition, caller: TraceFrame) -> NextStep:
        """Follow a parameter that a library has given, if the program's own call of it shows it."""
        name = position.expression
        if position.frame.function == "main":
            return ReachedEnd(ChainEnd.INPUT, f"{name} is of the command line")
        by = caller.function or "a library"
        self.add(LinkKind.PASSED, position, f"passed as argument `{name}` by {by}", caller)
        outer = given_through(position, position.index + 1)
        if outer is None:
            return ReachedEnd(ChainEnd.NOT_FOLLOWED, "the caller is no code of the program")
        return self._follow_origin(statement_origin.classify_expression(outer.expression), outer)

    def explain_passed(self, position: ValuePosition) -> NextStep:
        """Return what comes next for a parameter whose memory had the value before the call."""
        passed = self._follow_argument(position)
        if passed is not None:
            return passed
        name, function = position.expression, position.frame.function
        return ReachedEnd(
            ChainEnd.NOT_FOLLOWED,
            f"{name} was passed to {function}, and its memory had that value already: the call "
            "does not show where it comes from",
        )

    def _follow_origin(self, origin: StatementOrigin, position: ValuePosition) -> NextStep:
        """Return what comes next for the right side of an assignment, or an argument."""
        origin = given_operand(origin, position)
        place = place_of(position.frame)
        item = container_items.taken_item(origin)
        if item is not None and origin.kind is not OriginKind.OPERAND:
            return StoreTarget(position, item, origin)
        if origin.kind is OriginKind.CONSTANT:
            return ReachedEnd(ChainEnd.CONSTANT, f"{origin.text} is a literal at {place}")
        if origin.kind is OriginKind.OPERAND:
            return self._follow_operand(origin.text, position)
        if origin.kind is OriginKind.CALL:
            return self._follow_call(origin, position)
        if origin.kind is OriginKind.COMPUTED:
            return self._follow_computed(origin, position)
        return ReachedEnd(
            ChainEnd.NOT_FOLLOWED,
            f"the statement at {place} does not show where it comes from",
            is_opaque=True,
        )

    def _follow_operand(
        self, name: str, position: ValuePosition, *, is_copy: bool = True
    ) -> NextStep:
        frame = position.frame
        old = position.event.old if position.event is not None else None
        before = frame_values.value_before(name, position.expression, old, frame, position.value)
        value = before or frame.vars.get(name)
        ended = end_of_operand(name, value, position, is_copy=is_copy)
        if value is None or ended is not None:
            return ended or end_without_memory(name, frame)
        if value.is_register and not value.bytes:
            return at_optimised_out(name, value, position)
        if value.characters is not None and position.value.kind in {"struct", "text"}:
            value = native_values.text_end(value)
        part = struct_parts.part_of(value, position.value, frame, position.part)
        if part is None:
            return ReachedEnd(
                ChainEnd.NOT_FOLLOWED,
                f"{name} is a {value.type}: which part of it is not known",
                is_opaque=True,
            )
        return msgspec.structs.replace(
            position,
            expression=name,
            value=part,
            certainty=LinkCertainty.RERUN,
            part=struct_parts.part_at(name, part, frame, position.part),
        )

    def follow_taking(self, target: StoreTarget) -> NextStep:
        """Return what comes next for an item as for the result of any other call."""
        if target.call.kind is OriginKind.CALL:
            return self._follow_call(target.call, target.position)
        return self._follow_computed(target.call, target.position)

    def explain_store(
        self, event: TraceEvent, target: StoreTarget, store: ItemStore, index: int
    ) -> NextStep:
        """Add the link of the line that put an item into a container, and follow the item."""
        frame, value = event.frames[index], target.position.value
        position = ValuePosition(
            target.position.expression,
            value,
            event.frames,
            index,
            LinkCertainty.INFERRED,
            event,
            is_ahead=True,
            until=target.position.event,
        )
        self.add(
            LinkKind.COPIED,
            position,
            f"an equal value was put into {target.item.container} by {store.method}",
            frame,
            statement=frame.statement,
            stack=native_values.callers_of(event.frames, index),
        )
        if index:
            return self.explain_return(event, ReturnTarget(position, "", frame.statement))
        equal = [
            one for one in store.names if one in frame.vars and frame.vars[one].is_equal(value)
        ]
        taking = target.position.frame.statement
        name = container_items.choose_name(taking, store, target.position.expression, equal)
        if name is None:
            return ReachedEnd(ChainEnd.NOT_FOLLOWED, f"what was put in is {store.statement}")
        return as_inferred(self._follow_operand(name, position))

    def _follow_call(self, origin: StatementOrigin, position: ValuePosition) -> NextStep:
        place = place_of(position.frame)
        if self._is_input(origin):
            return ReachedEnd(ChainEnd.INPUT, f"{origin.text} at {place}")
        # Rust's `new` is a function like any other.
        is_new = origin.function == "new" and not (position.frame.file or "").endswith(".rs")
        if is_new or origin.function in {"malloc", "calloc", "realloc", "aligned_alloc"}:
            return ReachedEnd(ChainEnd.ALLOCATION, f"{origin.text} at {place}")
        if native_values.is_conversion(origin.function) and origin.arguments:
            return self._follow_text(origin, position)
        part = struct_parts.part_at(
            position.expression, position.value, position.frame, position.part
        )
        part = StructPart("", 0, 0, origin.field) if origin.field else part
        position = msgspec.structs.replace(position, part=part)
        target = ReturnTarget(position, origin.function, origin.text, origin)
        if native_values.is_handed_on(origin.function):
            return self.follow_call_operand(target) or target
        return target

    def _is_input(self, call: StatementOrigin) -> bool:
        """Return whether a call reads from outside of the program: none of its own functions."""
        return native_values.is_input(call.function) and call.function not in self.own_functions

    def follow_call_operand(self, target: ReturnTarget) -> NextStep | None:
        """Return the object or argument of a call that has the call's value; None without one."""
        position, call = target.position, target.call
        if call is None or not position.value.number:
            return None
        known = position.frame.vars
        for text in (call.receiver, *call.arguments):
            value = known.get(text)
            if value is None and (passed := self._follow_unread(text, position)):
                return passed
            if value is None or (
                position.value.address and value.address == position.value.address
            ):
                continue
            if value.is_equal(position.value) and value.kind != "array":
                return as_inferred(self._follow_operand(text, position))
            inner = struct_parts.find_equal_part({text: value}, position.value)
            if inner is None and native_values.is_handed_on(call.function):
                # A conversion keeps the number that a newtype begins with, however small it is.
                inner = struct_parts.leading_part(text, value, position.value)
            if inner is not None:
                return at_part(position, *inner)
        return None

    def _follow_unread(self, name: str, position: ValuePosition) -> NextStep | None:
        """Follow a parameter without memory, if the caller's argument has the position's value."""
        count = len(self.links)
        outer = msgspec.structs.replace(position, expression=name, certainty=LinkCertainty.INFERRED)
        if name in position.frame.args and not is_changed_parameter(outer):
            step = self._follow_argument(outer)
            mine = position.value.bytes[:_LANE]
            if isinstance(step, ValuePosition) and step.value.bytes[:_LANE] == mine:
                return as_inferred(step)
        del self.links[count:]
        return None

    def _follow_text(self, origin: StatementOrigin, position: ValuePosition) -> NextStep:
        """Follow the text that a conversion, as `atoi`, has read."""
        argument = statement_origin.classify_expression(origin.arguments[0])
        if argument.kind is not OriginKind.OPERAND:
            return self._follow_origin(argument, position)
        value = position.frame.vars.get(argument.text)
        if re.match(r"argv\[", argument.text) or value is None:
            return self._follow_operand(argument.text, position)
        return at_text(position, argument.text, value)

    def _follow_computed(self, origin: StatementOrigin, position: ValuePosition) -> NextStep:
        known = position.frame.vars
        event = None if position.is_ahead else position.event
        operands = frame_values.read_operands(origin, position.frame, event, position.value)
        read = {name: one for name, one in operands.items() if one.kind not in {"struct", "array"}}
        # The sum itself has the value already: the memory that was written is no operand.
        mine = position.value.address
        if not read:
            inner = struct_parts.find_equal_part(
                {name: known[name] for name in origin.operands if name in known}, position.value
            )
            if inner is not None:
                return at_part(position, *inner)
        equal = [
            one
            for one, value in read.items()
            if value.is_equal(position.value) and (not mine or value.address != mine)
        ]
        if len(equal) == 1 and position.value.number:
            return as_inferred(self._follow_operand(equal[0], position))
        if len(read) == 1 and len(origin.operands) == 1:
            step = self._follow_operand(next(iter(read)), position, is_copy=False)
            return before_change(step, position)
        texts = {name: value.text for name, value in read.items()}
        guilty = find_guilty_factor(origin.text, texts, position.value.text)
        if guilty is not None and read[guilty].address != mine:
            return as_inferred(self._follow_guilty(guilty, read[guilty], position))
        self.computed = position, origin
        return describe_sum(origin, read, position)

    def _follow_guilty(self, name: str, value: TraceValue, position: ValuePosition) -> NextStep:
        """Follow the operand that alone explains a computed number."""
        self.links[-1] = msgspec.structs.replace(
            self.links[-1], details=(*self.links[-1].details, f"by {name}={value.text}")
        )
        return self._follow_operand(name, msgspec.structs.replace(position, value=value, part=None))

    def explain_write(
        self, event: TraceEvent, target: ValuePosition, details: Sequence[str], *, threads: int
    ) -> NextStep:
        """Add the link of a write, and return what comes next."""
        at = frame_values.writing_frame(event.frames, target.value.address)
        if at is None:
            outer = event.frames[0].function if event.frames else "?"
            self.add_write(event, target, f"written by {outer}", None, details, threads)
            return ReachedEnd(ChainEnd.NOT_FOLLOWED, "no code of the program is on the stack")
        name = frame_values.name_at(event.frames[at], target.value.address) or target.expression
        part = struct_parts.part_at(target.expression, target.value, target.frame, target.part)
        position = ValuePosition(
            name, target.value, event.frames, at, observed(target), event, part
        )
        if native_values.is_moved(event, position.frame.statement):
            return self._follow_moved(position, target.expression, details, threads)
        if native_values.is_free(event):
            text = "the block was freed, and the allocator wrote its own data there"
            self.add_write(event, target, text, at, details, threads, kind=LinkKind.FREED)
            return ReachedEnd(ChainEnd.ALLOCATION, "the value is data of the allocator")
        if native_values.is_allocation(event):
            name = native_values.plain_call(event.library_call)
            text = f"written by {name}, which allocated the memory"
            self.add_write(event, target, text, at, details, threads, kind=LinkKind.ALLOCATED)
            is_zeroed = name == "calloc"
            return ReachedEnd(
                ChainEnd.ALLOCATION if is_zeroed else ChainEnd.UNINITIALISED,
                f"{name} has set it to zero"
                if is_zeroed
                else f"{target.expression} was not written since its memory was allocated: the "
                "value is what the allocator left",
            )
        if position.library_call:
            return self._explain_library_write(position, details, threads)
        return self._explain_own_write(position, target, details, threads)

    def _follow_moved(
        self, position: ValuePosition, expression: str, details: Sequence[str], threads: int
    ) -> NextStep:
        """Add the link of a library's copy, as that of a growing vector, and follow its source."""
        event = position.event
        assert event is not None
        value = msgspec.structs.replace(position.value, address=event.source)
        name = frame_values.holder_of(position.frame, value) or expression
        called = native_values.plain_call(event.library_call)
        text = f"copied by {called}" + (f" from {name}" if name != expression else "")
        self.add_write(
            event, position, text, position.index, details, threads, kind=LinkKind.COPIED
        )
        return MemoryTarget(msgspec.structs.replace(position, expression=name, value=value))

    def _explain_own_write(
        self, position: ValuePosition, target: ValuePosition, details: Sequence[str], threads: int
    ) -> NextStep:
        frame, event = position.frame, position.event
        assert event is not None
        name = frame_values.argument_at(frame, position.value.address)
        given = written_origin(position)
        origin = given_operand(given.origin, position)
        if frame_values.assigns_another(frame, position.expression):
            origin = StatementOrigin(OriginKind.UNKNOWN, given.statement)
        if origin.kind in {OriginKind.UNKNOWN, OriginKind.CALL} and native_values.COPYING.search(
            frame.statement
        ):
            return self._explain_library_write(position, details, threads)
        struct = passed_whole(position, target)
        passed = self._follow_argument(struct) if struct is not None else None
        if passed is not None:
            return passed
        if name and (frame.line == frame.first_line or origin.kind is OriginKind.UNKNOWN):
            position = msgspec.structs.replace(position, expression=name)
            passed = self._follow_argument(position)
            if passed is not None:
                return passed
        kind, text = describe_origin(origin)
        is_sum = origin.kind is OriginKind.COMPUTED
        operands = frame_values.operand_views(origin, frame, event, target.value) if is_sum else ()
        self.add_write(
            event, position, text, position.index, details, threads, kind=kind, operands=operands
        )
        if origin.kind is OriginKind.UNKNOWN:
            # As in `Item item{price, 2}`.
            return self._follow_equal(position)
        return self._follow_origin(origin, position)

    def explain_line(
        self, event: TraceEvent, target: ValuePosition, name: str, certainty: LinkCertainty
    ) -> NextStep:
        """Add the link of a line that alone can have given a local its value, before it ran."""
        frame = event.frames[0]
        if target.certainty is LinkCertainty.INFERRED:
            certainty = LinkCertainty.INFERRED
        owner = next((one for one in target.frames if one.cfa == frame.cfa), target.frame)
        part = struct_parts.part_at(target.expression, target.value, owner, target.part)
        position = ValuePosition(
            name,
            target.value,
            event.frames,
            0,
            certainty,
            event,
            part,
            is_ahead=True,
            until=target.event,
        )
        given = origin_at(frame, name)
        number = statement_origin.tuple_number(given.statement, name)
        if number is not None:
            position = msgspec.structs.replace(position, part=StructPart("", 0, 0, f"__{number}"))
        origin = given_operand(given.origin, position)
        kind, text = describe_origin(origin)
        is_sum = origin.kind is OriginKind.COMPUTED
        self.add(
            kind,
            position,
            text,
            frame,
            statement=given.statement,
            new=target.value.text if target.value.kind not in {"struct", "array"} else None,
            stack=native_values.callers_of(event.frames, 0),
            operands=frame_values.operand_views(origin, frame, None, target.value)
            if is_sum
            else (),
        )
        return self._follow_origin(origin, at_subject(position, given.line))

    def explain_assignment(self, event: TraceEvent, target: ValuePosition) -> NextStep:
        """Add the link of an assignment that ran, or the first part of a loop."""
        frame = event.frames[0]
        position = ValuePosition(
            target.expression,
            target.value,
            event.frames,
            0,
            observed(target, event),
            event,
            # A line has yet to run where it is recorded; a write has been done.
            is_ahead=not event.new,
            until=target.event if not event.new else None,
        )
        # A breakpoint at a loop's line binds to its first part.
        text = re.sub(r"^for\s*\(([^;]*);.*", r"\1;", frame.statement)
        origin = statement_origin.origin_of_assignment(text, target.expression)
        self.add(
            LinkKind.WRITTEN,
            position,
            "written" if event.new else "written: the value that its memory had already",
            frame,
            statement=frame.statement,
            new=native_values.format_bytes(event.new, target.value.kind),
        )
        return self._follow_origin(origin, position)

    def _explain_library_write(
        self, position: ValuePosition, details: Sequence[str], threads: int
    ) -> NextStep:
        frame, event = position.frame, position.event
        assert event is not None
        name = native_values.plain_call(position.library_call)
        short_name = native_values.without_templates(position.library_call)
        copy = native_values.COPYING.search(frame.statement)
        is_copy = copy is not None and name.startswith(("mem", "str", "stp", "bcopy", ""))
        called = copy[1] if is_copy and copy is not None else name
        call = statement_origin.call_in_statement(frame.statement, called)
        is_input = native_values.is_input(position.library_call)
        if is_input or name in {"memset", "bzero"}:
            kind = LinkKind.INPUT if is_input else LinkKind.WRITTEN
            text = f"read in by {name}" if is_input else f"overwritten by {name}"
            source = native_values.describe_source(event) if is_input else ""
            details = [*details, f"from {source}"] if source else details
            self.add_write(event, position, text, position.index, details, threads, kind=kind)
            end = ChainEnd.INPUT if is_input else ChainEnd.CONSTANT
            message = call.text if call is not None else frame.statement
            return ReachedEnd(end, f"{message} at {place_of(frame)}" + f": {source}" * bool(source))
        text = f"overwritten by {called}" if is_copy else f"written by {short_name}"
        self.add_write(
            event, position, text, position.index, details, threads, kind=LinkKind.COPIED
        )
        if is_copy and call is not None and len(call.arguments) > 1:
            return copied_memory(call, position)
        return self._follow_equal(position)

    def _follow_equal(self, position: ValuePosition) -> NextStep:
        """Follow the one operand of a statement that has the same value."""
        frame, value = position.frame, position.value
        named = {
            name: one
            for name, one in frame.vars.items()
            if re.search(rf"(?<![\w.>]){re.escape(name)}(?!\w)", frame.statement)
        }
        equal = [
            name
            for name, one in named.items()
            if one.kind not in {"struct", "array"} and one.is_equal(value)
        ]
        if equal and value.number:
            chosen = statement_origin.classify_expression(min(equal, key=len))
            return as_inferred(self._follow_origin(chosen, position))
        part = struct_parts.find_equal_part(named, value)
        if part is not None:
            name, inner = part
            return msgspec.structs.replace(
                position, expression=name, value=inner, certainty=LinkCertainty.INFERRED
            )
        argument = statement_origin.origin_of_assignment(frame.statement, position.expression)
        if argument.kind is OriginKind.CONSTANT:
            return self._follow_origin(argument, position)
        if argument.kind is not OriginKind.CALL:
            stored = stored_value(position)
            argument = stored or statement_origin.loop_element(frame.statement) or argument
            if stored is not None and stored.kind is not OriginKind.CALL:
                return self._follow_origin(stored, position)
        if argument.kind is OriginKind.CALL:
            return self._follow_plain_call(argument, position)
        return end_in_library(position) or ReachedEnd(
            ChainEnd.NOT_FOLLOWED,
            f"no operand of the statement at {place_of(frame)} has the value any more",
            is_opaque=True,
        )

    def _follow_plain_call(self, call: StatementOrigin, position: ValuePosition) -> NextStep:
        if self._is_input(call):
            return ReachedEnd(ChainEnd.INPUT, f"{call.text} at {place_of(position.frame)}")
        return ReturnTarget(position, call.function, call.text)

    def explain_return(self, event: TraceEvent, target: ReturnTarget) -> NextStep:
        """Add the link of a `return` statement, and return what comes next."""
        frame = event.frames[0]
        position = ValuePosition(
            target.text,
            target.position.value,
            event.frames,
            0,
            target.certainty,
            event,
            target.position.part,
        )
        given = origin_at(frame, "")
        origin, statement = given.origin, given.statement
        if "return" not in statement and statement == frame.statement:
            origin = statement_origin.classify_expression(statement)
        self.add(
            LinkKind.RETURNED,
            position,
            f"returned by {frame.function}",
            frame,
            statement=statement,
            stack=native_values.callers_of(event.frames, 0)[:1],
        )
        return self._follow_origin(origin, at_subject(position, given.line))
