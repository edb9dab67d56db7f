"""Finds the pointers, elements, fields and divisors that a statement reads. Pure.

The parser works on the text of any language. The reported expressions have no side effects: calls
and assignments are never among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Final

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode

_COMMENTS = {False: r"//.* | /\*.*?\*/", True: r"\#.*"}
_PARTS = r"""
      (?P<text>[A-Za-z]{0,2}"(?:\\.|[^"\\])*"? | `(?:\\.|[^`\\])*`?
        | '(?:\\.|[^'\\])'                      # a character, in Rust beside 'lifetimes
        | (?<![\w&<])'(?:\\.|[^'\\])*')         # a string of Python and JavaScript
    | (?P<number>\d[\w.]*)
    | (?P<name>(?:(?<![\w)\]])@{1,2})?[A-Za-z_$][\w$]*(?:::[A-Za-z_][\w]*)*)  # `@x` of Ruby
    | (?P<mark>->|\?\.|\+\+|--|\*\*|//|<<=?|>>=?|&&|\|\||[-+*/%&|^=!<>]=|::|\S)
    """
_TOKENS = {
    is_hash: re.compile(rf"(?P<space>\s+ | {comments}) | {_PARTS}", re.VERBOSE)
    for is_hash, comments in _COMMENTS.items()
}
_COMMON = (
    "and as assert async await break class continue def else False for if import in is lambda "
    "new nil None not null or raise return True try while yield"
)
_WORDS = {
    False: frozenset(
        re.findall(
            r"\w+",
            f"{_COMMON} auto bool case catch char const delete do double enum false finally float "
            "fn goto instanceof int let long loop mut nullptr NULL short signed size_t sizeof "
            "static struct super switch template this throw true typedef typename typeof "
            "undefined union unsafe unsigned use using var void volatile",
        )
    ),
    True: frozenset(
        re.findall(
            r"\w+", f"{_COMMON} case del elif except finally from global nonlocal pass self with"
        )
    ),
}
# Names of types, which are no values: `std::forward<T>(value)`.
_TYPE_ARGUMENTS = re.compile(r"(?:(?<=\w)|::)<[\w:,&*\s]+>(?=\()")
# Parameters of Rust's closures: `.map(|one| &one.version)`, `|(at, one)|`, `move |x| x`.
_PARAMETERS = re.compile(r"(?:[(,=]|\bmove)\s*\|([^|]+)\|(?!\|)")
# Between two blanks, and between a value and a variable or a text, a dot of PHP joins texts.
_JOINS = re.compile(r"\s\.\s|[\w\])'\"]\.\s*\$|[)'\"]\.\s+['\"]")
_TEMPLATE = re.compile(r"\$\{([^{}]*)\}")
_INTERPOLATED = re.compile(r"#\{([^{}]*)\}")
_FORMATTED = re.compile(r"(?<!\{)\{([^{}:!=]+)")
# Functions and methods of several languages that divide by their last argument.
_DIVIDING = frozenset(
    {"intdiv", "divmod", "floorDiv", "floorMod", "div", "modulo", "remainder", "divide", "mod"}
    | {"div_euclid", "rem_euclid", "divideUnsigned", "remainderUnsigned", "ldiv", "lldiv"}
)
_LITERALS = re.compile(r"""(["']).*?\1|(?<!:):\w+""")  # with Ruby's symbols
_READABLE = frozenset({"self", "this"})
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_ASSIGN = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "++", "--", ":="})
_STEPS = frozenset({".", "->", "?."})
_MOST = 12  # accesses, and as many operands
_LONGEST = 80  # characters of an expression


# A container's length, also converted to another type of number.
_PATH = r"[A-Za-z_$@][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*?"
_LENGTH = re.compile(
    rf"(?:[a-z]\w*\()?(?P<length>(?:len|count|sizeof|strlen|mb_strlen|array_sum)\((?P<given>{_PATH})\)"
    rf"|(?P<object>{_PATH})(?:\.|->)(?:len|size|length|count)\(\))\)?"
)


class MemoryAccess(Struct, frozen=True):
    """One access: of `inner`, a member or an index, in `base`."""

    base: str
    # `.`, `->`, `[]`, `*`, or `/` for a division by `base`, or by its length (`inner`).
    how: str
    inner: str
    # The source text of the access.
    whole: str


class StatementReads(Struct, frozen=True):
    """The accesses of a statement in their order, and the values that take part."""

    accesses: tuple[MemoryAccess, ...]
    operands: tuple[str, ...]
    # What is called: `f`, `table[name]`, `self.on_open`.
    called: tuple[str, ...] = ()


