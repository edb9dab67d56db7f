"""Evaluates an expression by following it through the values that a debugger shows.

LLDB 19 and 20 take a Rust expression for C++ (no index, no method, no text), and of C++ evaluate
only what needs no function that the program lacks: `items.size()`, `by_name["tea"]` and
`name == "jam"` fail. gdb 13 and 16 lack part of them, too. Their formatters show all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn, Protocol

from msgspec.structs import replace

from debugger.backends.expressions import shown_values, syntax_tree
from debugger.backends.expressions.expression_parser import parse_expression
from debugger.backends.expressions.shown_values import Scalar
from debugger.backends.expressions.syntax_tree import Tree, expression_error
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose, Frame, Variable

# The languages of which debuggers show more than they can evaluate.
NATIVE = frozenset({"c++", "rust"})
_LEVELS_MAX = 6  # of wrappers and pointers around a value
_MEMBERS_MAX = 200  # of one value
_PAGE = 500  # elements of a map that are read at once
_KEYS_MAX = 20_000  # elements of a map that are searched
# Methods that return what they are called on, or what it points to.
_SAME = frozenset({
    "as_ref", "as_mut", "as_str", "as_slice", "as_deref", "borrow", "borrow_mut", "clone", "c_str",
    "deref", "get", "iter", "lock", "to_owned", "to_string", "read", "str",
})  # fmt: skip
_PRESENT: dict[str, frozenset[str]] = {
    "is_some": frozenset({"Some"}),
    "is_none": frozenset({"None"}),
    "is_ok": frozenset({"Ok"}),
    "is_err": frozenset({"Err"}),
}
_UNWRAPPING = frozenset({"unwrap", "expect", "unwrap_err"})
# Methods that compare a text with a part of another one, and whether that is its end.
_AT_END = {"starts_with": False, "ends_with": True}
_HAS_KEY = frozenset({"contains_key", "contains", "count"})


class NotFollowed(Exception):
    """Says that an expression cannot be evaluated by what the debugger shows."""


class ShownValues(Protocol):
    """Provides the values as the debugger shows them."""

    async def evaluate_plain(
        self, expression: str, frame: Frame, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression as the debugger itself does."""

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the children of a value, or a part of them."""

    async def count_elements(self, handle: int) -> int | None:
        """Return how many elements a value has."""


async def evaluate_shown(
    values: ShownValues, expression: str, frame: Frame, purpose: EvaluationPurpose
) -> Variable:
    """Evaluate an expression of Rust, or of C++ where the debugger cannot or would misread it.

    Raises:
        DebuggerError: What the debugger says; EVALUATION_FAILED for what is not in a value.
    """
    tree = _parse(expression)
    if tree is None or isinstance(tree, syntax_tree.NameTree):
        return await values.evaluate_plain(expression, frame, purpose)
    walk = _ExpressionWalk(values, frame)
    is_rust = (frame.file or "").endswith(".rs")
    if is_rust or await walk.is_misread(tree):
        with suppress(NotFollowed):
            return await walk.evaluate(tree, expression)
        value = await values.evaluate_plain(expression, frame, purpose)
        if is_rust and shown_values.is_pointer(value) and any(map(_is_sum, _parts(tree))):
            raise _misread_error(expression)
        return value
    try:
        return await values.evaluate_plain(expression, frame, purpose)
    except DebuggerError as error:
        return await _follow_refused(walk, tree, expression, error)


async def evaluate_refused(
    values: ShownValues, expression: str, frame: Frame, refusal: DebuggerError
) -> Variable:
    """Evaluate an expression that the debugger has refused.

    Raises:
        DebuggerError: The refusal; EVALUATION_FAILED for what is not in a value.
    """
    tree = _parse(expression)
    if tree is None:
        raise refusal
    return await _follow_refused(_ExpressionWalk(values, frame), tree, expression, refusal)


async def _follow_refused(
    walk: _ExpressionWalk, tree: Tree, expression: str, refusal: DebuggerError
) -> Variable:
    if refusal.code is not ErrorCode.EVALUATION_FAILED:
        raise refusal
    try:
        return await walk.evaluate(tree, expression)
    except NotFollowed:
        raise refusal from None
    except DebuggerError as own:
        raise (own if walk.has_explained else refusal) from None


class AssignableValues(ShownValues, Protocol):
    """Sets values, as the debugger itself does."""

    async def assign_plain(self, target: str, value: str, frame: Frame) -> None:
        """Set what an expression of the debugger's names."""

    async def assign_child(self, handle: int, name: str, value: str) -> None:
        """Set a child of a value."""


