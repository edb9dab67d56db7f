"""Finds what a statement of C, C++, Rust or Go assigns: a literal, an operand, a call, a sum."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import msgspec
from msgspec import Struct

from debugger.model.statement import join_statement

NEXT = "next"  # the method of an iterator that a `for` of Rust calls


class OriginKind(Enum):
    """The kinds of right side of an assignment."""

    CONSTANT = "constant"
    OPERAND = "operand"
    CALL = "call"
    COMPUTED = "computed"
    UNKNOWN = "unknown"


class StatementOrigin(Struct, frozen=True):
    """The right side of an assignment, or an argument."""

    kind: OriginKind
    text: str
    # Of a call: the function as written, without its object, and its arguments.
    function: str = ""
    arguments: tuple[str, ...] = ()
    # Of a sum: the names that it reads.
    operands: tuple[str, ...] = ()
    # Of a method's call: its object, as written.
    receiver: str = ""
    # Of a call whose struct a field is read of: `find(3).price`.
    field: str = ""


_NUMBER = re.compile(
    r"[-+~!]?\s*(?:0[xX][\da-fA-F'_]+|0b[01'_]+|\d[\d'_]*(?:\.\d*)?(?:[eE][-+]?\d+)?)"
    r"(?:[uUlLfFzZ]+|_?[iuf](?:8|16|32|64|128|size))?"
)
_LITERAL = re.compile(
    r"(?:[LuU]8?|b|r|R)?\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'|true|false|NULL|nullptr|None|nil"
    r"|\(\s*void\s*\*\s*\)\s*0|\{\s*0?\s*\}"
)
_PATH = re.compile(r"[*&\s]*[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*(?:\s*(?:->|\.)\s*\w+|\[[^\[\]]*\])*")
_CALL = re.compile(
    r"((?:[\w]+(?:<[^<>()]*>)?(?:->|\.|::))*)([A-Za-z_]\w*)(?:::?<[^()]*>|<[^()]*>)?\s*\("
)
_CAST = re.compile(
    r"\(\s*(?:const\s+|unsigned\s+|signed\s+|struct\s+|enum\s+)*[A-Za-z_][\w:]*(?:\s+(?:int|long|char|short))*[\s*&]*\)\s*(?=[\w(*&\"'])"
)
_NAMED_CAST = re.compile(r"(?:static|reinterpret|const|dynamic)_cast\s*<[^()]*>\s*\(")
# Wrappers that hand their argument on.
_WRAPPERS = re.compile(r"(?:std::)?(?:move|forward<[^()]*>|Some|Ok|Box::new|Rc::new|Arc::new)\s*\(")
_SUFFIXES = re.compile(
    r"(?:\.(?:clone|unwrap|to_owned|into|get|as_ref|borrow)\(\)|\?|(?<=\))\.\d+| as [\w*: ]+)$"
)
_ASSIGN = re.compile(r"(?<![=!<>+\-*/%&|^:])(<<|>>|[+\-*/%&|^:])?=(?!=)")
_WORDS = re.compile(r"(?<![\w.>:])[A-Za-z_]\w*(?:(?:->|\.|::)[A-Za-z_]\w*|\[[^\[\]()]*\])*")
_UNSAFE = re.compile(r"^unsafe\s*\{\s*([^{};]*?)\s*\}$")  # a block of Rust
_NO_CALLS = frozenset({"if", "while", "for", "switch", "match", "return", "catch"})
_SOURCES_MAX = 12
_STATEMENT_LINES = 4  # lines of one assignment
_VARIABLES = re.compile(r"(?<![\w.>:])[A-Za-z_]\w*(?![\w(]|::|\s*!)")
# `let (y, m) =`, `x =`, `x += ` and `T x =`, without what is compared.
_TARGETS = re.compile(r"^\s*(?:let\s+)?(?P<left>[^=;{}\"']+?)\s*(?:[-+*/%&|^]|<<|>>)?=(?![=>])")
_STRUCTURE = re.compile(r"^\s*(?:if|while|for|match|switch|return|else|case)\b")
_LOOP_PARTS = 3
_METHOD = re.compile(r"(.+)(?:\.|->)\s*([A-Za-z_]\w*)(?:::<.*>)?$", re.DOTALL)
# Methods of Rust whose result is read as what it borrows: `a.log.borrow()[1]`.
_BORROWS = re.compile(r"\.(?:borrow|borrow_mut|as_ref|lock\(\)\.unwrap)\(\)(?=[.\[])")
_CALL_FIELD = re.compile(r"(.+\))\s*\.\s*([A-Za-z_]\w*)", re.DOTALL)
_OPERATOR = re.compile(r"(?<!-)[-+*/%&|^<=>](?!>)|\?.*:")
# `Box b{1, 2}` of C++.
_BRACED = re.compile(r"^(?:[\w:]+(?:<[^{}()]*>)?[\s*&]+)+(\w+)\s*(\{.*\})$", re.DOTALL)
# A member that a constructor of C++ begins: `Box(int w) : width(w), area{0} {`.
_MEMBER = r"\)[^;={{]*[:,]\s*{}\s*[({{]"
_STRUCT = re.compile(r"[A-Z]\w*(?:::\w+)*\s*\{(?=.*\}$)", re.DOTALL)
_TYPES = frozenset(
    {"int", "long", "char", "short", "unsigned", "signed", "float", "double", "void", "bool"}
    | {"const", "struct", "static", "sizeof", "let", "mut", "as", "return", "auto", "size_t"}
    | {"true", "false", "NULL", "nullptr", "nil", "if", "else", "while", "for", "enum", "usize"}
    | {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "isize", "f32", "f64", "std"}
)


def origin_of_assignment(statement: str, target: str) -> StatementOrigin:
    """Return what a statement assigns to a name, or to the first name that it assigns to.

    `target` is the expression whose memory changed; `return X` assigns X.
    """
    text = statement.strip().rstrip(";").strip()
    for_loop = re.match(r"for\s*\(", text)
    if for_loop:
        return _origin_of_loop(text, for_loop.end(), target)
    plain = _blank_strings(text)
    returned = re.search(r"\breturn\b\s*(.*)$", plain)
    found = list(_ASSIGN.finditer(plain))
    # A function on one line may assign to the target before it returns it.
    is_assigned = bool(target) and _assigns_to(plain, found, target) is not None
    if returned and not is_assigned and not any(one.start() > returned.start() for one in found):
        return classify_expression(text[returned.start(1) :])
    chosen = _assignment_to(plain, found, target)
    if chosen is not None:
        right = _until_comma(text[chosen.end() :])
        if chosen[1] and chosen[1] != ":":
            remaining = plain[: chosen.start()].strip()
            return computed_origin(f"{remaining} {chosen[1]} {right}")
        return classify_expression(right)
    braces = _origin_of_braces(text, target)
    step = re.search(r"(?:\+\+|--)\s*([\w.>\[\]-]+)|([\w.>\[\]-]+?)\s*(?:\+\+|--)", plain)
    if step and braces.kind is OriginKind.UNKNOWN:
        name = step[1] or step[2]
        return StatementOrigin(OriginKind.COMPUTED, text, operands=(name,))
    return braces


def _origin_of_braces(text: str, target: str) -> StatementOrigin:
    """Return what `Box b{1, 2}` gives to its variable, or to a field of it."""
    member = re.search(_MEMBER.format(re.escape(_last_name(target))), text) if target else None
    if member is not None:
        return classify_expression(_until_comma(text[member.end() :]))
    made = _BRACED.match(text)
    if made is None or made[1] != re.split(r"\W", target.lstrip("*&"), maxsplit=1)[0]:
        return StatementOrigin(OriginKind.UNKNOWN, text)
    items = split_arguments(made[2][1:-1])
    return classify_expression(items[0]) if len(items) == 1 else computed_origin(made[2])


def loop_element(statement: str) -> StatementOrigin | None:
    """Return the call by which a `for` of Rust gets its element; None for another statement."""
    loop = re.match(r"(?:'\w+:\s*)?for\s+[^(].*?\s+in\s+(.+?)\s*\{?$", statement)
    if loop is None:
        return None
    return StatementOrigin(OriginKind.CALL, f"{loop[1]}.{NEXT}()", NEXT, receiver=loop[1])


def _origin_of_loop(text: str, begin: int, target: str) -> StatementOrigin:
    """Return what a `for` statement assigns: in its head, or in the body on the same line."""
    end = closing_bracket(text, begin - 1)
    body = text[end + 1 :].strip() if end > 0 else ""
    is_of_head = re.search(rf"\b{re.escape(_last_name(target))}\b", text[:end])
    if body and not is_of_head:
        return origin_of_assignment(body, target)
    return _origin_in_loop(text[begin : end if end > 0 else len(text)], target)


def _origin_in_loop(text: str, target: str) -> StatementOrigin:
    parts = text.split(";")
    name = re.escape(_last_name(target))
    for part in reversed(parts):
        if re.search(rf"(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--|[-+*/]=)", part):
            return StatementOrigin(OriginKind.COMPUTED, part.strip(" ){"), operands=(target,))
    step = parts[-1] if len(parts) == _LOOP_PARTS else ""
    if _assigns_to(step, list(_ASSIGN.finditer(step)), target) is not None:
        return origin_of_assignment(step, target)
    return origin_of_assignment(parts[0], target)


def _assignment_to(text: str, found: list[re.Match[str]], target: str) -> re.Match[str] | None:
    return _assigns_to(text, found, target) or (found[0] if found else None)


def _assigns_to(text: str, found: list[re.Match[str]], target: str) -> re.Match[str] | None:
    # Of several statements on one line: `long *s = malloc(24); s[0] = 0;` writes `s[0]` once.
    pattern = re.compile(rf"(?<![\w.>]){re.escape(target)}\s*$")
    exact = [one for one in found if target and pattern.search(text[: one.start()])]
    if exact:
        return exact[0]
    name = re.escape(_last_name(target))
    for one in found:
        left = re.sub(r":\s*[\w<>&\[\]: ]+$", "", text[: one.start()].rstrip())  # Rust's types
        if re.search(rf"(?<!\w){name}\s*(?:\[[^\]]*\])*$", left):
            return one
    return None


def assigned_target(statement: str, target: str) -> str:
    """Return what a statement assigns to, as it is written; "" if it may be one of several.

    Args:
        statement: A line, which may have several statements.
        target: An expression for the memory that changed, perhaps another name of it.
    """
    text = _blank_strings(statement).strip()
    header = re.match(r"(?:for|if|while)\s*\(", text)
    end = closing_bracket(text, header.end() - 1) if header else -1
    text = text[end + 1 :] if 0 <= end < len(text) - 1 else text
    found = list(_ASSIGN.finditer(text))
    if not found:
        return text
    chosen = _assigns_to(text, found, target) or (found[0] if len(found) == 1 else None)
    return re.split(r"[;{}]", text[: chosen.start()])[-1].strip() if chosen is not None else ""


def _last_name(target: str) -> str:
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", target))
    return names[-1] if names else target


def _blank_strings(text: str) -> str:
    return re.sub(r'"(?:\\.|[^"\\])*"', lambda one: '"' + "x" * (len(one[0]) - 2) + '"', text)


def _until_comma(text: str) -> str:
    """Return the text up to a comma or a semicolon outside of brackets."""
    depth = 0
    plain = _blank_strings(text)
    for at, letter in enumerate(plain):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (not depth and letter in ",;"):
            return text[:at].strip()
    return text.strip()


def classify_expression(expression: str) -> StatementOrigin:
    """Return what an expression is, without casts and wrappers that hand a value on."""
    text = _strip_wrappers(_BORROWS.sub("", _without_end(expression.strip())))
    if not text:
        return StatementOrigin(OriginKind.UNKNOWN, expression)
    if _NUMBER.fullmatch(text) or _LITERAL.fullmatch(text) or re.match(r"sizeof\b", text):
        return StatementOrigin(OriginKind.CONSTANT, text)
    if _PATH.fullmatch(text):
        # A constant of an enumeration or a macro, as far as the case of its letters shows it.
        return StatementOrigin(OriginKind.OPERAND, re.sub(r"\s+", "", text))
    call = _CALL.match(text)
    if call and call[2] in _NO_CALLS:
        return StatementOrigin(OriginKind.UNKNOWN, expression)
    if call and closing_bracket(text, call.end() - 1) == len(text) - 1:
        arguments = split_arguments(text[call.end() : -1])
        receiver = re.sub(r"(?:->|\.|::)$", "", call[1])
        return StatementOrigin(OriginKind.CALL, text, call[2], arguments, receiver=receiver)
    return (
        _pointed_call(text) or _last_method(text) or _field_of_call(text) or computed_origin(text)
    )


def _pointed_call(text: str) -> StatementOrigin | None:
    """Return the call of an element, `table[kind](x)`, or of a pointer, `(*run)(x)`."""
    begin = opening_bracket(text) if text.endswith(")") else -1
    called = text[:begin].strip()
    pointer = re.fullmatch(r"\(\s*\*\s*([\w.>-]+)\s*\)", called)
    if begin <= 0 or (pointer is None and not (called.endswith("]") and _PATH.fullmatch(called))):
        return None
    arguments = split_arguments(text[begin + 1 : -1])
    return StatementOrigin(OriginKind.CALL, text, pointer[1] if pointer else called, arguments)


def _field_of_call(text: str) -> StatementOrigin | None:
    """Return the call of `find(3).price`, with the field; None for another expression."""
    match = _CALL_FIELD.fullmatch(text)
    call = classify_expression(match[1]) if match is not None else None
    if match is None or call is None or call.kind is not OriginKind.CALL or call.field:
        return None
    return msgspec.structs.replace(call, text=text, field=match[2])


def _last_method(text: str) -> StatementOrigin | None:
    """Return the last call of a chain, `a.first().last()`; None for another expression."""
    begin = opening_bracket(text) if text.endswith(")") else -1
    method = _METHOD.match(text[:begin]) if begin > 0 else None
    # What has an operator outside of brackets is a sum.
    if method is None or _OPERATOR.search(_blank_brackets(method[1])):
        return None
    arguments = split_arguments(text[begin + 1 : -1])
    return StatementOrigin(OriginKind.CALL, text, method[2], arguments, receiver=method[1].strip())


def opening_bracket(text: str) -> int:
    """Return the position of the bracket that the last character closes; -1 without one."""
    depth = 0
    plain = _blank_strings(text)
    for at in range(len(plain) - 1, -1, -1):
        depth += (plain[at] in ")]}") - (plain[at] in "([{")
        if not depth:
            return at
    return -1


def _blank_brackets(text: str) -> str:
    """Return a text without what is in brackets, and without the brackets."""
    found, depth = [], 0
    for letter in _blank_strings(text):
        depth += letter in "([{"
        found.append(letter if not depth else "")
        depth -= letter in ")]}"
    return "".join(found)


def struct_field(text: str, field: str) -> StatementOrigin | None:
    """Return what a literal of a struct, `Name { field: value, ..rest }`, gives to a field.

    None if the text is no such literal, or does not name the field.
    """
    literal = _STRUCT.match(text.strip())
    if literal is None or not field:
        return None
    for part in split_arguments(text.strip()[literal.end() : -1]):
        name, _, value = part.partition(":")
        if name.strip().lstrip(".") == field:
            return classify_expression(value or field)
    return None


def _without_end(text: str) -> str:
    """Return an expression without a semicolon, and without the brace of a block around it.

    That of its function ends it, and `while let` and `let … else` open one behind it.
    """
    while text.endswith((";", "}", "{")):
        opened = text.count("{") - text.count("}")
        if (text.endswith("}") and opened >= 0) or (text.endswith("{") and opened <= 0):
            break
        text = re.sub(r"\s+else$", "", text[:-1].rstrip())
    return text


def _strip_wrappers(text: str) -> str:
    for _ in range(8):
        before = text
        text = _UNSAFE.sub(r"\1", text)
        text = _SUFFIXES.sub("", text).strip()
        for pattern in (_NAMED_CAST, _WRAPPERS):
            match = pattern.match(text)
            if match and closing_bracket(text, match.end() - 1) == len(text) - 1:
                text = text[match.end() : -1].strip()
        if text.startswith("(") and closing_bracket(text, 0) == len(text) - 1:
            text = text[1:-1].strip()
        else:
            text = re.sub(rf"^{_CAST.pattern}", "", text)
        if text == before:
            break
    return text


def closing_bracket(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`; -1 without one."""
    depth = 0
    for at, letter in enumerate(_blank_strings(text)[start:], start):
        depth += (letter in "([{") - (letter in ")]}")
        if not depth:
            return at
    return -1


