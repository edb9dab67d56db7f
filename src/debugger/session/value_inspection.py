"""Evaluates expressions, pages values, and sets values of a stopped program."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import msgspec
from msgspec import UNSET

from debugger.backends.abilities import LiveValueAbility, MemoryAbility, RawCommandAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model import events as states
from debugger.model.debugger_words import Runtime, one_line
from debugger.model.events import EventKind, State
from debugger.model.number_format import NumberFormat, format_number
from debugger.model.program import EvaluationPurpose, Frame, Variable
from debugger.model.statement import LOCALS, rust_type
from debugger.session import (
    assigned_locals,
    javascript_locals,
    machine_inspection,
    own_texts,
    views,
)
from debugger.session.inspection import frame_of
from debugger.session.pointers import pointer_notes
from debugger.session.session import Session

_ARRAY = re.compile(r"(?:const |volatile )*(?:signed |unsigned )?char ?\[(\d+)\]\Z")
_STRING = re.compile(r"(?:std::)?(?:__\w+::)*(?:basic_)?string\b(?!_view)(?!.*[*])")


async def assign_text(
    session: Session, target: str, value: str, kind: str, frame: Frame
) -> Variable | None:
    """Assign a text to a char array or a std::string, with or without quotes.

    Returns None if the target is neither.

    Raises:
        DebuggerError: USAGE for a text that is too long, and what the backend raises.
    """
    array = _ARRAY.match(kind)
    if array is not None:
        await _write_array(session, target, _parse_literal(value), int(array[1]))
    elif _STRING.search(kind.removesuffix("&").strip()):
        if (frame.file or "").endswith(".rs"):
            raise not_of_rust(target)
        literal = _quote_literal(_parse_literal(value))
        try:
            return await session.backend.assign_value(target, literal, frame)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
        # gdb knows no conversion of a literal, but can call the string's own function.
        try:
            await session.backend.evaluate(
                f"({target}).assign({literal})", frame, EvaluationPurpose.EVALUATE
            )
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{target} is a std::string, whose own assign cannot be called here",
                hint="debugger start PROGRAM without --backend sets it; debugger call --help",
            ) from error
    else:
        return None
    return await session.backend.evaluate(target, frame, EvaluationPurpose.PRINT)


def not_of_rust(target: str) -> DebuggerError:
    """Return the refusal of a text for a Rust value: gdb 16 would copy a `&str` over a `String`."""
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{target} cannot be set to a text: its memory is Rust's to manage",
        hint="debugger set sets Rust's numbers, bools and chars",
    )


async def _write_array(session: Session, target: str, text: str, size: int) -> None:
    data = text.encode()
    # One byte is needed for the NUL.
    if len(data) >= size:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{target} has room for {size - 1} bytes, and the text has {len(data)}",
            hint=f"debugger set {target} TEXT with a shorter one",
        )
    ability = session.backend.find_ability(MemoryAbility)
    await ability.write_memory(
        await machine_inspection.address_of(session, f"&{target}"), data.ljust(size, b"\0")
    )


def _parse_literal(value: str) -> str:
    stripped = value.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] == '"':
        return re.sub(r"\\(.)", r"\1", stripped[1:-1])
    return value


def _quote_literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


T = TypeVar("T")
CHILDREN_MAX = 500  # children on one page
_NESTED_MAX = 20  # children of a nested value
# A name that is no field, no function, and whose address is not taken.
_READ_NAME = re.compile(r"(?<![\w.&\"'])(?<!->)(?<!::)[A-Za-z_]\w*\b(?!\s*(?:\(|::|\"))")
_DEPTH_MAX = 5  # levels of children
# What debuggers say of an expression after which the program may be there no more.
_DOUBTFUL = re.compile(
    r"the program ended|unexpected state|was given up|execution was interrupted|session was closed"
)
_RUST_HINT = (
    "members, indexes, len(), is_some(), unwrap() and comparisons of Rust are evaluated here; "
    "other methods are not, and LLDB takes the rest for C++"
)
_NO_VARIABLE = re.compile(r"undeclared identifier|No symbol '")
# What gdb and delve say of their commands while the program runs.
_RUNNING = re.compile(r"notStopped|debuggee is running")
_RAW_HELP = "debugger raw help lists the commands"
_RAW_EXPRESSION = (
    "raw evaluates an expression of the program's language here; debugger locals lists what is here"
)
_END_S = 2.0  # an adapter may tell of the end a second after it
# Files of languages with integers without a size.
_UNBOUNDED = (".py", ".pyw", ".rb", ".php", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")

# What gdb and LLDB 19 say of a variable that has no place at this address, or no value at all.
_GONE = re.compile(
    r"<(?:error: )?(?:optimized out|could not evaluate DW_OP|variable not available)"
)
_NAMED_TYPE = re.compile(r"[A-Za-z_][\w ]*\Z")
# LLDB says that a function may be optimized out which the program has no code of.
_NO_PLACE = re.compile(
    r"DW_OP_entry_value|variable not available|(?<!perhaps because it was )optimized out"
    r"|not an lvalue"
)


async def run_evaluation(session: Session, job: Callable[[], Awaitable[T]]) -> T:
    """Run a job that may end the program; that end takes precedence over the job's failure.

    Raises:
        DebuggerError: What the job raises; PROGRAM_EXITED where it ended the program.
    """
    # Before the job, so that an end during it is after this cursor.
    after, was_live = session.timeline.cursor(), session.is_live
    try:
        return await session.run_job(job)
    except DebuggerError as error:
        is_doubtful = error.code is ErrorCode.PROGRAM_EXITED or _DOUBTFUL.search(error.message)
        if not was_live or not is_doubtful:
            raise
        if session.is_live:
            # The failure may come before the end that caused it.
            await session.timeline.wait(after, {EventKind.EXIT}, _END_S)
        if session.is_live:
            raise
        raise DebuggerError(
            ErrorCode.PROGRAM_EXITED,
            "the program ended while the expression ran",
            hint="debugger restart runs it again; debugger output shows what it printed",
        ) from error


async def evaluate_expression(
    session: Session,
    expression: str,
    *,
    purpose: EvaluationPurpose,
    depth: int,
    show_type: bool,
    form: NumberFormat | None = None,
) -> answers.Value:
    """Evaluate an expression in the current frame; `depth` levels inside it are shown."""
    if session.state is State.RUNNING and purpose is EvaluationPurpose.PRINT and form is None:
        return await _evaluate_live(session, expression, show_type=show_type)
    session.require_state(State.STOPPED, to="evaluate")
    one_line(expression)
    frame = await frame_of(session)
    if assigned_locals.may_assign(expression):
        session.selection.note_interference()
    is_rust = (frame.file or "").endswith(".rs")
    try:
        value = await session.backend.evaluate(expression, frame, purpose)
    except DebuggerError as error:
        raise await _explain_failure(session, error, frame) from error
    if purpose is EvaluationPurpose.EVALUATE:
        # It may have changed anything.
        session.selection.note_evaluated()
    children: list[answers.VariableView] = []
    total = 0
    # Summaries that the debugger has cut for speed are read in full.
    (value,) = await session.backend.complete_values([value])
    if value.handle and depth > 0:
        children, total = await _read_levels(session, value, min(depth, _DEPTH_MAX))
    text = value.value
    explained = pointer_notes.PointerNotes()
    hint = None
    if purpose is not EvaluationPurpose.RAW:
        subject = msgspec.structs.replace(value, name=expression)
        hint = await _value_hint(session, subject, frame)
        members = [_name_in_full(one, subject) for one in children]
        found = pointer_notes.find_pointers([subject, *members], subject=expression)
        explained = await pointer_notes.explain_pointers(session, found, frame)
    # After the children are read, since they are formatted, too.
    if form is not None:
        is_bounded = not (frame.file or "").endswith(_UNBOUNDED)
        text, children = _format_numbers(value, children, form, is_bounded=is_bounded)
    return answers.Value(
        expression=expression,
        value=views.value_text(text, 1 << 16),
        type=rust_type(value.type) if is_rust else value.type,
        ref=session.refs.assign_name(value.handle) or UNSET,
        children=tuple(children) if children else UNSET,
        children_total=total if children else UNSET,
        show_type=show_type or UNSET,
        pointers=explained.views or UNSET,
        pointers_omitted=explained.omitted or UNSET,
        hint=hint or UNSET,
    )


def _name_in_full(child: answers.VariableView, value: Variable) -> answers.VariableView:
    """Return a child named as an expression: `x.next` of x, `p->next` of a pointer."""
    name = child.name
    if name.isidentifier():
        dot = "->" if value.value.startswith("0x") else "."
        owner = value.name if re.fullmatch(r"[\w.>-]+", value.name) else f"({value.name})"
        name = f"{owner}{dot}{name}"
    elif name.startswith("["):
        name = f"{value.name}{name}"
    return msgspec.structs.replace(child, name=name)


async def _value_hint(session: Session, value: Variable, frame: Frame) -> str | None:
    """Return how to read a value that says little; None for most."""
    names = _names_read(value.name) if session.traits.runtime is Runtime.NATIVE else [value.name]
    named = [msgspec.structs.replace(value, name=one) for one in names]
    unassigned = await assigned_locals.unassigned_names(session, frame, named) if named else ()
    if value.name in unassigned:
        return f"{value.name} is not assigned yet: {_unassigned_value(session)}"
    if unassigned:
        read = ", ".join(one for one in names if one in unassigned)
        is_one = len(unassigned) == 1
        return (
            f"{read} {'is' if is_one else 'are'} not assigned yet: the value is of what was there"
        )
    return await own_texts.hint_own_text(session, [value], frame)


def _names_read(expression: str) -> list[str]:
    """Return the names whose values an expression of C reads: no fields, calls and addresses."""
    if "sizeof" in expression:
        return []
    return list(dict.fromkeys(_READ_NAME.findall(expression)))


def _unassigned_value(session: Session) -> str:
    """Tell what the debugger shows of a variable that is not assigned yet."""
    if session.traits.runtime is Runtime.NODE:
        return "the debugger shows undefined for that"
    return "this is what was in its memory before"


async def _explain_failure(session: Session, error: DebuggerError, frame: Frame) -> DebuggerError:
    """Return an expression's failure in the words of its language."""
    if session.traits.runtime is Runtime.NODE:
        return await javascript_locals.declaration_error(session, frame, error)
    return _with_rust_hint(session, error, frame)


