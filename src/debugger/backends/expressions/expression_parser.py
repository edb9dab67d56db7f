"""Parses an expression's text into a tree. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from debugger.backends.expressions import syntax_tree
from debugger.backends.expressions.syntax_tree import (
    Tree,
    TypeName,
    expression_error,
    fault_at,
)

LENGTH_MAX = 4_000  # characters


class TokenKind(Enum):
    """Lists the kinds of tokens."""

    NAME = auto()
    REGISTER = auto()
    INTEGER = auto()
    REAL = auto()
    CHARACTER = auto()
    TEXT = auto()
    MARK = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """Holds one token: its text (of strings: the meaning) and its column."""

    sort: TokenKind
    text: str
    at: int


_WORD = r"(?:r\#)?[^\W\d]\w*"
# A part of a name: a template's arguments belong to it where `::` follows, as `<` may be
# "less than" elsewhere. A file may come before one of its statics (`main.c::count`).
_PART = rf"{_WORD}(?:<(?:[^<>()&|=]|<[^<>()&|=]*>)*>(?=\s*::))?"
_IN_FILE = r"(?:[\w./+-]*\w\.(?:c|cc|cpp|cxx|C|h|hh|hpp|rs)|'[\w./+-]+\.\w+')\s*::\s*"
# The order matters: a real number before an integer, `main.c::x` before a name, long marks
# before their beginnings. Blanks are a token, which is dropped.
_TOKEN = re.compile(
    rf"""
    (?P<space>[ \t]+)
  | (?P<static>{_IN_FILE}{_PART}(?:\s*::\s*~?{_PART})*)
  | (?P<real>(?:\d[\d_]*\.\d[\d_]*(?:[eE][+-]?\d+)?|\d[\d_]*[eE][+-]?\d+
             |\d[\d_]*\.(?![\w.]))(?:_?f32|_?f64|[fFlL])?(?!\w))
  | (?P<integer>\d\w*)
  | (?P<text>(?:u8|[LuUb])?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))
  | (?P<register>\$\w+)
  | (?P<name>(?:::\s*)?{_PART}(?:\s*::\s*~?{_PART})*)
  | (?P<mark>===|!==|<<=|>>=|->|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=
             |[-+*/%<>!~&|^?:.,()\[\]=])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|([0-7]{1,3})|(.))"
)
_MEANS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_UNICODE_END = 0x110000
_SURROGATES = range(0xD800, 0xE000)


def split_tokens(text: str) -> list[Token]:
    """Split a text into tokens, with an END at its end.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying where.
    """
    if len(text) > LENGTH_MAX:
        raise expression_error(
            f"an expression of {len(text):,} characters; at most {LENGTH_MAX:,} are read"
        )
    found = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise fault_at(text, at, _explain_letter(text[at]))
        sort = match.lastgroup
        if sort != "space":
            found.append(_make_token(text, sort or "", match[0], at))
        at = match.end()
    found.append(Token(TokenKind.END, "", len(text)))
    return found


def _explain_letter(letter: str) -> str:
    if letter in "\"'":
        return "a string that is not closed"
    if letter == "$":
        return "a register's name is missing"
    return f"{letter!r} has no meaning in an expression"


def _make_token(text: str, sort: str, message: str, at: int) -> Token:
    if sort == "text":
        return _quoted_token(text, message, at)
    if sort in {"name", "static"}:
        message = re.sub(r"\s*(::|[<>,*])\s*", r"\1", message)
        return Token(TokenKind.NAME, message.strip().replace("r#", ""), at)
    return Token(TokenKind[sort.upper()], message, at)


def _quoted_token(text: str, message: str, at: int) -> Token:
    prefix, quote, _ = re.split("([\"'])", message, maxsplit=1)
    body = message[len(prefix) + 1 : -1]

    def means(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        code = int(digits, 16) if digits else int(match[4], 8) if match[4] else None
        if code is None:
            return _MEANS.get(match[5], match[5])
        if code >= _UNICODE_END or code in _SURROGATES:
            raise fault_at(text, at, f"{match[0]} is no character")
        return chr(code)

    letters = _ESCAPE.sub(means, body)
    # 'a' is a character; 'word' is a text, as in Python and JavaScript.
    is_one = quote == "'" and len(letters) == 1
    return Token(TokenKind.CHARACTER if is_one else TokenKind.TEXT, letters, at)


# The suffixes of C (u, l, ll) and of Rust (u8, i32, usize), `_` between digits as in Rust.
_INTEGER = re.compile(
    r"(?:0[xX](?P<x>[0-9a-fA-F_]+?)|0[bB](?P<b>[01_]+?)|0[oO](?P<o>[0-7_]+?)|(?P<d>\d[\d_]*?))"
    r"_?(?P<kind>[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?|[ui](?:8|16|32|64|size))?\Z"
)
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}
_WIDEST = 1 << 64