# What a plain assignment writes, and does not read.
_TARGET = re.compile(
    r"\s*(?:let\s+(?:mut\s+)?|(?:const\s+)?(?P<type>[A-Za-z_][\w:]*(?:<[\w:,<>*&\s]*>)?)[\s*&]+)?"
    r"(?P<name>[A-Za-z_]\w*)(?:\s*:\s*[\w:<>]+)?\s*=(?![=>~])"
)


def parse_reads(text: str, *, hash_comments: bool = False) -> StatementReads:
    """Return the accesses of a statement; ambiguous parts are skipped.

    `hash_comments`: a comment begins with `#`, and `//` divides, as in Python.
    """
    words, parameters = _WORDS[hash_comments], frozenset[str]()
    if hash_comments:
        text = text.replace(".(", ".call(")  # as Ruby reads it
    else:
        text = _TYPE_ARGUMENTS.sub("", text)
        # A debugger that knows no such variable may find another of that name in a library.
        given = (re.findall(r"\w+", one) for one in _PARAMETERS.findall(text))
        parameters = frozenset(one for each in given for one in each)
        words |= parameters
    reader = _ReadScanner(_split_tokens(text, hash_comments=hash_comments), words, parameters)
    reader.scan_tokens(0, len(reader.tokens))
    accesses = tuple(dict.fromkeys(one for one in reader.found if len(one.whole) <= _LONGEST))
    unread = _written_names(text)
    operands = tuple(
        one for one in dict.fromkeys(reader.operands) if len(one) <= _LONGEST and one not in unread
    )
    called = tuple(dict.fromkeys(one for one in reader.called if len(one) <= _LONGEST))
    return StatementReads(accesses[:_MOST], operands[:_MOST], called[:_MOST])


def parts_of(expression: str, operands: Sequence[str]) -> tuple[str, ...]:
    """Return the operands that an expression names, which are not the expression itself."""
    bare = _LITERALS.sub("", expression)
    return tuple(
        one
        for one in operands
        if one != expression and re.search(rf"(?<![\w$.])(?<!->){re.escape(one)}(?!\w)", bare)
    )


def _written_names(text: str) -> tuple[str, ...]:
    """Return the name that a plain assignment writes, and that its value does not name.

    The type of a declaration of C++ is no value either.
    """
    found = _TARGET.match(text)
    if found is None or re.search(rf"\b{found['name']}\b", text[found.end() :]):
        return ()
    return tuple(one for one in (found["name"], found["type"]) if one)


def join_statement(lines: Sequence[str], *, hash_comments: bool = False, most: int = 5) -> str:
    """Join the lines of a statement, until its brackets are closed."""
    taken: list[str] = []
    for line in lines[:most]:
        taken.append(_without_comment(line.strip(), hash_comments=hash_comments))
        depth = 0
        for kind, part in _split_tokens(" ".join(taken), hash_comments=hash_comments):
            if kind == "mark":
                depth += (part in "([{") - (part in ")]}")
        if depth <= 0 or taken[-1].endswith(("{", ";", ":")):
            break
    return " ".join(taken)


def _without_comment(line: str, *, hash_comments: bool) -> str:
    for match in _TOKENS[hash_comments].finditer(line):
        if match.lastgroup == "space" and match[0].strip():
            return line[: match.start()].rstrip()
    return line


def _split_tokens(text: str, *, hash_comments: bool) -> list[tuple[str, str]]:
    found = []
    for match in _TOKENS[hash_comments].finditer(text):
        kind = match.lastgroup or "mark"
        is_joined = match[0] == "." and _JOINS.match(text, match.start() - 1) is not None
        if kind != "space":
            found.append((kind, "," if is_joined else match[0]))
        if kind == "text":
            for inner in _filled_in(match[0], is_hash=hash_comments):
                found += [("mark", "("), *_split_tokens(inner, hash_comments=hash_comments)]
                found.append(("mark", ")"))
    return found


def _filled_in(text: str, *, is_hash: bool) -> list[str]:
    """Return the expressions in a text: a template of JavaScript, an f-string, a text of Ruby."""
    if text.startswith("`"):
        return [match[1] for match in _TEMPLATE.finditer(text)]
    if is_hash and text.startswith('"'):
        return [match[1] for match in _INTERPOLATED.finditer(text)]
    prefix = text[: len(text) - len(text.lstrip("fFrR"))]
    if "f" not in prefix.lower():
        return []
    return [match[1] for match in _FORMATTED.finditer(text[len(prefix) :])]