def split_arguments(text: str) -> tuple[str, ...]:
    """Return the arguments of a call, split at the commas outside of brackets."""
    found = []
    rest = text
    while rest.strip():
        one = _until_comma(rest)
        found.append(one)
        begin = rest.index(one) + len(one) if one else 0
        rest = rest[begin:].lstrip()[1:]
    return tuple(found)


def call_in_statement(statement: str, function: str) -> StatementOrigin | None:
    """Return the call of a function within a statement; None if there is not exactly one."""
    found = calls_in_statement(statement, function)
    return found[0] if len(found) == 1 else None


def calls_in_statement(statement: str, function: str) -> tuple[StatementOrigin, ...]:
    """Return the calls of a function within a statement, as they are written."""
    plain = re.sub(r"[(<].*", "", function)
    name = re.split(r"::|\.", plain)[-1]
    found = []
    for one in _CALL.finditer(_blank_strings(statement)):
        end = closing_bracket(statement, one.end() - 1)
        if name and one[2] == name and end > 0:
            arguments = split_arguments(statement[one.end() : end])
            text = statement[one.start() : end + 1]
            found.append(StatementOrigin(OriginKind.CALL, text, name, arguments))
    return tuple(found)


def find_calls(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the begin and the end of each call in an expression, and the function's name."""
    plain = _blank_strings(text)
    for one in _CALL.finditer(plain):
        end = closing_bracket(plain, one.end() - 1)
        if end > 0 and one[2] not in _NO_CALLS:
            yield one.start(), end + 1, one[1] + one[2]


def computed_origin(text: str) -> StatementOrigin:
    """Return the origin of an expression that is computed from the names in it."""
    plain = re.sub(r'"(?:\\.|[^"\\])*"', " ", text)
    names: dict[str, None] = {}
    for match in _WORDS.finditer(plain):
        # What stands before a brace is a type, as in `Item{i, 2}`.
        is_call = plain[match.end() :].lstrip().startswith(("(", "{"))
        name = re.sub(r"(?:->|\.|::)?\w+$", "", match[0]) if is_call else match[0]
        if name and name not in _TYPES:
            names[name] = None
    return StatementOrigin(OriginKind.COMPUTED, text, operands=tuple(names))


def tuple_number(statement: str, name: str) -> int | None:
    """Return which item of a tuple `let (a, b) = …` gives to a name; None for another statement."""
    pattern = re.match(r"\s*let\s*\(([^()]*)\)\s*(?::[^=]+)?=", statement)
    names = (
        [re.sub(r"^(?:mut|ref)\s+", "", one.strip()) for one in pattern[1].split(",")]
        if pattern
        else []
    )
    return names.index(name) if name in names else None


def is_reassigned(name: str, lines: list[str]) -> bool:
    """Return whether lines of a function assign to a name, or take its address."""
    address = re.compile(rf"(?<!&)&\s*(?:mut\s+)?{re.escape(name)}\b(?!\s*(?:->|\.|\[))")
    return any(is_assigned(name, one) or address.search(_blank_strings(one)) for one in lines)


def is_assigned(name: str, line: str) -> bool:
    """Return whether a line assigns to a name; `*p = s` writes what `p` points to, and not `p`."""
    word = re.escape(name)
    plain = re.sub(
        rf"((?:^|[;{{}})])\s*)\*+\s*{word}\s*\S{{0,2}}=(?!=)", r"\1", _blank_strings(line)
    )
    pattern = re.compile(
        rf"(?<![\w.>]){word}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*{word}\b"
        rf"|(?<![\w.>]){word}\s*(?:\+\+|--)"
    )
    return pattern.search(plain) is not None


def find_sources(lines: Sequence[str], first: int, last: int, names: Iterable[str]) -> list[int]:
    """Return the numbers of the lines between two that assign to names, or to what these read.

    It is read backwards once: what only a loop's later part assigns is not found.
    """
    read_names = {re.split(r"\W", one)[0] for one in names} - {""}
    found: list[int] = []
    for number in range(last - 1, first, -1):
        targets = assigned_names(lines[number - 1])
        if not targets & read_names:
            continue
        found.append(number)
        text = join_statement(lines[number - 1 : number - 1 + _STATEMENT_LINES])
        read_names |= set(_VARIABLES.findall(text.partition("=")[2]))
        if len(found) == _SOURCES_MAX:
            break
    return found[::-1]


def operand_names(text: str) -> list[str]:
    """Return the variables that an expression reads, in the arguments of its calls, too."""
    return list(dict.fromkeys(_VARIABLES.findall(text)))


def operand_paths(text: str) -> list[str]:
    """Return the variables and fields that an expression reads, in the arguments of its calls."""
    plain = re.sub(r'"(?:\\.|[^"\\])*"', " ", text)
    found = []
    for match in _WORDS.finditer(plain):
        is_call = plain[match.end() :].lstrip().startswith(("(", "!", "::"))
        name = re.sub(r"(?:->|\.|::)?\w+$", "", match[0]) if is_call else match[0]
        if name and name not in _TYPES and "::" not in name:
            found.append(name)
    return list(dict.fromkeys(found))


def assigned_names(line: str) -> set[str]:
    """Return the variables that a line assigns to: all of a pattern, the last one of `T x`."""
    target = _TARGETS.match(line)
    if target is None or _STRUCTURE.match(line):
        return set()
    left = re.sub(r"\bmut\b", " ", target["left"].partition(":")[0])
    left = re.sub(r"\[[^\]]*\]|(?:->|\.).*$", "", left)
    words = re.findall(r"[A-Za-z_]\w*", left)
    return set(words) if "(" in left else set(words[-1:])


def short_statement(lines: Sequence[str], number: int) -> str:
    """Return the statement that begins at a line, on one line."""
    return join_statement(lines[number - 1 : number - 1 + _STATEMENT_LINES])