def _with_rust_hint(session: Session, error: DebuggerError, frame: Frame) -> DebuggerError:
    """Add a Rust hint to an expression's failure, if no adapter had a better one."""
    is_rust = (frame.file or "").endswith(".rs")
    if (
        error.code is not ErrorCode.EVALUATION_FAILED
        or not is_rust
        or error.hint not in {None, LOCALS}
    ):
        return error
    if not _reads_as_c(session):
        return error
    if _NO_VARIABLE.search(error.message):
        return DebuggerError(error.code, error.message, hint=LOCALS)
    return DebuggerError(error.code, error.message, hint=_RUST_HINT)


def _reads_as_c(session: Session) -> bool:
    """Return whether the debugger's own C rules apply to expressions, instead of our engine's."""
    with suppress(DebuggerError):
        session.backend.find_ability(RawCommandAbility)
        return True
    return False


async def _evaluate_live(session: Session, expression: str, *, show_type: bool) -> answers.Value:
    """Evaluate over globals while the program runs, if the debugger can.

    Raises:
        DebuggerError: WRONG_STATE if it has to stop the program first.
    """
    one_line(expression)
    try:
        live = session.backend.find_ability(LiveValueAbility)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        session.require_state(State.STOPPED, to="evaluate")
        raise
    value = await live.read_live_value(expression)
    return answers.Value(
        expression=expression,
        value=views.value_text(value.value, 1 << 16),
        type=value.type,
        show_type=show_type or UNSET,
    )