def parse_literal(text: str, token: Token) -> Tree | None:
    """Read a token; None where it is no literal.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    match token.sort:
        case TokenKind.INTEGER:
            return _parse_integer(text, token)
        case TokenKind.REAL:
            plain = re.sub(r"_?(f32|f64|[fFlL])\Z", "", token.text).replace("_", "")
            return syntax_tree.RealTree(
                float(plain), token.text.endswith(("f", "F", "f32")), token.at
            )
        case TokenKind.CHARACTER:
            return syntax_tree.CharacterTree(ord(token.text), token.at)
        case TokenKind.TEXT:
            return syntax_tree.TextTree(token.text, token.at)
        case TokenKind.REGISTER:
            return syntax_tree.RegisterTree(token.text[1:], token.at)
    return None


def _parse_integer(text: str, token: Token) -> Tree:
    match = _INTEGER.match(token.text)
    if match is None:
        raise fault_at(text, token.at, f"{token.text!r} is no number")
    base, digits = next((base, match[base]) for base in _BASES if match[base])
    digits = digits.replace("_", "")
    # 010 is 8 in C and 10 in Rust: nobody can know which was meant.
    if base == "d" and len(digits) > 1 and digits[0] == "0" and digits.strip("0"):
        raise fault_at(
            text,
            token.at,
            f"{token.text!r} is octal in C and decimal in Rust: write 0o{digits[1:]} or "
            f"{digits.lstrip('0')}",
        )
    value = int(digits, _BASES[base]) if digits else _WIDEST
    if value >= _WIDEST:
        raise fault_at(text, token.at, f"{token.text!r} does not fit in 64 bits")
    return syntax_tree.IntegerTree(value, (match["kind"] or "").lower(), base == "d", token.at)


DEPTH_MAX = 64  # levels; what walks a tree calls itself about three times for each

# C's precedence, higher binds more strongly. `as` binds as Rust has it, more than products.
_BINDS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_AS = 11
_UNARY = 12
_BITWISE = frozenset({"&", "|", "^"})
# Python's words and JavaScript's marks for operators of C.
_OTHER_NAMES = {"and": "&&", "or": "||", "not": "!", "===": "==", "!==": "!="}
_WORDS = frozenset({"and", "or", "not", "as"})
_NULLS = frozenset({"null", "nullptr", "NULL", "None"})
_TRUTHS = {"true": True, "false": False, "True": True, "False": False}
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast"})
SIZE_NAMES = {"len": "len", "size": "len", "length": "len", "empty": "empty", "is_empty": "empty"}
_QUALIFIERS = frozenset(
    {"const", "volatile", "struct", "class", "union", "enum", "mut", "typename"}
)
_BASIC = frozenset({
    "void", "bool", "_Bool", "char", "short", "int", "long", "float", "double", "signed",
    "unsigned", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32",
    "f64",
})  # fmt: skip
# A name in brackets before one of these is a value, unless it is known as a type.
_AFTER_A_VALUE = frozenset({"-", "+", "*", "&", "(", "["})
_IN_TEMPLATES = frozenset({"<", ">", ">>", ",", "*", "&"})


def parse_expression(text: str, is_type: Callable[[str], bool] = lambda _: False) -> Tree:
    """Parse an expression; `is_type` tells whether a name is a type, for `(name) * x`.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying where and what was expected.
    """
    reader = _ExpressionParser(text, is_type)
    found = reader.parse_binding(0)
    reader.expect_end()
    return found


class _ExpressionParser:
    """Parses the tokens of one expression by precedence climbing (a Pratt parser)."""

    def __init__(self, text: str, is_type: Callable[[str], bool]) -> None:
        self._text = text
        self._tokens = split_tokens(text)
        self._next = 0
        self._is_type = is_type
        self._depth = 0
        self._closed: set[int] = set()  # which trees stood in brackets
        # How deep each tree is; the trees are kept, so that an id stays its tree's.
        self._deep: dict[int, tuple[int, Tree]] = {}

    @property
    def _current_token(self) -> Token:
        return self._tokens[self._next]

    def _take_token(self) -> Token:
        token = self._current_token
        self._next += token.sort is not TokenKind.END
        return token

    def _token_ahead(self, count: int) -> Token:
        return self._tokens[min(self._next + count, len(self._tokens) - 1)]

    def _operator_mark(self) -> str:
        """Return the operator that the next token is, by its name in C."""
        token = self._current_token
        if token.sort is TokenKind.MARK or (
            token.sort is TokenKind.NAME and token.text in _OTHER_NAMES
        ):
            return _OTHER_NAMES.get(token.text, token.text)
        return ""

    def _syntax_error(self, message: str, token: Token | None = None) -> Exception:
        return fault_at(self._text, (token or self._current_token).at, message)

    def _expect_mark(self, mark: str) -> None:
        if self._operator_mark() != mark:
            raise self._syntax_error(f"expected {mark!r}")
        self._take_token()

    def expect_end(self) -> None:
        """Refuse what follows a whole expression."""
        token = self._current_token
        if token.sort is TokenKind.END:
            return
        if token.text in {"=", "++", "--"} or (
            token.text.endswith("=") and token.text[0] in "+-*/%&|^<>"
        ):
            raise self._syntax_error(
                f"{token.text!r} would change the program; compare with '==', change with "
                "`debugger set`"
            )
        raise self._syntax_error("expected an operator or the end")

    def _check_depth(self, made: Tree, *parts: Tree) -> Tree:
        """Refuse a tree that is too deep, by the depth of its parts."""
        depth = 1 + max(self._deep.get(id(part), (0, part))[0] for part in parts)
        if depth > DEPTH_MAX:
            raise fault_at(self._text, made.at, f"more than {DEPTH_MAX} operators deep")
        self._deep[id(made)] = depth, made
        return made

    # --- operators ---

    def parse_binding(self, least: int) -> Tree:
        """Parse what binds at least as strongly as `least`."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._syntax_error(f"nested more than {DEPTH_MAX} levels deep")
        left = self._parse_unary()
        # Precedence climbing: an operator that binds less than `least` ends this level and is
        # left to the caller's. Operators of one level are taken from the left, as `binds + 1`
        # refuses them on the right.
        while (found := self._parse_infix(left, least)) is not left:
            left = found
        self._depth -= 1
        return left

    def _parse_infix(self, left: Tree, least: int) -> Tree:
        token, mark = self._current_token, self._operator_mark()
        if token.sort is TokenKind.NAME and token.text == "as" and least <= _AS:
            self._take_token()
            return self._check_depth(
                syntax_tree.CastTree(self._parse_type(is_last=False), left, token.at), left
            )
        if mark == "?" and least <= 0:
            self._take_token()
            yes = self.parse_binding(0)
            self._expect_mark(":")
            no = self.parse_binding(0)
            return self._check_depth(
                syntax_tree.ConditionalTree(left, yes, no, token.at), left, yes, no
            )
        binds = _BINDS.get(mark)
        if binds is None or binds < least:
            return left
        self._take_token()
        right = self.parse_binding(binds + 1)
        made = syntax_tree.BinaryTree(mark, left, right, token.at)
        self._refuse_ambiguous(made, token)
        return self._check_depth(made, left, right)

    def _refuse_ambiguous(self, made: syntax_tree.BinaryTree, token: Token) -> None:
        """Refuse what C, Rust and Python parse differently."""
        # `a < b < c` chains in Python, compares a truth in C, and is an error in Rust. `a & b
        # == c` is `a & (b == c)` in C, and `(a & b) == c` in Rust.
        for side in (made.left, made.right):
            if id(side) in self._closed or not isinstance(side, syntax_tree.BinaryTree):
                continue
            if made.op in syntax_tree.COMPARE and side.op in syntax_tree.COMPARE:
                raise self._syntax_error(
                    "comparisons in a row: write a < b && b < c, or brackets", token
                )
            if made.op in _BITWISE and side.op in syntax_tree.COMPARE:
                raise self._syntax_error(
                    f"{made.op!r} beside {side.op!r}: C and Rust differ here, put brackets", token
                )

    def _parse_unary(self) -> Tree:
        token, mark = self._current_token, self._operator_mark()
        if mark == "&&":  # in Rust two borrows; here it is an operand that is missing
            raise self._syntax_error("expected an operand")
        if mark in {"-", "+", "~", "!", "*", "&"}:
            self._take_token()
            if mark == "&" and self._current_token.text == "mut":
                self._take_token()
            inner = self.parse_binding(_UNARY)
            if token.text == "not" and self._operator_mark() in _BINDS.keys() - {"&&", "||"}:
                raise self._syntax_error("'not' before an operator: put brackets", token)
            return self._check_depth(syntax_tree.UnaryTree(mark, inner, token.at), inner)
        if token.sort is TokenKind.NAME and token.text == "sizeof":
            return self._parse_sizeof()
        if mark == "(" and self._is_cast():
            self._take_token()
            kind = self._parse_type()
            self._expect_mark(")")
            inner = self.parse_binding(_UNARY)
            return self._check_depth(syntax_tree.CastTree(kind, inner, token.at), inner)
        return self._parse_postfix(self._parse_primary())

    def _parse_sizeof(self) -> Tree:
        token = self._take_token()
        if self._operator_mark() == "(" and self._begins_type(1, is_sure=True):
            self._take_token()
            kind = self._parse_type()
            self._expect_mark(")")
            return syntax_tree.SizeOfTree(kind, token.at)
        inner = self.parse_binding(_UNARY)
        return self._check_depth(syntax_tree.SizeOfTree(inner, token.at), inner)

    def _parse_postfix(self, left: Tree) -> Tree:
        while True:
            token, mark = self._current_token, self._operator_mark()
            if mark in {".", "->"}:
                self._take_token()
                left = self._parse_member(left, token)
            elif mark == "[":
                self._take_token()
                left = self._parse_index(left, token)
            elif mark == "(":
                self._take_token()
                left = self._parse_call(left, token)
            else:
                return left

    def _parse_member(self, left: Tree, token: Token) -> Tree:
        name = self._take_token()
        if name.sort is TokenKind.INTEGER and name.text.isdecimal():
            return self._check_depth(syntax_tree.MemberTree(left, f"__{name.text}", token.at), left)
        if name.sort is TokenKind.REAL and name.text.replace(".", "").isdecimal():  # `pair.0.1`
            for field in name.text.split("."):
                left = self._check_depth(syntax_tree.MemberTree(left, f"__{field}", token.at), left)
            return left
        if name.sort is not TokenKind.NAME:
            raise self._syntax_error("expected a member's name", name)
        if self._operator_mark() != "(":
            return self._check_depth(syntax_tree.MemberTree(left, name.text, token.at), left)
        self._take_token()
        # len() and its relatives are computed from the container's memory; any other method
        # is a call.
        if name.text not in SIZE_NAMES or self._operator_mark() != ")":
            return self._parse_call(
                self._check_depth(syntax_tree.MemberTree(left, name.text, name.at), left), name
            )
        self._take_token()
        return self._check_depth(
            syntax_tree.LengthTree(SIZE_NAMES[name.text], left, token.at), left
        )

    def _parse_call(self, of: Tree, token: Token) -> Tree:
        arguments: list[Tree] = []
        while self._operator_mark() != ")":
            arguments.append(self.parse_binding(0))
            if self._operator_mark() != ",":
                break
            self._take_token()
        self._expect_mark(")")
        return self._check_depth(
            syntax_tree.CallTree(of, tuple(arguments), token.at), of, *arguments
        )

    def _parse_index(self, left: Tree, token: Token) -> Tree:
        index = self.parse_binding(0)
        self._expect_mark("]")
        if (
            isinstance(left, syntax_tree.NameTree)
            and left.text == "args"
            and isinstance(index, syntax_tree.IntegerTree)
        ):
            return syntax_tree.ArgumentTree(index.value, left.at)
        return self._check_depth(syntax_tree.IndexTree(left, index, token.at), left, index)

    # --- operands ---

    def _parse_primary(self) -> Tree:
        token = self._take_token()
        if token.sort is TokenKind.NAME:
            return self._parse_named(token)
        found = parse_literal(self._text, token)
        if found is not None:
            return found
        if token.text == "(":
            inner = self.parse_binding(0)
            self._expect_mark(")")
            self._closed.add(id(inner))
            self._deep.setdefault(id(inner), (0, inner))
            return inner
        raise self._syntax_error("expected an operand", token)

    def _parse_named(self, token: Token) -> Tree:
        name = token.text
        if name in _OTHER_NAMES or name == "as":
            raise self._syntax_error("expected an operand", token)
        if name in _TRUTHS:
            return syntax_tree.TruthTree(_TRUTHS[name], token.at)
        if name in _NULLS:
            return syntax_tree.NullTree(name, token.at)
        if name in _CASTS and self._current_token.text == "<":
            self._take_token()
            kind = self._parse_type()
            self._expect_mark(">")
            self._expect_mark("(")
            inner = self.parse_binding(0)
            self._expect_mark(")")
            return self._check_depth(syntax_tree.CastTree(kind, inner, token.at), inner)
        if name == "len" and self._operator_mark() == "(":
            self._take_token()
            inner = self.parse_binding(0)
            self._expect_mark(")")
            return self._check_depth(syntax_tree.LengthTree("len", inner, token.at), inner)
        return syntax_tree.NameTree(name, token.at)

    # --- types ---

    def _is_cast(self) -> bool:
        """Tell a cast from a value in brackets, as both begin with a bracket."""
        if not self._begins_type(1, is_sure=False):
            return False
        # `(name) * x` is a product or a cast of a dereference: only the scope knows whether
        # `name` is a type. `(int) x` needs no scope.
        if self._begins_type(1, is_sure=True):
            return True
        at = 1
        pointers = 0
        while (
            self._token_ahead(at).sort is TokenKind.NAME
            and self._token_ahead(at).text not in _WORDS
        ):
            at += 1
        at = self._behind_template(at)
        while self._token_ahead(at).text in {"*", "&", "&&"}:
            at += 1
            pointers += 1
        if self._token_ahead(at).text != ")":
            return False
        after = self._token_ahead(at + 1)
        if pointers or at > 2:  # noqa: PLR2004  `(name *)`, and two words in a row, are no value
            return True
        is_operand = (
            after.sort not in {TokenKind.MARK, TokenKind.END} and after.text not in _OTHER_NAMES
        )
        return (is_operand and after.text != "as") or after.text in {"~", "!"}

    def _behind_template(self, count: int) -> int:
        """Return the position behind `<...>`, where that is a template."""
        depth, at = 0, count
        while True:
            token = self._token_ahead(at)
            depth += {"<": 1, ">": -1, ">>": -2}.get(token.text, 0)
            if depth <= 0:
                return at + 1 if at > count else count
            if (
                token.sort not in {TokenKind.NAME, TokenKind.INTEGER}
                and token.text not in _IN_TEMPLATES
            ):
                return count
            at += 1

    def _begins_type(self, count: int, *, is_sure: bool) -> bool:
        token = self._token_ahead(count)
        if token.sort is not TokenKind.NAME:
            return token.text in {"*", "&"} and self._token_ahead(count + 1).text in {
                "const",
                "mut",
            }
        if token.text in _BASIC | _QUALIFIERS or self._is_type(token.text):
            return True
        return not is_sure and token.text not in _OTHER_NAMES.keys() | _TRUTHS | _NULLS

    def _parse_type(self, *, is_last: bool = True) -> TypeName:
        """Parse a type: words, `<...>`, then stars; behind `as`, Rust's stars come first."""
        first = self._current_token
        pointers = 0
        while self._operator_mark() in {"*", "&"}:
            self._take_token()
            pointers += 1
            if self._current_token.text in {"const", "mut"}:
                self._take_token()
        words = []
        while (
            self._current_token.sort is TokenKind.NAME
            and self._current_token.text not in _OTHER_NAMES
        ):
            word = self._take_token().text
            if word not in _QUALIFIERS:
                words.append(word + self._template_arguments())
            elif not words and word in {"const", "mut"} and pointers:
                continue
            if words and words[-1] not in _BASIC and self._current_token.text not in _QUALIFIERS:
                break
        if not words:
            raise self._syntax_error("expected a type")
        while is_last and self._operator_mark() in {"*", "&"}:
            self._take_token()
            pointers += 1
            while self._current_token.text in _QUALIFIERS:
                self._take_token()
        return TypeName(" ".join(words), pointers, first.at)

    def _template_arguments(self) -> str:
        if self._operator_mark() != "<" or self._token_ahead(1).sort not in {
            TokenKind.NAME,
            TokenKind.INTEGER,
        }:
            return ""
        depth, text = 0, ""
        while True:
            token = self._take_token()
            if token.sort is TokenKind.END:
                raise self._syntax_error("expected '>'")
            text += ", " if token.text == "," else token.text
            depth += {"<": 1, ">": -1, ">>": -2}.get(token.text, 0)
            if depth <= 0:
                return text
