"""Finds the value that an exception complains about, among those of its statement. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from debugger.model.exception_cause import order_numbers
from debugger.model.null_message import is_empty, is_nothing, parse_null_message
from debugger.model.statement import MemoryAccess
from debugger.sources.python_suspect import is_iterator

# A module, a function or a class among the values.
_CODE = re.compile(r"<(?:module|function|class|built-in|bound method|method)\b|ƒ |class ")
_DOUBTED = ("NoneType", "str", "sym", "list")
# Exceptions about a name, and messages about the number of a call's arguments.
_OF_NAMES = frozenset(
    {"NameError", "UnboundLocalError", "ReferenceError", "ImportError", "ModuleNotFoundError"}
    | {"SyntaxError", "NotImplementedError", "KeyboardInterrupt", "SystemExit"}
)
# Exceptions of the JVM that are about the one that they were made for.
_WRAPPERS = frozenset(
    {"ExceptionInInitializerError", "NoClassDefFoundError", "InvocationTargetException"}
    | {"ExecutionException", "CompletionException", "UndeclaredThrowableException"}
)
_ENDED = "StopIteration"  # CPython has no message for an iterator that has no more
_OF_JSON = re.compile(r"\bJSON\b")  # V8's SyntaxError of a text, and not of the program
# PHP's words of what has no value: the others of the statement are not to blame.
_OF_UNSET = re.compile(
    r"Undefined variable \$|Undefined property: |Typed .* must not be accessed before initiali[sz]"
)
_AS_ARRAY = re.compile(r"Cannot use object of type (?P<type>\S+) as array")  # PHP's
_UNITERABLE = re.compile(r"(?P<what>\S+) is not (?:async )?iterable\b")  # V8's
_DATES = ("Invalid time value", "Invalid Date")  # V8's message, and the value that it is about
_EXTENDED = "Class extends value "
_MIXED = "Cannot mix BigInt and other types"  # V8's
_COUNT = re.compile(r"Invalid (?:count value|array length|string length): (?P<value>\S+)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# V8's words of an object that is frozen or sealed.
_UNCHANGEABLE = re.compile(
    r"object is not extensible|to read only property|^Cannot delete property"
)
_OF_ARGUMENTS = re.compile(r"\barguments?\b.*(?:missing|given|expected)|missing \d")
# CPython's, PHP's, and V8's, which names the expression.
_UNCALLABLE = re.compile(
    r"(?:'(?P<type>\w+)' object|Value of type (?P<php>\w+)) is not callable"
    r"|(?P<called>.+) is not a (?:function|constructor)\b"
)
# CRuby's and PHP's messages of an operand that is nothing.
_OF_NOTHING = re.compile(
    r"\bnil can't be coerced\b|\bcomparison of NilClass with\b|\b(?:convert|of) nil into\b"
    r"|\bfrom nil to\b|\bwith nil failed\b"
    r"|Unsupported operand types: (?:null\b|.* null$)|\bnull (?:given|returned)\b"
    r"|\bPassing null to\b"
)
_TYPES = {"null": "NoneType", "string": "str", "array": "list"}  # of PHP, by Python's names
# Of Rust: checked arithmetic.
_OVERFLOWED = re.compile(
    r"attempt to (?:(?:add|subtract|multiply|negate)|shift (?:left|right)) with overflow"
)
# The words of CPython, V8 and PHP, and exceptions of the JVM, which have no message.
_OF_EMPTY = re.compile(
    r"\bempty (?:sequence|iterable|array|list|set|deque|datastructure|heap)\b|\bis empty\b"
    r"|\bmust contain at least one element\b|\bcannot be empty\b|\bmust not be empty\b"
    r"|^index out of range$"  # of `heappop`
)
_TYPES_OF_EMPTY = frozenset({"NoSuchElementException", "EmptyStackException"})
# CRuby's, PHP's and V8's words of an element that cannot be compared or added.
_OF_ELEMENT = re.compile(r"\bcomparison of \w+ with .+ failed|\bcan't be coerced into\b")
# CRuby's and PHP's words of a value of the wrong type.
_OF_TYPE = re.compile(
    r"(?P<type>\w+) can't be coerced into|no implicit conversion of (?P<from>\w+)"
    r"|Unsupported operand types: (?P<left>\w+) \S+ (?P<right>\w+)"
    r"|, (?P<given>\w+) (?:given|returned)|Cannot assign (?P<assigned>\w+) to property"
)
_BY_FIRST_LETTER = {
    "'": "str",
    '"': "str",
    ":": "sym",
    "[": "list",
    "{": "dict",
    "(": "tuple",
}
_NAMES_OF_TYPES = {
    "str": {"String", "string"},
    "sym": {"Symbol"},
    "int": {"Integer", "int"},
    "list": {"Array", "array"},
    "dict": {"Hash"},
    "bool": {"true", "false", "bool", "boolean"},
    "NoneType": {"nil", "null", "NilClass"},
}
_CALLBACK = "must be a valid callback"  # of PHP: it quotes the function's name
_SEQUENCE = re.compile(r"\[.*\bnil\b.*\]", re.DOTALL)
_UNDEFINED = re.compile(r"Call to undefined (?:function|method [\w\\]+::)\s*(?P<name>[\w\\]+)\(\)")


def is_uncallable(message: str) -> bool:
    """Return whether an exception's message says that what was called is no function."""
    return _UNCALLABLE.search(message) is not None or _UNDEFINED.search(message) is not None


