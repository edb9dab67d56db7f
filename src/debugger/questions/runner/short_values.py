"""Formats a value and one level of its children within a small budget."""

from __future__ import annotations

import re

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.program import Variable
from debugger.session import views
from debugger.session.session import Session

LOCALS_MAX = 10
_INSIDE_MAX = 8  # children of a value
_VALUE_MAX = 160  # characters
_SMALL = 60
_BARE = re.compile(r"(?:\([^()]*\)\s*)?0x0*[1-9a-fA-F][0-9a-fA-F]*\s*$")
_INSTANCE = re.compile(r"<(?:[\w.]+\.)?(\w+) object at 0x[0-9a-fA-F]+>$")
_OBJECT = re.compile(
    r"<.* (?:object )?at 0x[0-9a-fA-F]+>$|\{\.\.\.\}$|\{…\}$|^[A-Z]\w* ?\{…\}$|^size=[1-9]\d*$"
)
_ARGV = frozenset({"char**", "constchar**", "char*[]"})  # its inside is the command line
_UNKNOWN = ("<error", "error:", "<optimized out>", "<not available>", "<cannot access")
_DULL = re.compile(
    r"<(?:module|function|class|built-in|bound method)\b|^ƒ |^class |^[fF]unction"
    r"|: ƒ\b|: ƒ[,}]|^Object$|^process \{"
)
_GROUPS = ("special variables", "function variables", "class variables", "[[", "(", "return ")
_ZEROS = re.compile(r"\b0x0{4,15}(?=[0-9a-fA-F])")
_GO_TYPE = re.compile(r"^\*?(?:\w+\.)+\w+ (?=\{)|^(?:\[\]|map\[)\S+ (?=len: )")


def plain_text(one: Variable) -> str:
    """Return a value's text without a repetition of its type."""
    return _ZEROS.sub("0x", _GO_TYPE.sub("", one.value.strip()))


def is_dull(one: Variable) -> bool:
    """Tell whether a value is irrelevant to a crash: a module, a function, a class."""
    return _DULL.search(one.value) is not None or one.name.startswith(_GROUPS)


def is_unknown(text: str) -> bool:
    """Tell whether a text stands for an unavailable value, such as `<optimized out>`."""
    return text.lower().startswith(_UNKNOWN)


def short_view(one: Variable) -> answers.VariableView:
    """Convert a variable with few characters of its value."""
    return answers.VariableView(
        one.name[: views.NAME_MAX], views.value_text(plain_text(one), _VALUE_MAX), one.type[:_SMALL]
    )


async def expanded_view(session: Session, one: Variable) -> answers.VariableView:
    """Convert a variable with one level of children, if its text has none of them (a job)."""
    text = plain_text(one)
    shown = short_view(one)
    if (
        one.type.replace(" ", "") in _ARGV
        or not one.handle
        or not (_BARE.match(text) or _OBJECT.search(text))
    ):
        return shown
    try:
        inside = await session.backend.read_variables(one.handle, count=_INSIDE_MAX * 2)
    except DebuggerError:
        return shown
    own = [each for each in inside if not is_dull(each) and "<error" not in each.value]
    own = own[:_INSIDE_MAX]
    if not own:
        return shown
    named = _INSTANCE.match(text)
    text = named[1] if named else text
    parts = ", ".join(f"{each.name}: {views.value_text(plain_text(each), _SMALL)}" for each in own)
    more = ", …" if len(inside) > len(own) else ""
    return answers.VariableView(
        shown.name, views.value_text(f"{text} {{{parts}{more}}}", _VALUE_MAX), shown.type
    )
