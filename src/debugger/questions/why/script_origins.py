"""Follows an expression of Ruby or PHP to the value that it read. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from debugger.questions.why import script_statement as statements
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    ValueOperand,
    WhyLink,
)
from debugger.questions.why.guilty_factor import find_guilty_factor
from debugger.questions.why.script_arguments import ScriptArguments
from debugger.questions.why.script_calls import without_calls
from debugger.questions.why.script_links import FollowedValue
from debugger.questions.why.script_values import Slot
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.recorders.script.step_history import (
    HASH_DEFAULT,
    Change,
    PassedValue,
    Step,
    StepCall,
)

_OPERANDS = 8
# A method of Ruby whose body stands behind an equals sign.
_ENDLESS = re.compile(r"def\s+(?:self\.)?\w+[?!]?\s*(?:\([^()]*\))?\s*=\s+(?P<value>.+)$")
_ENSURE = re.compile(r"\s*ensure\b")
_DEFAULT = ": this is the default of the hash, one object for all keys that it does not have"
_NOTHING = frozenset({"null", "nil"})
_ITEMS_KNOWN = 250
_DEPTH_KNOWN = 4
_CONSTRUCTORS = frozenset({"__construct", "initialize"})
# A variable of the object itself: of Ruby, and of PHP.
_OWN_FIELD = re.compile(r"(?:@|\$this->)(?P<name>\w+)")
_READER = re.compile(r"(?P<name>[a-z_]\w*)")  # of Ruby, without brackets
_ENVIRONMENT = re.compile(r"(?:ENV|\$_ENV|\$_SERVER)\[['\"]?(\w+)['\"]?\]")
_FIELDS_SHOWN = 8
_GUILTY = frozenset({"null", "nil", "NaN", "NAN", "INF", "false"})


@dataclass(frozen=True)
class MissingElement:
    """An element that is not there: what is said, and the key's name or the container to follow."""

    text: str
    source: str
    # The number of the object that a hash of Ruby gives instead; 0 without one.
    default: int