def find_complained_operand(
    exception: str,
    message: str,
    operands: Sequence[str],
    called: Sequence[str],
    values: Mapping[str, str],
) -> str:
    """Return what an operation complains about, as of `int(text)` or `handler(x)`; "" if unknown.

    It is what the message says was called; or the operand that the message quotes, or whose type
    it names, or else the only one.
    """
    uncallable = _UNCALLABLE.search(message) or _UNDEFINED.search(message)
    if uncallable is not None:
        return _find_called(uncallable, [one for one in called if one in values], values)
    if _is_about_names(exception, message):
        return ""
    known = {one: values[one] for one in operands if one in values}
    refused = _find_refused(message, values)
    if refused:
        return refused
    if exception == _ENDED:
        ended = [one for one, value in known.items() if is_iterator(value)]
        return only_one(ended) if not message else ""
    data = {one: value for one, value in known.items() if not _CODE.match(value)}
    if _CALLBACK in message:
        data = {one: text for one, text in data.items() if f'"{text[1:-1]}"' in message}
    null = parse_null_message(message)
    if null is not None or _OF_NOTHING.search(message):
        # What has the name of the member that was read is what a pattern assigns it to.
        member = null.name if null is not None else ""
        data = {one: text for one, text in data.items() if is_nothing(text) and one != member}
        if not data and "null returned" in message:  # what is not there has no value
            data = dict.fromkeys(_list_absent(operands, values), "")
    texts = {one: value for one, value in data.items() if value[:1] in {"'", '"'}}
    quoted = [one for one, value in texts.items() if len(value) > len("''") and value in message]
    is_typed = exception in {"TypeError", "AttributeError"}
    types = re.findall(r"'(\w+)'", message) if is_typed else []
    types += _complained_types(message)
    typed = [one for one, value in data.items() if _type_name(value) in types]
    # What came as text was not converted, more often than a number was.
    by_type = [[one for one in typed if _type_name(data[one]) == name] for name in _DOUBTED]
    for found in (quoted, *by_type, typed, [*data]):
        if found:
            return only_one(found)
    return ""


def _is_about_names(exception: str, message: str) -> bool:
    """Return whether an exception is about a name, or a call's arguments, and no value."""
    is_of_name = exception in _OF_NAMES and not _OF_JSON.search(message)
    is_of_name = is_of_name or exception.rpartition(".")[2] in _WRAPPERS
    is_of_none = _OF_ARGUMENTS.search(message) or _OF_UNSET.match(message)
    return is_of_name or is_of_none is not None