class _ReadScanner:
    """Scans the tokens once, and collects accesses (`found`), `operands` and what is `called`."""

    def __init__(
        self,
        tokens: list[tuple[str, str]],
        words: frozenset[str],
        parameters: frozenset[str] = frozenset(),
    ) -> None:
        self.tokens = tokens
        self.words = words
        self.parameters = parameters  # of closures: they have no value here
        self.found: list[MemoryAccess] = []
        self.operands: list[str] = []
        self.called: list[str] = []

    def scan_tokens(self, at: int, end: int) -> None:
        while at < end:
            kind, part = self.tokens[at]
            is_member = at > 0 and self.tokens[at - 1] == ("mark", ".")
            if kind == "name" and self._is_value(part):
                # What follows a parameter of a closure is a member of it, and no variable.
                is_unknown = is_member and at > 1 and self.tokens[at - 2][1] in self.parameters
                at = at + 1 if is_unknown else self._scan_access_chain(at, end)
            elif part in {"/", "%", "//"} and kind == "mark":
                at = self._scan_divisor(at + 1, end)
            else:
                at += 1

    def _is_value(self, name: str) -> bool:
        return name not in self.words or name in _READABLE

    def _scan_access_chain(self, at: int, end: int) -> int:
        """Scan a name with its chain of members, elements and calls."""
        start, chain = at, self.tokens[at][1]
        is_pure, at = True, at + 1
        while at < end:
            kind, part = self.tokens[at]
            follower = self.tokens[at + 1] if at + 1 < end else ("", "")
            if part in _STEPS and kind == "mark" and follower[0] == "name":
                if is_pure:
                    self._record_access(chain, "." if part == "?." else part, follower[1])
                chain, at = f"{chain}{part}{follower[1]}", at + 2
            elif part == "[":
                closed = self._find_closing(at, end)
                inner = self._tokens_text(at + 1, closed)
                self.scan_tokens(at + 1, closed)
                if is_pure:
                    self._record_access(chain, "[]", inner)
                is_pure = is_pure and self._is_pure(at + 1, closed)
                chain, at = f"{chain}[{inner}]", closed + 1
            elif part == "(":
                closed = self._find_closing(at, end)
                self.called += [chain] if is_pure else []
                self.scan_tokens(at + 1, closed)
                if self.tokens[at - 1][1] in _DIVIDING:
                    self._read_divisor(self._last_argument(at + 1, closed), closed)
                is_pure, chain, at = False, "", closed + 1
            else:
                break
        if is_pure and not self._begins_block(at):
            self.operands.append(chain)
            if self._is_dereferenced(start):
                self.found.append(MemoryAccess(chain, "*", "", f"*{chain}"))
        return at

    def _begins_block(self, at: int) -> bool:
        """Return whether a block of Ruby follows: `rows.count { |row| … }` is a call."""
        following = [part for _, part in self.tokens[at : at + 2]]
        return following in (["{", "|"], ["do", "|"])

    def _record_access(self, base: str, how: str, inner: str) -> None:
        text = f"{base}[{inner}]" if how == "[]" else f"{base}{how}{inner}"
        self.found.append(MemoryAccess(base, how, inner, text))

    def _is_dereferenced(self, start: int) -> bool:
        if start == 0 or self.tokens[start - 1][1] != "*":
            return False
        if start == 1:
            return True
        kind, before = self.tokens[start - 2]
        # After a value it multiplies; after a word such as `int` it declares.
        is_value = kind in {"number", "text"} or before in {")", "]"}
        return not is_value and (kind != "name" or before in {"return", "case", "in"})

    def _scan_divisor(self, at: int, end: int) -> int:
        if at >= end:
            return at
        kind, part = self.tokens[at]
        if part == "(":
            closed = self._find_closing(at, end)
            if self._is_cast(at, closed, end):
                return self._scan_divisor(closed + 1, end)
            self._read_divisor(at + 1, closed)
            self._read_divisor_length(self._tokens_text(at + 1, closed))
            self.scan_tokens(at + 1, closed)
            return closed + 1
        if kind == "name" and self._is_value(part):
            before, start = len(self.operands), at
            at = self._scan_access_chain(at, end)
            self._read_divisor_length(self._tokens_text(start, at))
            if len(self.operands) > before and self.tokens[at - 1][1] != ")":
                divisor = self.operands[-1]
                self.found.append(MemoryAccess(divisor, "/", "", divisor))
            return at
        return at + 1

    def _is_cast(self, at: int, closed: int, end: int) -> bool:
        """Return whether brackets hold a type of C, with what is converted after them."""
        inner = self.tokens[at + 1 : closed]
        is_type = bool(inner) and all(
            part in self.words or part.endswith("_t") for _, part in inner
        )
        following = self.tokens[closed + 1] if closed + 1 < end else ("", "")
        return is_type and (following[0] == "name" or following[1] == "(")

    def _read_divisor(self, at: int, end: int) -> None:
        """Collect an expression that divides, if it has no side effects."""
        if self._is_pure(at, end):
            inner = self._tokens_text(at, end)
            self.found.append(MemoryAccess(inner, "/", "", inner))

    def _read_divisor_length(self, text: str) -> None:
        """Collect a container whose length divides: `v` of `len(v)`, `v.size()`, `int(len(v))`."""
        found = _LENGTH.fullmatch(text)
        if found is not None:
            base = found["given"] or found["object"]
            self.found.append(MemoryAccess(base, "/", "length", found["length"]))

    def _last_argument(self, at: int, end: int) -> int:
        """Return the position at which the last of a call's arguments begins."""
        depth, last = 0, at
        for place in range(at, end):
            kind, part = self.tokens[place]
            if kind == "mark":
                depth += (part in _CLOSERS) - (part in _CLOSERS.values())
                last = place + 1 if part == "," and not depth else last
        return last

    def _find_closing(self, at: int, end: int) -> int:
        """Return the position of the closing bracket; the end if there is none."""
        closers: list[str] = []
        for place in range(at, end):
            kind, part = self.tokens[place]
            if kind != "mark":
                continue
            if part in _CLOSERS:
                closers.append(_CLOSERS[part])
            elif closers and part == closers[-1]:
                closers.pop()
                if not closers:
                    return place
        return end

    def _is_pure(self, at: int, end: int) -> bool:
        inner = self.tokens[at:end]
        calls = any(
            kind == "name" and following == "(" for (kind, _), (_, following) in pairwise(inner)
        )
        return bool(inner) and not calls and not any(one in _ASSIGN for _, one in inner)

    def _tokens_text(self, at: int, end: int) -> str:
        text = ""
        for kind, part in self.tokens[at:end]:
            is_word = kind in {"name", "number"}
            text += f" {part}" if is_word and text[-1:].isalnum() else part
        return text