def _format_numbers(
    value: Variable, children: list[answers.VariableView], form: NumberFormat, *, is_bounded: bool
) -> tuple[str, list[answers.VariableView]]:
    """Format a number, or the numbers inside a value, in another base.

    Raises:
        DebuggerError: EVALUATION_FAILED if there is none.
    """
    own = format_number(value.value, value.type, form, is_bounded=is_bounded)
    inner = [format_number(one.value, one.type, form, is_bounded=is_bounded) for one in children]
    if own is None and not any(inner):
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{value.name} is not an integer: {views.value_text(value.value, 200)}",
            hint="debugger print shows it as it is",
        )
    pairs = zip(children, inner, strict=True)
    shown = [
        msgspec.structs.replace(one, value=text) if text is not None else one for one, text in pairs
    ]
    return own or value.value, shown


async def read_children(
    session: Session, value: Variable
) -> tuple[list[answers.VariableView], int]:
    """Show a value's children, one level deep, and their number."""
    return await _read_levels(session, value, 1) if value.handle else ([], 0)


async def _read_levels(
    session: Session, value: Variable, depth: int
) -> tuple[list[answers.VariableView], int]:
    found = await session.backend.read_variables(value.handle, start=0, count=CHILDREN_MAX)
    total = max(len(found), value.indexed or 0)
    shown: list[answers.VariableView] = []
    for one in found[:_NESTED_MAX]:
        shown.append(views.variable_view(one, session.refs, most=400))
        if one.handle and depth > 1:
            nested, _ = await _read_levels(session, one, depth - 1)
            shown += [
                answers.VariableView(f"  {sub.name}", sub.value, sub.type, sub.ref)
                for sub in nested
            ]
    return shown, total