class ScriptOrigins(ScriptArguments):
    """Follows operands, branches and the results of calls."""

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
        """Return the value that an expression read, or end the chain.

        Args:
            origin: The expression.
            call: The call that read it.
            index: Where in the records it was read.
            value: What it gave, if that is known.
            step: The statement, whose calls may have given it.
            keys: The keys of the part of it that is followed.
            is_part: The value is an element of what the expression gives.
        """
        inner = self._inner_origin(origin, call, index, value, keys)
        if inner is not None:
            origin, value, keys = inner
            return self._follow_origin(origin, call, index, value, step, keys=keys)
        if origin.kind is OriginKind.CONSTANT:
            self._end(ChainEnd.CONSTANT, f"{origin.text} is a literal")
            return None
        found: FollowedValue | None = None
        if origin.kind is OriginKind.OPERAND:
            found = self._find_part(origin.text, call, index, keys)
        if found is None and step is not None:
            found = self._follow_result(origin, call, step, value, keys)
        if found is not None or self.ending is not None:
            return found
        is_part = is_part or bool(keys)
        return self._follow_operands(origin, call, index, value, step, is_part=is_part)

    def _inner_origin(
        self,
        origin: StatementOrigin,
        call: int,
        index: int,
        value: PassedValue | None,
        keys: tuple[str, ...],
    ) -> tuple[StatementOrigin, PassedValue | None, tuple[str, ...]] | None:
        """Return the part of an expression that gave a value: an element, a branch, a call."""
        part = statements.literal_part(origin.text, keys[0]) if keys else None
        if part is not None:
            return statements.classify(part), None, keys[1:]
        mapped = statements.mapped_part(origin.text, keys[0]) if len(keys) == 1 else None
        slot = self._values.resolve(mapped, call, index) if mapped is not None else None
        value_now = self._followed.slot.value.text if self._followed is not None else None
        if mapped is not None and slot is not None and slot.value.text == value_now:
            return statements.classify(mapped), None, ()
        subscript = statements.split_subscript(origin.text)
        if subscript is not None:
            called = statements.classify(subscript[0])
            key = self._values.key_of(subscript[1], call, index)
            if called.kind is OriginKind.CALL and key is not None:
                return called, None, (key, *keys)
        chosen = self._choose_branch(origin, call, index, value)
        return (chosen, value, keys) if chosen is not None else None

    def _choose_branch(
        self, origin: StatementOrigin, call: int, index: int, value: PassedValue | None
    ) -> StatementOrigin | None:
        """Return the operand of `a ?? b`, or the branch of `c ? a : b`, that gave a value."""
        parts = statements.split_choice(origin.text)
        if parts is not None and origin.kind is OriginKind.COMPUTED:
            first, operator, second = parts
            slot = self._values.resolve(first, call, index)
            is_path = statements.PATH.fullmatch(first) is not None
            empty = {"null", "nil", "false"} if operator != "??" else {"null"}
            if slot is not None and slot.value.text not in {*empty, "0", "''", "[]"}:
                return statements.classify(first)
            if is_path and (slot is None or slot.value.text in empty):
                fact = f"{first} is {slot.value.text if slot is not None else 'not there'}"
                self._add_detail(fact)
                return statements.classify(second)
            return None
        branches = statements.split_branches(origin.text) if value is not None else None
        if branches is None or value is None or origin.kind is not OriginKind.COMPUTED:
            return None
        fitting = [one for one in branches if self._may_give(one, value, call, index)]
        return statements.classify(fitting[0]) if len(fitting) == 1 else None

    def _may_give(self, text: str, value: PassedValue, call: int, index: int) -> bool:
        origin = statements.classify(text)
        if origin.kind is OriginKind.CONSTANT:
            return origin.text.strip("'\"").lower() == (value.text or "").strip("'\"").lower()
        slot = self._values.resolve(text, call, index)
        return slot is None or slot.value.text == value.text

    def _follow_operands(
        self,
        origin: StatementOrigin,
        call: int,
        index: int,
        value: PassedValue | None,
        step: Step | None,
        *,
        is_part: bool,
    ) -> FollowedValue | None:
        is_call = origin.kind is OriginKind.CALL
        if is_call and origin.function in {"new", "__construct"} and not is_part:
            self._end(ChainEnd.ALLOCATION, f"it was made by {origin.text}")
            return None
        names = [origin.receiver, *origin.arguments] if is_call else []
        operands = [*origin.operands]
        called = self._called_operands(names if is_call else [origin.text], call, step)
        if called and not is_call:
            operands = [*statements.computed(without_calls(origin.text, called)).operands]
        for one in names:
            is_path = statements.PATH.fullmatch(one) is not None
            text = without_calls(one, called)
            operands += [one] if is_path else statements.computed(text).operands
        is_operand = origin.kind is OriginKind.OPERAND and not is_part
        missing = self._missing_element(origin.text, call, index) if is_operand else None
        if missing is not None and (value is None or value.text in _NOTHING):
            operands = [self._add_missing(missing, call, index)]
        elif missing is not None and value is not None and missing.default == value.object != 0:
            self._add_missing(missing, call, index, what=_DEFAULT)
            slot = Slot(f"O{value.object}", (), value)
            content = self._changed_content(FollowedValue(slot, origin.text, call, index), None)
            if content is not None:
                return content
        elif origin.kind is OriginKind.OPERAND:
            operands = [re.sub(r"(?:\?->|->|&?\.|\[)[^.\[>]*$", "", origin.text)]
        # `$a?->b` and `$a->b` read one value.
        plain = {one.replace("?->", "->").replace("&.", "."): one for one in reversed(operands)}
        names = list(plain.values())[::-1]
        chosen, given = self._choose_operand(origin, names, call, index, value, called=called)
        if given is not None and step is not None:
            inner = statements.classify(given)
            chosen = self._follow_result(inner, call, step, called[given].result, ())
        if chosen is None and self.ending is None:
            unwritten = self._unwritten(origin, call)
            is_unwritten = (ChainEnd.UNINITIALISED, unwritten)
            self._end(*(is_unwritten if unwritten else self._unfollowed(origin, is_part=is_part)))
        return chosen

    def _unwritten(self, origin: StatementOrigin, call: int) -> str:
        """Say of a variable of the object itself that nothing wrote it; "" if that is not known."""
        found = _OWN_FIELD.fullmatch(origin.text) or self._read_by(origin.text)
        slot = self._values.resolve("$this" if self._is_php else "self", call, 1 << 60)
        if found is None or slot is None or not slot.value.object:
            return ""
        sign = "->" if self._is_php else "@"
        fields = self._history.changes.get(slot.owner, {})
        if (f"{sign}{found['name']}",) in fields:
            return ""
        others = [path[0] for path in fields if len(path) == 1 and path[0].startswith(sign)]
        has = f", its object has {', '.join(others[:_FIELDS_SHOWN])}" if others else ""
        return f"nothing wrote {sign if found.re is _READER else ''}{origin.text}{has}"

    def _read_by(self, text: str) -> re.Match[str] | None:
        """Return the name of a reader of Ruby that the program's own code declares, as `items`."""
        found = _READER.fullmatch(text) if not self._is_php else None
        if found is None:
            return None
        declared = re.compile(rf"\battr_(?:reader|accessor)\b[^#]*:{found['name']}\b")
        files = {one.file for one in self._history.functions.values()}
        is_declared = any(declared.search(line) for one in files for line in self._lines_of(one))
        return found if is_declared else None

    def _changed_content(self, value: FollowedValue, change: Change | None) -> FollowedValue | None:
        """Return the element of an array or a hash of Ruby that was changed since it was stored."""
        number = value.slot.value.object
        if self._is_php or not number or not (value.slot.value.text or "").startswith(("[", "{")):
            return None
        after = change.index if change is not None else -1
        owner = f"O{number}"
        last: Change | None = None
        for some in self._history.changes.get(owner, {}).values():
            for one in some:
                is_later = one.scanned >= 0 and after < one.index <= value.index
                if is_later and (last is None or one.index > last.index):
                    last = one
        if last is None or (owner, last.path, last.index) in self._visited:
            return None
        slot = Slot(owner, last.path, last.value)
        return FollowedValue(slot, f"{value.text}{''.join(last.path)}", value.call, last.index)

    def _missing_element(self, text: str, call: int, index: int) -> MissingElement | None:
        """Return what is known of an element that is not there; None if it is, or may be."""
        container = statements.container_of(text)
        slot = self._values.resolve(container, call, index) if container is not None else None
        if container is None or slot is None or not (slot.value.text or "").startswith(("[", "{")):
            return None
        subscript = text[len(container) :].strip()
        key = self._values.key_of(subscript, call, index)
        owner, path = slot.owner, slot.path
        if not self._is_php:
            owner, path = f"O{slot.value.object}", ()
        # Of a large or a deep one not all elements were recorded.
        count = sum(1 for _ in self._history.items_of(owner, path, index))
        is_complete = count < _ITEMS_KNOWN and len(path) < _DEPTH_KNOWN
        if key is None or not is_complete or self._values.resolve(text, call, index) is not None:
            return None
        name = subscript[1:-1].strip()
        is_name = statements.PATH.fullmatch(name) and name not in {"true", "false"}
        default = self._values.read(owner, (*path, HASH_DEFAULT), index)
        return MissingElement(
            text=f"{container} has no element {key}",
            source=name if is_name else container,
            default=default.value.object if default is not None else 0,
        )

    def _add_missing(
        self, missing: MissingElement, call: int, index: int, *, what: str = ""
    ) -> str:
        """Add the link of a missing element; return what to follow."""
        step = self._history.last_step(call, index + 1)
        line = step.line if step is not None else self._history.function_of(call).line
        self.links.append(
            WhyLink(
                kind=LinkKind.OTHER,
                certainty=LinkCertainty.SEEN,
                text=f"{missing.text}{what}",
                frame=self._frame(call, line),
                statement=self._statement(call, line),
                stack=self._stack(call),
            )
        )
        return missing.source

    @staticmethod
    def _unfollowed(origin: StatementOrigin, *, is_part: bool) -> tuple[ChainEnd, str]:
        if origin.kind is OriginKind.CALL:
            if origin.function in {"new", "__construct"}:
                return ChainEnd.ALLOCATION, f"it has been so since {origin.text}"
            what = "it is an element of what" if is_part else "it is what"
            return ChainEnd.NOT_FOLLOWED, f"{what} {origin.text} returns, which is not recorded"
        if (variable := _ENVIRONMENT.fullmatch(origin.text)) is not None:
            return ChainEnd.INPUT, f"it is {variable[1]} of the program's environment"
        return ChainEnd.NOT_FOLLOWED, f"{origin.text} is not followed further"

    def _follow_result(
        self,
        origin: StatementOrigin,
        call: int,
        step: Step,
        value: PassedValue | None,
        keys: tuple[str, ...],
    ) -> FollowedValue | None:
        """Add the link of a called function's result; None if none of them gave the value."""
        child, is_named = self._giving_call(origin, call, step, value)
        if child is None and keys and origin.kind is OriginKind.CALL:
            child, keys = self._mapped_element(call, step, keys[0]), keys[1:]
        if child is None or child.result is None:
            return None
        if len(self.links) >= self._links_most:
            self._end(ChainEnd.BOUND, f"{self._links_most} links were followed")
            return None
        line = self._result_line(child)
        text = self._statement(child.number, line)
        self.links.append(
            WhyLink(
                kind=LinkKind.RETURNED,
                # Of what a library called back it is known that the value is equal.
                certainty=LinkCertainty.SEEN if is_named else LinkCertainty.INFERRED,
                text=f"returned by {self._history.function_of(child.number).name}",
                frame=self._frame(child.number, line),
                statement=text,
                stack=self._stack(child.number),
                new=child.result.text,
            )
        )
        last = self._history.last_step(child.number, child.end)
        if last is None and not _ENDLESS.match(text):
            self._end(ChainEnd.NOT_FOLLOWED, f"what {text} gives is not followed")
            return None
        inner = self._returned_origin(text)
        index = child.end - 1
        return self._follow_origin(inner, child.number, index, child.result, last, keys=keys)

    def _mapped_element(self, call: int, step: Step, key: str) -> StepCall | None:
        """Return the call of a block that gave the followed element to what `map` returns."""
        results = [
            one
            for one in self._children(call, step, 1 << 60)
            if one.result is not None
            and re.match(r"block |\{closure", self._history.function_of(one.number).name)
        ]
        at = int(key[1:-1]) if re.fullmatch(r"\[\d+\]", key) else len(results)
        found = results[at] if at < len(results) else None
        value = self._followed.slot.value if self._followed is not None else None
        if found is None or found.result is None or value is None:
            return None
        return found if found.result.text == value.text else None

    def _result_line(self, child: StepCall) -> int:
        """Return the line that gave a call's result: not that of an `ensure` that ran after it."""
        function = self._history.function_of(child.number)
        lines = self._lines_of(function.file)
        between = range(max(function.line, 1), min(child.result_line, len(lines) + 1))
        if not self._is_php and (literal := self._last_literal(child, lines)):
            return literal
        first = next((one for one in between if _ENSURE.match(lines[one - 1])), None)
        if self._is_php or first is None:
            return child.result_line or function.line  # one without a statement has none
        before = [one.line for one in self._history.steps_of(child.number) if one.line < first]
        return before[-1] if before else child.result_line

    def _last_literal(self, child: StepCall, lines: Sequence[str]) -> int:
        """Return the line of the literal that a method ends with; 0 if it ends otherwise.

        Ruby has no event for a line that is only `nil` or a number.
        """
        function = self._history.function_of(child.number)
        below = range(child.result_line, len(lines))
        at = next((one for one in below if lines[one].strip()), 0)
        text = child.result.text if child.result is not None else None
        if not at or at + 1 >= len(lines) or not function.line or lines[at].strip() != text:
            return 0
        head = lines[function.line - 1]
        end = head[: len(head) - len(head.lstrip())] + "end"
        has_returned = re.search(
            r"\breturn\b(?!.*(?:\bif|\bunless)\b)", lines[child.result_line - 1]
        )
        return at + 1 if lines[at + 1].rstrip() == end and has_returned is None else 0

    def _giving_call(
        self, origin: StatementOrigin, call: int, step: Step, value: PassedValue | None
    ) -> tuple[StepCall | None, bool]:
        """Return the call within a statement that gave a value, and whether it is named there.

        A call that is not named is the only one that gave an equal value.
        """
        name = origin.function or re.split(r"->|\.|::", origin.text)[-1]
        results = [
            one
            for one in reversed(self._children(call, step, 1 << 60))
            if one.result is not None and (value is None or one.result.text == value.text)
            # What a constructor returns is not what `new` gives.
            if _split_name(self._history.function_of(one.number).name) not in _CONSTRUCTORS
        ]
        # A library may copy what a block gave it.
        same = [one for one in results if value is None or one.result == value] or results
        for one in same:
            function = self._history.function_of(one.number).name
            if _split_name(function) == name:
                return one, True
        is_call = origin.kind is OriginKind.CALL or "(" in origin.text
        is_only = len(same) == 1 and is_call and value is not None
        return (same[0] if is_only else None), False

    def _returned_origin(self, text: str) -> StatementOrigin:
        """Return what a function's last statement gives back: of an assignment what it assigns."""
        returned = re.search(r"\breturn\b\s*(?P<value>[^;]*)", text)
        if returned is not None:
            return statements.classify(returned["value"])
        inner = re.match(r"def\s[^;]*;\s*(?P<value>.*?);?\s*end$", text)
        inner = inner or _ENDLESS.match(text)
        text = inner["value"] if inner is not None else text
        target = re.match(r"(?P<name>[@$]{0,2}\w+)\s*(?:\|\||&&)?=(?![=~>])", text)
        if target is not None:
            return statements.origin_in(text, [target["name"]])[0]
        return statements.classify(text)

    def _choose_operand(
        self,
        origin: StatementOrigin,
        names: Sequence[str],
        call: int,
        index: int,
        value: PassedValue | None,
        *,
        called: Mapping[str, StepCall],
    ) -> tuple[FollowedValue | None, str | None]:
        """Return the operand or the call that explains a value; note all at the last link."""
        found: dict[str, FollowedValue] = {}
        for name in _with_keys(names)[:_OPERANDS]:
            one = self._find(name, call, index)
            if one is not None and one.slot.value.text is not None:
                found[name] = one
        texts = {name: one.slot.value.text or "" for name, one in found.items()}
        texts |= {name: one.result.text or "" for name, one in called.items() if one.result}
        chosen = self._guilty(origin, texts, value)
        if self.links and texts:
            operands = tuple(
                ValueOperand(name, text or None, name == chosen) for name, text in texts.items()
            )
            self.links[-1] = structs.replace(self.links[-1], operands=operands)
        if chosen in called:
            return None, chosen
        if chosen is None and len(found) > 1 and not called:
            return self._common_container(list(found), call, index), None
        return found[chosen] if chosen is not None else None, None

    def _common_container(
        self, names: Sequence[str], call: int, index: int
    ) -> FollowedValue | None:
        """Return the container that all operands are elements of; None if there is none."""
        containers = {statements.container_of(one) for one in names}
        container = containers.pop() if len(containers) == 1 else None
        return self._find(container, call, index) if container is not None else None

    @staticmethod
    def _guilty(
        origin: StatementOrigin, texts: dict[str, str], value: PassedValue | None
    ) -> str | None:
        total = value.text if value is not None else None
        for some in (
            [one for one, text in texts.items() if text == total],
            [one for one, text in texts.items() if text in _GUILTY],
            list(texts),
        ):
            if len(some) == 1:
                return some[0]
        if total is not None and total.startswith("["):
            # What a match or a split took apart is its first element.
            matched = [one for one, text in texts.items() if text.startswith(("'", '"'))]
            matched = [one for one in matched if total.startswith(f"[{texts[one]}")]
            if len(matched) == 1:
                return matched[0]
        return find_guilty_factor(origin.text, texts, total) if total is not None else None


def _with_keys(names: Sequence[str]) -> list[str]:
    """Return operands, with the names that the keys of elements read."""
    found: dict[str, None] = {}
    for name in names:
        found[name] = None
        container = statements.container_of(name)
        inner = name[len(container) + 1 : -1] if container is not None else ""
        if container is not None and not re.fullmatch(r"[:'\"]?\w+['\"]?", inner):
            found[container] = None
            found.update(dict.fromkeys(statements.computed(inner).operands))
    return list(found)


def _split_name(function: str) -> str:
    """Return a function's name without its class, module and namespace."""
    return re.split(r"->|#|::|\.|\\", function)[-1]