_TUPLE_FIELD = re.compile(r"\.(\d+)\b")


async def assign_shown(values: AssignableValues, target: str, value: str, frame: Frame) -> None:
    """Set a variable, a member or an element, also one that the debugger only shows.

    Raises:
        DebuggerError: What the debugger says; EVALUATION_FAILED for what is not in a value.
    """
    try:
        await values.assign_plain(target, value, frame)
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        field = _TUPLE_FIELD.sub(r".__\1", target)
        if field != target and (frame.file or "").endswith(".rs"):
            with suppress(DebuggerError):
                # LLDB's name of it; what its formatters show is a copy.
                await values.assign_plain(field, value, frame)
                return
        tree = _parse(target)
        if tree is None or not await _assign_followed(values, tree, value, frame):
            raise


async def _assign_followed(values: AssignableValues, tree: Tree, value: str, frame: Frame) -> bool:
    """Set what a target leads to; return False where it cannot be followed.

    Raises:
        DebuggerError: EVALUATION_FAILED for what is not in a value, or did not change.
    """
    walk = _ExpressionWalk(values, frame)
    try:
        owner = walk.owner_of(await walk.evaluate_operand(tree))
        if owner is None:
            return False
        await values.assign_child(*owner, value)
        now = await _ExpressionWalk(values, frame).evaluate_operand(tree)
    except NotFollowed:
        return False
    given = shown_values.read_scalar(Variable("", value))
    if isinstance(now, Variable) and given is not None and shown_values.read_scalar(now) != given:
        # Seen with tuples inside of containers: what LLDB's formatters show of them is a copy.
        raise expression_error(f"the debugger did not set it: it is {now.value}")
    return True


def may_need_shown(expression: str, file: str | None) -> bool:
    """Return whether a debugger may be unable to evaluate an expression itself, by its form."""
    tree = _parse(expression)
    kinds = (syntax_tree.IndexTree, syntax_tree.LengthTree, syntax_tree.CallTree)
    is_rust = (file or "").endswith(".rs")
    return tree is not None and any(
        isinstance(one, kinds)
        or (isinstance(one, syntax_tree.MemberTree) and is_rust)
        or (isinstance(one, syntax_tree.BinaryTree) and _compares_text(one))
        for one in _parts(tree)
    )


def _compares_text(tree: syntax_tree.BinaryTree) -> bool:
    return any(isinstance(one, syntax_tree.TextTree) for one in (tree.left, tree.right))


def _parse(expression: str) -> Tree | None:
    try:
        return parse_expression(expression)
    except DebuggerError:
        return None  # it may be right in the debugger's own language


