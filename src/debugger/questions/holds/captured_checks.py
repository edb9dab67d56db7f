"""Builds code that keeps an invariant as the good check sees it, for reading it in any function.

Ruby, PHP and Java have no addresses. The code keeps what `self` or `$this` is at the good check: in
Ruby its binding, in PHP a function of its scope. Java's adapter keeps the objects themselves.
"""

from __future__ import annotations

import re

from msgspec import Struct

from debugger.model.debugger_words import Runtime

# Strings are no names; what follows a dot or a colon is none of the check's own variables.
_TEXTS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_RUBY_NAME = re.compile(r"(?<![\w@$.:])[a-z_]\w*(?![\w?!(:])")
_PHP_LOCAL = re.compile(r"(?<!:)\$(?!this\b|GLOBALS\b)\w+")


class CapturedCheck(Struct, frozen=True):
    """How a text is kept at the good check, and read from then on."""

    keep: str  # true if it can be kept
    read: str
    # True if the variables here have the objects that were kept; "" where that is not asked.
    same: str = ""


def capture_check(runtime: Runtime, text: str, number: int) -> CapturedCheck | None:
    """Return the code for one text; None for a language with addresses, or for locals.

    A local belongs to its call: the next call has another one.
    """
    plain = _TEXTS.sub('""', text)
    if runtime is Runtime.RUBY:
        names = ", ".join(f":{one}" for one in dict.fromkeys(_RUBY_NAME.findall(plain)))
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return CapturedCheck(
            f"[{names}].none? {{ |one| binding.local_variable_defined?(one) }} && "
            f"!!(($debugger_checks ||= {{}})[{number}] = binding)",
            f"$debugger_checks[{number}].eval('{escaped}')",
        )
    if runtime is Runtime.PHP and not _PHP_LOCAL.search(plain):
        place = f"$GLOBALS['debugger_checks'][{number}]"
        return CapturedCheck(f"(bool)({place} = fn() => {text})", f"{place}()")
    if runtime is Runtime.JAVA:
        return CapturedCheck(f"$keep({number},{text})", f"$kept({number})", f"$same({number})")
    return None