def _find_refused(message: str, values: Mapping[str, str]) -> str:
    """Return what V8 or PHP refuses: no iterable, no array, no date, no count; "" if unknown."""
    uniterable = _UNITERABLE.match(message)
    if uniterable is not None and uniterable["what"] in values:
        return uniterable["what"]
    as_array = _AS_ARRAY.match(message)
    if as_array is not None:
        begin = f"{as_array['type']} {{"
        return only_one([one for one, value in values.items() if value.startswith(begin)])
    count = _COUNT.match(message)
    refused = _DATES[1] if message == _DATES[0] else count["value"] if count is not None else ""
    if message.startswith(_MIXED):
        return only_one([one for one, value in values.items() if _NUMBER.fullmatch(value)])
    return only_one([one for one, value in values.items() if value == refused]) if refused else ""


def only_one(found: Sequence[str]) -> str:
    """Return the only one of some expressions; "" for none, or for several."""
    return found[0] if len(found) == 1 else ""


def _list_absent(operands: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return the variables and parts of values of PHP that a statement reads and are not there."""
    return [one for one in operands if one.startswith("$") and one not in values]


def _complained_types(message: str) -> list[str]:
    """Return the types that CRuby or PHP complain about, by Python's names."""
    found = _OF_TYPE.search(message)
    names = {one for one in found.groupdict().values() if one} if found is not None else set()
    return [kind for kind, own in _NAMES_OF_TYPES.items() if own & names]


def _find_called(uncallable: re.Match[str], known: Sequence[str], values: Mapping[str, str]) -> str:
    """Return what was called of the known ones, by its text or the type of its value."""
    parts = uncallable.groupdict()
    text = parts.get("called") or ""
    if parts.get("name"):  # of PHP: `$handler($x)` calls the function that the text names
        fitting = [one for one in known if values[one].strip("'\"") == parts["name"]]
    elif text.startswith(_EXTENDED):
        fitting = [one for one, value in values.items() if value == text.removeprefix(_EXTENDED)]
    elif text:
        fitting = [one for one in known if one == text]
        # V8 shows a text that another function was to call.
        fitting = fitting or [one for one, value in values.items() if value == f"'{text}'"]
    else:
        name = uncallable["type"] or uncallable["php"]
        fitting = [one for one in known if _type_name(values[one]) == _TYPES.get(name, name)]
    return only_one(fitting)


def _type_name(value: str) -> str:
    """Return the type of a value of Python, by its text; "" if that does not tell."""
    if is_nothing(value):
        return "NoneType"
    if value in {"True", "False", "true", "false"}:
        return "bool"
    if re.fullmatch(r"-?\d+", value):
        return "int"
    return _BY_FIRST_LETTER.get(value[:1], "")


def find_overflowed(
    message: str, operands: Sequence[str], values: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the numbers of a statement whose arithmetic overflowed, the greatest one first.

    Args:
        message: That of a panic of Rust.
        operands: What the statement reads.
        values: The values of expressions.
    """
    if _OVERFLOWED.search(message) is None:
        return ()
    return order_numbers(operands, values)


def find_emptied(
    exception: str,
    message: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],
) -> str:
    """Return the only empty container of a statement that failed for one; "" if unknown.

    Args:
        exception: The short name of the exception's type.
        message: Its message.
        accesses: Those of the statement: a method's object is the base of one.
        operands: What the statement reads.
        values: The values of expressions.
    """
    if exception not in _TYPES_OF_EMPTY and _OF_EMPTY.search(message) is None:
        return ""
    named = dict.fromkeys((*(one.base for one in accesses), *operands))
    return only_one([one for one in named if is_empty(values.get(one, ""))])


def find_holder(message: str, accesses: Sequence[MemoryAccess], values: Mapping[str, str]) -> str:
    """Return the only object of a statement that is frozen, or has a wrong element; "" if unknown.

    Of `scores.sort` and "comparison of NilClass with 1 failed" it is `scores`.
    """
    bases = dict.fromkeys(one.base for one in accesses)
    if _UNCHANGEABLE.search(message):
        return only_one([one for one in bases if one in values])
    element = _OF_ELEMENT.search(message)
    if element is None:
        return ""
    known = {one: values[one] for one in bases if values.get(one, "").startswith("[")}
    is_nil = _OF_NOTHING.search(message) is not None
    return only_one([one for one, text in known.items() if not is_nil or _SEQUENCE.match(text)])