class _ExpressionWalk:
    """Follows one expression in one frame."""

    def __init__(self, values: ShownValues, frame: Frame) -> None:
        self._values = values
        self._frame = frame
        self._named: dict[str, Variable] = {}
        # The values that were read as children, each with its parent's handle.
        self._read: list[tuple[Variable, int]] = []
        # Whether an error of this walk says what is wrong with the values themselves.
        self.has_explained = False

    async def evaluate(self, tree: Tree, expression: str) -> Variable:
        """Return the value of an expression.

        Raises:
            NotFollowed: The expression has a part that only the debugger may know.
            DebuggerError: EVALUATION_FAILED.
        """
        try:
            found = await self.evaluate_operand(tree)
        except NotFollowed:
            if (self._frame.file or "").endswith(".rs"):
                await self._refuse_pointer_index(tree)
            raise
        if isinstance(found, Variable):
            return replace(found, name=expression)
        kind = {bool: "bool", str: "str", float: "double"}.get(type(found), "int")
        return Variable(expression, shown_values.show_scalar(found), kind)

    def owner_of(self, found: Variable | Scalar) -> tuple[int, str] | None:
        """Return the handle of the value that one was read as a child of, and its name there."""
        handle = next((handle for one, handle in self._read if one is found), None)
        return (handle, found.name) if handle and isinstance(found, Variable) else None

    async def is_misread(self, tree: Tree) -> bool:
        """Return whether an index in an expression of C++ selects from a container.

        LLDB takes the index of a map for a position in it, and neither it nor gdb checks a bound.
        """
        for of in _indexed(tree):
            try:
                if shown_values.is_library_container(await self._variable(of)):
                    return True
            except (NotFollowed, DebuggerError):
                continue
        return False

    async def _refuse_pointer_index(self, tree: Tree) -> None:
        """Refuse an index that the debugger would apply to a reference as C does to a pointer.

        Raises:
            DebuggerError: EVALUATION_FAILED.
        """
        for of in _indexed(tree):
            with suppress(NotFollowed):
                if shown_values.is_pointer(await self._variable(of)):
                    self.has_explained = True
                    raise _misread_error("an index")

    # --- operands ---

    async def evaluate_operand(self, tree: Tree) -> Variable | Scalar:
        """Return a value as it is shown, or what was computed of such."""
        match tree:
            case (
                syntax_tree.IntegerTree()
                | syntax_tree.RealTree()
                | syntax_tree.CharacterTree()
                | syntax_tree.TextTree()
                | syntax_tree.TruthTree()
            ):
                return tree.value
            case syntax_tree.ConditionalTree():
                return await self.evaluate_operand(
                    tree.yes if await self._scalar(tree.test) else tree.no
                )
            case syntax_tree.CallTree(of=syntax_tree.MemberTree() as method):
                return await self._call(method, tree.arguments)
            case _:
                computed = await self._computed(tree)
                return await self._variable(tree) if computed is None else computed

    async def _computed(self, tree: Tree) -> Scalar | None:
        """Return the value of an operator; None where a tree is none."""
        match tree:
            case syntax_tree.LengthTree():
                count = await self._count(await self._variable(tree.of))
                return count if tree.what == "len" else count == 0
            case syntax_tree.BinaryTree():
                return await self._binary(tree)
            case syntax_tree.UnaryTree(op="-" | "+" | "!"):
                return await self._unary(tree)
            case syntax_tree.CastTree(kind=syntax_tree.TypeName(pointers=0)):
                cast = shown_values.cast_number(await self._scalar(tree.of), tree.kind.name)
                if cast is None:
                    raise NotFollowed
                return cast
        return None

    async def _scalar(self, tree: Tree) -> Scalar:
        # Rust writes a reference where a key is given or compared: `map[&7]`.
        if isinstance(tree, syntax_tree.UnaryTree) and tree.op == "&":
            tree = tree.of
        found = await self.evaluate_operand(tree)
        for _ in range(_LEVELS_MAX):
            if not isinstance(found, Variable):
                return found
            scalar = None if shown_values.is_pointer(found) else shown_values.read_scalar(found)
            scalar = shown_values.read_text(found.value) if scalar is None else scalar
            if scalar is not None:
                return scalar
            found = await self._inner(found)
        raise NotFollowed

    async def _binary(self, tree: syntax_tree.BinaryTree) -> Scalar:
        left = await self._scalar(tree.left)
        if tree.op in {"&&", "||"}:
            # The right side must not be read where the left one decides.
            if bool(left) == (tree.op == "||"):
                return bool(left)
            return bool(await self._scalar(tree.right))
        return shown_values.apply_operator(tree.op, left, await self._scalar(tree.right))

    async def _unary(self, tree: syntax_tree.UnaryTree) -> Scalar:
        value = await self._scalar(tree.of)
        if isinstance(value, str):
            raise NotFollowed
        if tree.op == "!":
            # `!` of a number is C's truth and Rust's bits.
            if not isinstance(value, bool):
                raise NotFollowed
            return not value
        return -value if tree.op == "-" else value

    # --- values ---

    async def _variable(self, tree: Tree) -> Variable:
        match tree:
            case syntax_tree.NameTree():
                return await self._name(tree.text)
            case syntax_tree.MemberTree():
                name = tree.name.removeprefix("__")
                name = name if name.isdecimal() else tree.name
                return await self._member(await self._variable(tree.of), name)
            case syntax_tree.IndexTree():
                holder = await self._variable(tree.of)
                return await self._element(holder, await self._scalar(tree.index))
            case syntax_tree.CallTree(of=syntax_tree.MemberTree() as method):
                found = await self._call(method, tree.arguments)
                if isinstance(found, Variable):
                    return found
            case syntax_tree.UnaryTree(op="*"):
                return await self._inner(await self._variable(tree.of))
        raise NotFollowed

    async def _name(self, name: str) -> Variable:
        if name not in self._named:
            self._named[name] = await self._plain(name)
        return self._named[name]

    async def _plain(self, expression: str) -> Variable:
        return await self._values.evaluate_plain(expression, self._frame, EvaluationPurpose.PRINT)

    async def _children(self, value: Variable) -> list[Variable]:
        if shown_values.is_null(value):
            raise NotFollowed  # the debugger says that nothing is there
        return await self._page(value, 0, _MEMBERS_MAX) if value.handle else []

    async def _page(self, value: Variable, start: int, count: int) -> list[Variable]:
        page = await self._values.read_variables(value.handle, start=start, count=count)
        self._read += [(one, value.handle) for one in page]
        return page

    async def _inner(self, value: Variable) -> Variable:
        """Return what a pointer or a wrapper is for."""
        name = next((known for known, one in self._named.items() if one is value), None)
        if name is not None and shown_values.is_pointer(value):
            # The members that a debugger shows of a pointer may be those before its formatters.
            return await self._plain(f"*{name}")
        if not shown_values.leads_on(value):
            raise NotFollowed
        children = {one.name: one for one in await self._children(value)}
        found = next((children[one] for one in shown_values.INNER if one in children), None)
        if found is None and len(children) == 1:
            (found,) = children.values()
        if found is None:
            raise NotFollowed
        return found

    async def _member(self, value: Variable, name: str) -> Variable:
        at = value
        seen: list[str] = []
        for _ in range(_LEVELS_MAX):
            children = await self._children(at)
            found = await self._among(children, name)
            if found is not None:
                return found
            seen = [one.name for one in children if one.name.isidentifier()] or seen
            if not shown_values.leads_on(at):
                break
            at = await self._inner(at)
        if not seen:
            raise NotFollowed  # a null pointer, or a plain number: the debugger says so
        return self._explain(
            f"{at.type or value.name} has no member '{name}'; it has {', '.join(seen[:20])}"
        )

    async def _among(self, children: Sequence[Variable], name: str) -> Variable | None:
        """Return the member of a name, also of a base class, which is shown as a member."""
        found = next((one for one in children if one.name in {name, f"__{name}"}), None)
        if found is not None:
            return found
        for one in children:
            if one.handle and one.name.strip("<>") == one.type:
                found = await self._among(await self._children(one), name)
                if found is not None:
                    return found
        return None

    # --- containers ---

    async def _container(self, value: Variable) -> Variable:
        """Return the container that a value is, or leads to."""
        for _ in range(_LEVELS_MAX):
            if shown_values.shown_count(value) is not None or not shown_values.leads_on(value):
                return value
            value = await self._inner(value)
        raise NotFollowed

    async def _count(self, value: Variable) -> int:
        holder = await self._container(value)
        count = shown_values.shown_count(holder)
        if count is None and holder.handle:
            count = await self._values.count_elements(holder.handle)
        if count is None:
            raise NotFollowed
        return count

    async def _element(self, value: Variable, index: Scalar) -> Variable:
        holder = await self._container(value)
        if shown_values.is_map(holder):
            return await self._of_key(holder, index)
        if isinstance(index, (str, float)) or not holder.handle:
            raise NotFollowed
        number = int(index)
        if number >= 0:
            page = await self._page(holder, number, 1)
            # An adapter may answer with all of them.
            found = next((one for one in page if one.name == f"[{number}]"), None)
            if found is not None:
                return found
        count = await self._count(holder)
        return self._explain(f"no element [{number}]: {_plural(count, 'element')}")

    async def _of_key(self, holder: Variable, key: Scalar) -> Variable:
        found = await self._find_key(holder, key)
        if found is None:
            count = await self._count(holder)
            return self._explain(
                f"no key {shown_values.show_scalar(key)}: {_plural(count, 'element')}"
            )
        return found

    async def _find_key(self, holder: Variable, key: Scalar) -> Variable | None:
        """Return the value of a key; None where no element has it."""
        for start in range(0, _KEYS_MAX, _PAGE):
            page = await self._page(holder, start, _PAGE)
            for at, one in enumerate(page):
                found = await self._value_of_key(one, start + at, key)
                if found is not None:
                    return found
            if len(page) < _PAGE:
                return None
        return self._explain(f"not among the first {_KEYS_MAX:,} keys")

    async def _value_of_key(self, element: Variable, at: int, key: Scalar) -> Variable | None:
        """Return the value of an element of a map, if it has the key."""
        if element.name != f"[{at}]" or not element.handle:
            return element if shown_values.key_of_name(element.name) == key else None
        own = shown_values.key_of_pair(element)
        if own is not None and own != key:
            return None
        pair = await self._children(element)
        if len(pair) != 2:  # noqa: PLR2004 - a key and its value
            # gdb names the elements of a map by their keys: [0] may be one.
            return element if shown_values.key_of_name(element.name) == key else None
        if shown_values.read_scalar(pair[0]) is None:
            raise NotFollowed
        return pair[1] if shown_values.read_scalar(pair[0]) == key else None

    # --- methods ---

    async def _call(
        self, of: syntax_tree.MemberTree, arguments: Sequence[Tree]
    ) -> Variable | Scalar:
        holder = await self._variable(of.of)
        given = [await self._scalar(one) for one in arguments]
        if not given or of.name == "expect":
            return await self._call_without(of.name, holder)
        if len(given) != 1:
            raise NotFollowed
        if of.name in {"at", "get"}:
            return await self._element(holder, given[0])
        if of.name in _HAS_KEY:
            return await self._has(holder, given[0], is_count=of.name == "count")
        text = await self._scalar(of.of) if of.name in _AT_END else None
        if not isinstance(text, str) or not isinstance(given[0], str):
            raise NotFollowed
        return text.endswith(given[0]) if _AT_END[of.name] else text.startswith(given[0])

    async def _call_without(self, method: str, holder: Variable) -> Variable | Scalar:
        if method in {"front", "first"}:
            return await self._element(holder, 0)
        if method in {"back", "last"}:
            return await self._element(holder, await self._count(holder) - 1)
        if method in _PRESENT:
            return await self._case(holder) in _PRESENT[method]
        if method in _UNWRAPPING:
            return await self._unwrapped(holder)
        if method == "value":
            return await self._inner(holder)
        if method in _SAME:
            return holder
        raise NotFollowed

    async def _case(self, value: Variable) -> str:
        for _ in range(_LEVELS_MAX):
            found = shown_values.present_case(value)
            if found is not None:
                return found
            value = await self._inner(value)
        raise NotFollowed

    async def _unwrapped(self, value: Variable) -> Variable:
        case = await self._case(value)
        if case == "None":
            return self._explain(f"{value.name} is None")
        children = [one for one in await self._children(value) if one.name.isidentifier()]
        inner = next((one for one in children if one.name == case), value)
        return await self._member(inner, "0")

    async def _has(self, holder: Variable, key: Scalar, *, is_count: bool) -> Scalar:
        holder = await self._container(holder)
        if not shown_values.is_map(holder):
            raise NotFollowed
        found = await self._find_key(holder, key) is not None
        return int(found) if is_count else found

    def _explain(self, message: str) -> NoReturn:
        self.has_explained = True
        name = next(iter(self._named), "")
        raise expression_error(message, hint=f"debugger print {name} shows what it has")


def _misread_error(what: str) -> DebuggerError:
    return expression_error(
        f"{what}: the debugger behind the session takes a reference for a pointer of C",
        hint="debugger print '*NAME' reads through a reference; --backend frida knows Rust's rules",
    )


def _plural(count: int, word: str) -> str:
    return f"there is {count} {word}" if count == 1 else f"there are {count:,} {word}s"


def _is_sum(tree: Tree) -> bool:
    return isinstance(tree, syntax_tree.BinaryTree) and tree.op in {"+", "-"}


def _indexed(tree: Tree) -> list[Tree]:
    """Return what is indexed anywhere in an expression, the innermost first."""
    return [one.of for one in _parts(tree) if isinstance(one, syntax_tree.IndexTree)]


def _parts(tree: Tree) -> list[Tree]:
    """Return a tree and all trees in it, the innermost first."""
    found: list[Tree] = []
    arguments = tree.arguments if isinstance(tree, syntax_tree.CallTree) else ()
    for one in (*syntax_tree.subtrees(tree).values(), *arguments):
        found += _parts(one)
    return [*found, tree]