_NAMES = {
    "signed char": "i8",
    "unsigned char": "u8",
    "short": "i16",
    "unsigned short": "u16",
    "int": "i32",
    "unsigned int": "u32",
    # LLDB keeps the size alone.
    "long": "i64 or isize",
    "unsigned long": "u64 or usize",
    "__int128": "i128",
    "unsigned __int128": "u128",
    "float": "f32",
    "double": "f64",
    "char32_t": "char",
}
# One between the angle brackets of a generic type.
_ARGUMENT = re.compile(rf"([<,(]\s*)({'|'.join(map(re.escape, _NAMES))})(?=\s*[>,)])")


def rust_type(name: str) -> str:
    """Return the Rust name of a type that a debugger names in C; any other unchanged.

    LLDB does not distinguish a reference, a Box and a raw pointer.
    """
    plain = name.strip()
    if plain.endswith(" *"):
        return f"pointer to {rust_type(plain.removesuffix(' *'))}"
    if plain in _NAMES:
        return _NAMES[plain]
    return _ARGUMENT.sub(lambda found: f"{found[1]}{_NAMES[found[2]]}", name)


# What adapters are told to hint where they know nothing better.
LOCALS: Final = "debugger locals lists what is here"

# How a command takes an expression, where another than itself and an expression is right.
_USES: Final = {
    "set": "debugger set 'a[0]' 'b + 1'",
    "write": "debugger write 'a[0]' 'b + 1'",
    "call": "debugger call NAME 'a[0]' 'b + 1'",
    "watch": "debugger watch 'a[0]'",
    "memory read": "debugger memory read '&a[0]'",
}

_SYNTAX: Final = re.compile(
    r"expected (expression|operand|an? |'.+')|syntax ?error|parse error|invalid suffix"
    r"|unterminated|unmatched|unbalanced|could not parse",
    re.IGNORECASE,
)
# The program has no code of a function of the library's, which it never calls itself.
_NO_CODE: Final = re.compile(
    r"function that is not present in the target|may be inlined|Could not find operator"
)
_UNFINISHED_CALL: Final = re.compile(r"was given up|is not done")


@contextmanager
def hint_instead(hint: str) -> Iterator[None]:
    """Replace the general hint of a failed expression with this one.

    Raises:
        DebuggerError: The block's failure.
    """
    try:
        yield
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED or error.hint not in {None, LOCALS}:
            raise
        raise DebuggerError(error.code, error.message, hint=hint) from error


def choose_hint(message: str, hint: str | None, command: str = "print") -> str:
    """Return a hint for a debugger's message about an expression; a better one is kept."""
    if hint not in {None, LOCALS}:
        assert hint is not None
        return hint
    if _UNFINISHED_CALL.search(message):
        return "debugger breakpoint list shows what may stop it; debugger breakpoint disable ID"
    if _NO_CODE.search(message):
        return "print shows the whole object, debugger vars REF its elements: no function is called"
    if _SYNTAX.search(message):
        use = _USES.get(command, "debugger print 'a[0] + b'")
        return f"one whole expression of the program's language: {use}"
    return LOCALS
