"""Parses what a runtime says of an operation on nothing, and of a key without entry. Pure.

CPython 3.8 to 3.13, V8 of Node 12 to 24, CRuby 2.7 to 3.4, PHP 7.4 to 8.4, Go 1.19 to 1.24.
"""

from __future__ import annotations

import re

from msgspec import Struct

_MESSAGES = (
    re.compile(r"'(?P<what>None)Type' object has no attribute '(?P<name>\w+)'"),
    re.compile(r"'(?P<what>None)Type' object is not (?:subscriptable|callable|iterable)"),
    re.compile(
        r"Cannot (?P<verb>read|set) propert(?:y|ies) (?:'(?P<old>\w+)' )?of "
        r"(?P<what>undefined|null)(?: \((?:reading|setting) '(?P<name>[^']*)'\))?"
    ),
    # CRuby has another quotation mark before 3.4, and `nil:NilClass` before 3.3.
    re.compile(r"undefined method [`'](?P<name>[^`']+)' for (?P<what>nil)\b"),
    # PHP's errors, and its warnings, of which error handlers make exceptions.
    re.compile(r"(?P<verb>Call) to a member function (?P<name>\w+)\(\) on (?P<what>null)"),
    re.compile(r"Attempt to (?P<verb>assign|read) property \"(?P<name>\w+)\" on (?P<what>null)"),
    re.compile(r"Value of type (?P<what>null) is not callable"),
    re.compile(r"Trying to access array offset on (?:value of type )?(?P<what>null)"),
    re.compile(r"(?P<what>nil) pointer dereference"),
)
# CRuby's message, and PHP's warning.
_MISSING_KEY = re.compile(r"key not found: (?P<ruby>.+)|Undefined array key (?P<php>.+)")
# As delve shows one; LLDB, the JVM; the interpreters: `[]`, `set()`, `deque([])`, `(0) []`.
_EMPTY = re.compile(
    r"(?:\[\]\S+ )?(?:len: 0,|nil\b)|map\[[^\]]*\]\S* \[\]\Z"
    r"|(?:0x[0-9a-f]+ )?(?:size=0\b|length 0\b)"
    r"|(?:[A-Za-z_][\w.$]*|\(0\))?\s*(?:\[\]|\{\}|\(\)|\(\[\]\)|\(\{\}\))\Z"
    r"|(?:''|\"\")\Z"
)
_NOTHING = re.compile(r"^(?:None|undefined|null|nil)\b|\bnil$|^0x0+\b")
_SETTER = re.compile(r"(?P<name>[A-Za-z_]\w*)=")  # of CRuby: `city=`
_VERBS = {"set": "set", "assign": "set", "Call": "called"}


class NullMessage(Struct, frozen=True):
    """What was nothing, by its word in the language, and what was done to it.

    Of `undefined method 'city' for nil` it is `nil`, `city`, `called`.
    """

    # `None`, `undefined`, `null`, `nil`.
    what: str
    # The member or method; "" if the message does not name it.
    name: str
    # `read`, `set` or `called`.
    verb: str

    @property
    def bare_name(self) -> str:
        """The name without the mark that a method of Ruby may end with."""
        return self.name.rstrip("?!")


def parse_null_message(message: str) -> NullMessage | None:
    """Return what an exception's message says of nothing; None if it speaks of something else."""
    for pattern in _MESSAGES:
        found = pattern.search(message)
        if found is not None:
            parts = found.groupdict(default="")
            name = parts.get("name") or parts.get("old") or ""
            verb = _VERBS.get(parts.get("verb", ""), "read")
            if parts["what"] == "nil" and (setter := _SETTER.fullmatch(name)):
                return NullMessage("nil", setter["name"], "set")
            is_call = parts["what"] == "nil" and name.rstrip("?!").isidentifier()
            return NullMessage(parts["what"], name, "called" if is_call else verb)
    return None


def is_nothing(value: str) -> bool:
    """Return whether a value in a debugger's format is nothing: `None`, `nil`, a null pointer."""
    return _NOTHING.search(value) is not None


def is_empty(value: str) -> bool:
    """Return whether a value in a debugger's format is an empty container or an empty text."""
    return _EMPTY.match(value.strip()) is not None


def parse_missing_key(exception: str, message: str) -> str:
    """Return the key that a container did not have, as its language shows it; "" if unknown."""
    found = _MISSING_KEY.match(message)
    if found is None:
        return message if exception == "KeyError" else ""
    # PHP shows a text in single quotes, and its warning has it in double ones.
    return re.sub(r'^"(.*)"$', r"'\1'", found["php"]) if found["php"] else found["ruby"]