async def assign_value(session: Session, target: str, value: str) -> answers.Assignment:
    """Set a variable, a field or an element, and show its old and new value."""
    session.require_state(State.STOPPED, to="set a variable")
    one_line(target)
    one_line(value)
    frame = await frame_of(session)
    kind = ""
    try:
        now = await session.backend.evaluate(target, frame, EvaluationPurpose.PRINT)
        before, kind = now.value, now.type
    except DebuggerError as error:
        before = None
        if _NO_PLACE.search(error.message):
            raise _optimized_out(target, frame) from error
    if before is not None and _GONE.match(before):
        raise _optimized_out(target, frame)
    if (frame.file or "").endswith(".rs") and value.lstrip().startswith('"'):
        raise not_of_rust(target)
    is_text = False
    try:
        changed = await session.backend.assign_value(target, value, frame)
        session.selection.note_assigned()
    except DebuggerError as error:
        if target.isidentifier() and _NO_PLACE.search(error.message):
            raise _optimized_out(target, frame) from error
        text = await assign_text(session, target, value, kind, frame)
        if text is None:
            raise _with_rust_hint(session, error, frame) from error
        changed = text
        session.selection.note_assigned()
        is_text = True
    is_same = not is_text and before == changed.value
    if is_same and await _is_unlike(session, target, value, changed.type, frame):
        raise _optimized_out(
            target, frame
        )  # LLDB sets a copy of what has no place, and says nothing
    return answers.Assignment(
        name=target,
        previous=views.value_text(before) if before is not None else None,
        value=views.value_text(changed.value),
        type=changed.type,
        note=await _assignment_doubt(session, target, frame) or UNSET,
    )


async def _assignment_doubt(session: Session, target: str, frame: Frame) -> str:
    """Return a doubt about an assignment: Go's compiler may use another copy of the variable.

    A function's arguments have a memory location, which delve reads and sets, but the code uses
    registers. The mark is the name of delve's scope: "Locals (warning: optimized function)".
    """
    if not (target.isidentifier() and (frame.file or "").endswith(".go")):
        return ""
    if not any("optimized" in one.name for one in await session.backend.read_scopes(frame)):
        return ""
    return (
        f"the function is optimized, and may hold {target} in a register: it would not see the "
        "change; go build -gcflags='all=-N -l' leaves it in memory"
    )


def _optimized_out(target: str, frame: Frame) -> DebuggerError:
    plain = "-gcflags='all=-N -l'" if (frame.file or "").endswith(".go") else "-O0"
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"Variable '{target}' is optimized out at this PC. Recompile with {plain}.",
        hint="debugger up: the caller may still have the value",
    )


async def _is_unlike(
    session: Session, target: str, value: str, kind: str | None, frame: Frame
) -> bool:
    """Return whether a variable certainly differs from the value that was assigned."""
    # A bool that is set to 5 is true: what counts is the value in the variable's own type.
    casts = [f"({kind})({value})"] if kind and _NAMED_TYPE.match(kind) else []
    for cast in (*casts, f"({value})"):
        with suppress(DebuggerError):
            answer = await session.backend.evaluate(
                f"({target}) == {cast}", frame, EvaluationPurpose.PRINT
            )
            # Not a number is not equal to itself.
            return answer.value.lower() in {"false", "0"} and "nan" not in value.lower()
    return False


async def read_page(session: Session, ref: str, *, start: int, count: int) -> answers.Children:
    """Show a page of a value's children."""
    session.require_state(State.STOPPED, to="show a value's contents")
    handle = session.refs.find_handle(ref)
    if start < 0 or not 1 <= count <= CHILDREN_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--from counts from 0 and --count from 1 to {CHILDREN_MAX}",
            hint=f"debugger vars {ref} --from 0 --count 50",
        )
    found = await session.backend.read_variables(handle, start=start, count=count)
    total = await session.backend.count_elements(handle)
    return answers.Children(
        ref=ref,
        total=total,
        from_=start,
        variables=tuple(views.variable_view(one, session.refs) for one in found),
    )


async def run_raw_command(session: Session, command: str) -> answers.Raw:
    """Run a command in the session's debugger (in any state but the end).

    Raises:
        DebuggerError: NOT_SUPPORTED where the debugger has no command line.
    """
    session.require_live("run a debugger command")
    debugger = session.backend.find_ability(RawCommandAbility)
    frame = await frame_of(session) if session.state is State.STOPPED else None
    try:
        output = await debugger.run_raw(command, frame)
    except DebuggerError as error:
        if session.state is State.RUNNING and _RUNNING.search(error.message):
            states.require_state(
                session.state, State.STOPPED, to="run this command of the debugger's"
            )
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        hint = _RAW_HELP if debugger.has_command_line else _RAW_EXPRESSION
        raise DebuggerError(error.code, error.message, hint=hint) from error
    session.selection.note_changed()
    if output.startswith("error: "):
        # LLDB answers a command that failed with success and this text.
        problem = output.removeprefix("error: ")
        raise DebuggerError(ErrorCode.EVALUATION_FAILED, problem, hint=_RAW_HELP)
    return answers.Raw(command=command, output=output)
