"""Finds what a statement of Ruby or PHP gives to a variable, a field or an element. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from debugger.questions.why.statement_origin import OriginKind, StatementOrigin

_LINES = 8  # of one statement
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_NUMBER = re.compile(r"[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(
    r"(?:true|false|null|nil|TRUE|FALSE|NULL|PHP_EOL|:\w+|\[\s*\]|\{\s*\}|array\(\s*\))$"
)
_CONSTANT = re.compile(
    r"(?:\\?[A-Z]\w*(?:::|\\))*[A-Z][A-Z0-9_]+$|(?:[\w\\]+::)?[A-Z][A-Za-z]*::[A-Z]\w*$"
)
PATH = re.compile(
    r"(?:@{1,2}\w+|\$\w+|(?:self|static|parent|[A-Z][\w\\]*)::\$\w+|[a-z_]\w*)"
    r"(?:\s*(?:\?->|->|&?\.)\s*\w+[?!]?(?!\s*\()|\[[^\[\]]*\])*"
)
_LITERAL_TEXT = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_FILLED_IN = re.compile(r"#\{(?P<ruby>[^{}]*)\}|(?P<php>\$\w+(?:(?:->|\?->)\w+|\[[^\[\]]*\])*)")
_HEAD = re.compile(
    r"(?:(?:abstract|final|public|protected|private|static)\s+)*function\s+&?\w+\s*\([^{}]*\{\s*(?=\S)"
)
_HANDLER = re.compile(r"(rescue|ensure|else|end)\b")
_ASSIGN = re.compile(
    r"(?<![=!<>+\-*/%&|^.?:])"
    r"(?P<operator>\*\*|\|\||&&|\?\?|<<|>>|[+\-*/%.&|^])?=(?![=>~])"
)
_STEP = re.compile(
    r"(?:\+\+|--)\s*(?P<after>[\w$>\-\[\]'\"]+)|(?P<before>[\w$>\[\]'\"\-]+?)\s*(?:\+\+|--)"
)
_BARE_CALL = re.compile(
    r"(?P<receiver>.+?)(?:&\.|\.|->|\?->|::)(?P<name>[A-Za-z_]\w*[?!]?)$", re.DOTALL
)
MODIFIER = re.compile(r"\s+(?:if|unless|while|until|rescue)\s+(?!.*\bthen\b).*$")
_CAST = re.compile(r"\((?:int|integer|string|float|bool|array|object)\)\s*")
_COMMENT = re.compile(r"\s*(?://|#(?!\{|\[)).*$")
_KEYWORDS = frozenset(
    [
        "if",
        "unless",
        "else",
        "elsif",
        "elseif",
        "end",
        "do",
        "while",
        "until",
        "for",
        "foreach",
        "return",
        "and",
        "or",
        "not",
        "nil",
        "null",
        "true",
        "false",
        "new",
        "fn",
        "function",
        "self",
        "this",
        "yield",
        "case",
        "when",
        "then",
        "begin",
        "in",
        "as",
        "use",
        "static",
        "array",
        "isset",
        "empty",
        "list",
        "raise",
        "throw",
        "puts",
        "print",
        "echo",
        "require",
        "include",
        "defined",
        "break",
        "next",
    ]
)
_SEVERAL = re.compile(r"(?:\[|list\(|\(?)(?P<targets>(?:[^=]|=>)+,(?:[^=]|=>)+?)[\])]?$")
_SINGLE = re.compile(r"(?:\[|list\()(?P<targets>[^=,]+)[\])]$")
_TARGET = re.compile(r"(?:[^=]+=>\s*)?\*?[$@\w][\w$@.:>\-\[\]'\"]*")
_LOOP = re.compile(r"\bforeach\s*\((?P<of>.+)\bas\b(?P<names>[^)]*)\)")


def statement_lines(lines: Sequence[str], number: int) -> str:
    """Return the statement that begins at a line, on one line."""
    found: list[str] = []
    for at in range(number - 1, min(number - 1 + _LINES, len(lines))):
        text = _without_comment(lines[at]).strip()
        found.append(text)
        joined = " ".join(found)
        below = lines[at + 1].lstrip() if at + 1 < len(lines) else ""
        plain = blank_strings(joined)
        is_open = any(plain.count(a) > plain.count(b) for a, b in ("()", "[]"))
        # A block or an array that goes on is no part of what begins here, but a literal's is.
        is_literal = re.search(r"[=(,:]\s*\{$", plain) is not None
        is_block = re.search(r"(?:\bdo|\{)\s*\|[^|]*\|$", plain) is not None
        goes_on = not is_block and re.search(r"(?:[,.+\-*/|&=?:\\]|->|\band|\bor)$", plain)
        if not (is_open or is_literal or goes_on or below.startswith((".", "->", "?->", "&."))):
            break
    return " ".join(one for one in found if one)


def is_blank(line: str) -> bool:
    """Return whether a line of Ruby or PHP has no code: a comment, or the end of a block alone."""
    return _without_comment(line).strip() in {"", "end", "}", "};", "});", "{", "<?php"}


def _without_comment(line: str) -> str:
    plain = blank_strings(line)
    comment = _COMMENT.search(plain)
    return line[: comment.start()] if comment is not None else line


def blank_strings(text: str) -> str:
    """Return a text of the same length whose strings have no content."""
    return _STRING.sub(lambda one: one[0][0] + "x" * (len(one[0]) - 2) + one[0][0], text)


def closing_bracket(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`; -1 without one."""
    depth = 0
    for at, letter in enumerate(blank_strings(text)[start:], start):
        depth += (letter in "([{") - (letter in ")]}")
        if not depth:
            return at
    return -1


def opening_bracket(text: str) -> int:
    """Return the position of the bracket that the last character closes; -1 without one."""
    depth, plain = 0, blank_strings(text)
    for at in range(len(plain) - 1, -1, -1):
        depth += (plain[at] in ")]}") - (plain[at] in "([{")
        if not depth:
            return at
    return -1


def split_arguments(text: str) -> tuple[str, ...]:
    """Return the parts of a text between the commas outside of brackets."""
    found, begin, depth = [], 0, 0
    for at, letter in enumerate(blank_strings(text)):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append(text[begin:at].strip())
            begin = at + 1
    return tuple(one for one in (*found, text[begin:].strip()) if one)


def names_value(statement: str, name: str) -> bool:
    """Return whether a statement names a variable, a field or a key."""
    return re.search(rf"(?<![\w]){re.escape(name)}(?!\w)", statement) is not None


def may_change(statement: str, name: str) -> bool:
    """Return whether a statement assigns to a name, or calls something that may change it."""
    word = re.escape(name)
    plain = blank_strings(statement) if "'" not in name else statement
    target = rf"(?<!\w){word}(?:\s*\[[^=]*?\])*\s*(?:[^\w\s=!<>]{{0,3}}=(?![=>~])|\+\+|--|<<)"
    changed = rf"(?:\+\+|--)\S*?\b{word}\b|(?<!\w){word}(?:\.|->)\w+[!(\s]|\(\s*&?\S*{word}\b"
    return re.search(f"{target}|{changed}", plain) is not None


def loop_source(statement: str, name: str) -> str | None:
    """Return what a `foreach` goes through, if it gives its elements to a name."""
    loop = _LOOP.search(statement)
    if loop is None or not names_value(loop["names"], name.lstrip("$")):
        return None
    return loop["of"].strip()


def is_loop_key(statement: str, name: str) -> bool:
    """Return whether a `foreach` gives its keys to a name."""
    loop = _LOOP.search(statement)
    return (
        loop is not None and loop["names"].split("=>")[0].strip() == name and "=>" in loop["names"]
    )


def _cut_head(text: str) -> str:
    """Return the body of a function of PHP that is written on one line; other text as it is."""
    head = _HEAD.match(text)
    return text[head.end() :].removesuffix("}").rstrip() if head is not None else text


def origin_in(statement: str, names: Sequence[str]) -> tuple[StatementOrigin, int]:
    """Return what a statement gives to a value, and how many of its keys the statement names.

    `names` are the value's name and the keys behind it.
    """
    text = _cut_head(statement.strip()).rstrip(";{ ").strip()
    plain = blank_strings(text)
    returned = re.match(r"(?:\}?\s*)?return\b\s*(?P<value>.*)$", text, re.DOTALL)
    if returned is not None and not names:
        return classify(returned["value"]), 0
    if not names:
        return classify(text), 0
    for match in reversed(list(_assignments(plain))):
        left, right = text[: match.start()].strip(), _first_part(text[match.end() :])
        found = _origin_of(left, right, match["operator"] or "", names)
        if found is not None:
            return found
    step = _STEP.search(plain)
    if step is not None and names_value(step[0], _bare(names[0])):
        operand = step["after"] or step["before"]
        return StatementOrigin(OriginKind.COMPUTED, step[0], operands=(operand,)), len(names) - 1
    return _origin_of_change(text, names), len(names) - 1


def _assignments(plain: str) -> Iterator[re.Match[str]]:
    for match in _ASSIGN.finditer(plain):
        # Within brackets it is a default, or an assignment in a condition.
        before = plain[: match.start()]
        if before.count("[") == before.count("]") and "function" not in before:
            yield match


def _origin_of(
    left: str, right: str, operator: str, names: Sequence[str]
) -> tuple[StatementOrigin, int] | None:
    several = _SEVERAL.match(left) or _SINGLE.match(left)
    if several is not None and not operator and _is_pattern(left):
        targets = [one.strip() for one in several["targets"].split(",")]
        for at, one in enumerate(targets):
            if _is_target(one.split("=>")[-1].strip(), names[0]):
                rights = split_arguments(right.strip("[]"))
                found = classify(rights[at] if len(rights) == len(targets) else right)
                return found, len(names) - 1 if found.kind is OriginKind.CALL else 0
    if not any(_is_target(left, one) for one in names[:1]) and not _ends_with(left, names):
        return None
    own_keys = 0
    target = left
    while target.endswith("]") and own_keys < len(names) - 1:
        target = target[: opening_bracket(target)].rstrip()
        own_keys += 1
    if operator in {"||", "??", "&&"}:
        return classify(right), own_keys
    if operator:
        target = re.split(r"[\s(;{]", left)[-1]
        found = computed(right)
        operands = (target, *found.operands)
        text = f"{target} {operator} {right}"
        return StatementOrigin(OriginKind.COMPUTED, text, operands=operands), len(names) - 1
    return classify(right), own_keys


def _is_pattern(left: str) -> bool:
    return left.startswith("[") or not left.endswith("]")


def _ends_with(left: str, names: Sequence[str]) -> bool:
    return any(left.endswith(one) for one in names if one)


def _bare(name: str) -> str:
    return re.sub(r"^(?:->|::|@@?|\$)+", "", name)


def _is_target(left: str, name: str) -> bool:
    """Return whether what stands before an `=` is a name, with keys behind it."""
    pattern = rf"(?:^|(?<=[^\w])){re.escape(_bare(name))}\s*(?:\[[^=]*\])*$"
    return re.search(pattern, left) is not None


def _origin_of_change(text: str, names: Sequence[str]) -> StatementOrigin:
    """Return what a statement without an assignment puts into a value: `list << x`, `f(x)`."""
    pushed = re.search(r"<<\s*(?P<value>[^<].*)$", MODIFIER.sub("", text))
    if pushed is not None:
        return _part_or_whole(pushed["value"], names)
    call = re.search(r"(?:\.|->)?(?P<name>\w+[!?]?)[\s(](?P<arguments>.*)$", text)
    if call is not None:
        arguments = call["arguments"].strip()
        arguments = arguments.removesuffix(")")
        for one in split_arguments(arguments):
            pair = re.match(r"(?P<key>\w+):\s*(?P<value>.+)$", one)
            if pair is not None and any(_is_key(pair["key"], each) for each in names):
                return classify(pair["value"])
        for key in names[::-1]:
            part = literal_part(f"[{arguments}]", key)
            if part is not None and "=>" in arguments:
                return classify(part)
        found = computed(text)
        return StatementOrigin(OriginKind.UNKNOWN, text, operands=found.operands)
    return StatementOrigin(OriginKind.UNKNOWN, text)


def _part_or_whole(value: str, names: Sequence[str]) -> StatementOrigin:
    for key in reversed(names[1:]):
        part = literal_part(value, key)
        if part is not None:
            return classify(part)
    return classify(value)


def _is_key(word: str, key: str) -> bool:
    return re.sub(r"^[\[:'\"]+|['\"\]]+$", "", key) == re.sub(r"^[:'\"]+|['\"]+$", "", word.strip())


def literal_part(text: str, key: str) -> str | None:
    """Return what the literal of an array or a hash has at a key, `['name']`, `[0]`, `[:name]`."""
    text = text.strip()
    if not re.match(r"[\[{]|array\(", text) or not key.startswith("["):
        return None
    begin = re.match(r"[\[{]|array\(", text)
    assert begin is not None
    if closing_bracket(text, begin.end() - 1) != len(text) - 1:
        return None
    parts = split_arguments(text[begin.end() : -1])
    for at, one in enumerate(parts):
        pair = re.match(r"(?P<key>[^=]+?)\s*=>\s*(?P<value>.+)$", one, re.DOTALL)
        pair = pair or re.match(r"(?P<key>\w+):\s+(?P<value>.+)$", one, re.DOTALL)
        if pair is None and key == f"[{at}]":
            return one
        if pair is not None and _is_key(pair["key"], key):
            return pair["value"]
    return None


def mapped_part(text: str, key: str) -> str | None:
    """Return the part of an element that `array_map(fn($x) => $x->part, $list)` or `map` gives."""
    arrow = re.fullmatch(
        r"array_map\(\s*(?:static\s+)?fn\s*\([^()$]*(?P<name>\$\w+)\s*\)\s*(?::\s*\??\w+\s*)?=>\s*"
        r"(?P<part>[^,()]+),\s*(?P<list>[^,]+)\)",
        text,
    )
    block = re.fullmatch(
        r"(?P<list>[^{}&]+?)\.map\s*\{\s*\|(?P<name>\w+)\|\s*(?P<part>[^{}]+?)\s*\}", text
    )
    named = re.fullmatch(r"(?P<list>[^{}&]+?)\.map\(&:(?P<part>\w+)\)", text)
    found = arrow or block
    if named is not None:
        return f"{named['list']}{key}.{named['part']}"
    if found is None or not key.startswith("["):
        return None
    name = re.escape(found["name"])
    part = re.fullmatch(rf"{name}(?P<rest>(?:(?:->|\.)\w+|\[[^\[\]]*\])*)", found["part"].strip())
    return f"{found['list'].strip()}{key}{part['rest']}" if part is not None else None


def counting_loop(statement: str, name: str) -> str | None:
    """Return the head of a `for` that changes a name after each turn."""
    head = re.match(r"for\s*\(", statement)
    end = closing_bracket(statement, head.end() - 1) if head is not None else -1
    if end < 0 or not assigns_name(statement[:end].rpartition(";")[2], name):
        return None
    return statement[: end + 1]


def _first_part(text: str) -> str:
    """Return the text up to a semicolon outside of brackets."""
    depth = 0
    for at, letter in enumerate(blank_strings(text)):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (not depth and letter == ";"):
            return text[:at].strip()
    return text.strip()


def classify(expression: str) -> StatementOrigin:
    """Return what an expression is: a constant, an operand, a call, or computed."""
    text = MODIFIER.sub("", expression.strip().rstrip(";").strip())
    text = _CAST.sub("", text, count=1).strip()
    while text.startswith("(") and closing_bracket(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    if not text:
        return StatementOrigin(OriginKind.UNKNOWN, expression)
    if _is_constant(text):
        return StatementOrigin(OriginKind.CONSTANT, text)
    if PATH.fullmatch(text) and text not in _KEYWORDS:
        return StatementOrigin(OriginKind.OPERAND, text)
    call = _parse_call(text)
    return call if call is not None else computed(text)


def _is_constant(text: str) -> bool:
    if _NUMBER.fullmatch(text) or _WORD.match(text) or _CONSTANT.match(text):
        return True
    if text[0] in "[{" and closing_bracket(text, 0) == len(text) - 1:
        plain = re.sub(r"\w+:(?!:)|:\w+|\b(?:true|false|null|nil)\b", "", _STRING.sub("", text))
        return not re.search(r"[A-Za-z_$@]", plain)
    if not _STRING.fullmatch(text):
        return False
    return text[0] == "'" or not re.search(r"#\{|\$\w|\{\$", text)


def _parse_call(text: str) -> StatementOrigin | None:
    made = re.match(r"new\s+(?P<name>[\w\\]+)\s*(?:\((?P<arguments>.*)\))?$", text, re.DOTALL)
    if made is not None:
        arguments = split_arguments(made["arguments"] or "")
        return StatementOrigin(
            OriginKind.CALL, text, "__construct", arguments, receiver=made["name"]
        )
    if text.endswith(")"):
        begin = opening_bracket(text)
        name = re.search(r"([A-Za-z_]\w*[?!]?)$", text[:begin].rstrip()) if begin > 0 else None
        receiver = text[: name.start()] if name is not None else ""
        is_plain = not re.search(
            r"(?<![-?])[-+*/%<>|&]\s|\s[?.]\s|=", blank_strings(_outside(receiver))
        )
        if name is not None and is_plain:
            arguments = split_arguments(text[begin + 1 : -1])
            receiver = re.sub(r"(?:\?->|->|&\.|\.|::)$", "", receiver)
            return StatementOrigin(OriginKind.CALL, text, name[1], arguments, receiver=receiver)
    bare = _BARE_CALL.match(text)
    if bare is not None and not re.search(r"\s[-+*/%?|&<>]", blank_strings(_outside(text))):
        return StatementOrigin(OriginKind.CALL, text, bare["name"], receiver=bare["receiver"])
    return None


def _outside(text: str) -> str:
    """Return a text without what is in brackets."""
    found, depth = [], 0
    for letter in blank_strings(text):
        depth -= letter in ")]}"
        found.append(letter if depth <= 0 else "")
        depth += letter in "([{"
    return "".join(found)


def computed(text: str) -> StatementOrigin:
    """Return the origin of an expression that is computed from the names in it."""
    plain = _LITERAL_TEXT.sub(
        lambda one: one[0] if _is_subscript(text, one) else _blank_literal(one[0]), text
    )
    plain = re.sub(r"\.{2,3}", lambda one: " " * len(one[0]), plain)  # a range
    names: dict[str, None] = {}
    for match in PATH.finditer(plain):
        name = match[0].strip()
        before = plain[: match.start()]
        if before.endswith((".", "->", "::", ":", "$")) or name in _KEYWORDS:
            continue
        if plain[match.end() :].lstrip().startswith(("(", "::")):
            name = (
                re.sub(r"(?:\?->|->|&?\.)\s*\w+[?!]?$", "", name)
                if re.search(r"->|\.", name)
                else ""
            )
        if name and name not in _KEYWORDS:
            names[name] = None
    return StatementOrigin(OriginKind.COMPUTED, text, operands=tuple(names))


def _blank_literal(literal: str) -> str:
    """Return a literal string with blanks for all but the expressions that are filled in."""
    found = [" "] * len(literal)
    for one in _FILLED_IN.finditer(literal) if literal.startswith('"') else ():
        group = "ruby" if one["ruby"] is not None else "php"
        found[one.start(group) : one.end(group)] = one[group]
    return "".join(found)


def _is_subscript(text: str, match: re.Match[str]) -> bool:
    return text[: match.start()].endswith("[") and text[match.end() :].startswith("]")


def split_subscript(text: str) -> tuple[str, str] | None:
    """Return the call and the key of `f(x)[key]`; None for another expression."""
    begin = opening_bracket(text) if text.endswith("]") else -1
    call = text[:begin].rstrip() if begin > 0 else ""
    return (call, text[begin:]) if call.endswith(")") else None


def container_of(text: str) -> str | None:
    """Return the container of an element, `grid[0]` of `grid[0][1]`, or what `<<` adds to."""
    if text.endswith("]") and opening_bracket(text) > 0:
        return text[: opening_bracket(text)].strip()
    return None


def changed_container(statement: str) -> str | None:
    """Return the container whose element a statement of Ruby changes; None if it shows none."""
    match = re.match(
        r"(?P<element>[@$]{0,2}[A-Za-z_][\w.@]*(?:\[[^\]]*\])+)\s*(?:[^\w\s=!<>]{1,3}|<<)?=(?![=>~])",
        statement,
    )
    if match is not None:
        return container_of(match["element"])
    added = re.match(
        r"(?P<container>[@$]{0,2}[A-Za-z_][\w.@]*?(?:\[[^\]]*\])*)(?:\s*<<\s|\.\w+[!(\s])",
        statement,
    )
    return added["container"] if added is not None else None


def split_choice(text: str) -> tuple[str, str, str] | None:
    """Return the parts of `a ?? b`, `a || b`, `a ?: b` with the operator; None for another one."""
    return _split_at(text, ("??", "||", "?:"))


def split_branches(text: str) -> tuple[str, str] | None:
    """Return the two results of `condition ? a : b`; None for another expression."""
    first = _split_at(text, ("?",))
    if first is None:
        return None
    second = _split_at(first[2], (" : ",))
    return (second[0], second[2]) if second is not None else None


def _split_at(text: str, operators: Sequence[str]) -> tuple[str, str, str] | None:
    plain, depth = blank_strings(text), 0
    for at, letter in enumerate(plain):
        depth += (letter in "([{") - (letter in ")]}")
        for one in operators:
            is_longer = one == "?" and plain[at + 1 : at + 2] in {"?", ":", "-", "."}
            is_name = (
                one == "?" and at > 0 and plain[at - 1].isalnum() and plain[at + 1 : at + 2] != " "
            )
            if not depth and plain.startswith(one, at) and not is_longer and not is_name:
                return text[:at].strip(), one.strip(), text[at + len(one) :].strip()
    return None


def destructured_key(statement: str, name: str) -> str | None:
    """Return the key of the element that `[$a, $b] = …` or `a, b = …` gives to a name.

    None where the statement takes nothing apart, or lists the values one by one.
    """
    text = statement.strip().rstrip(";").strip()
    for match in _assignments(blank_strings(text)):
        left, right = text[: match.start()].strip(), _first_part(text[match.end() :])
        several = _SEVERAL.match(left) or _SINGLE.match(left)
        targets = [one.strip() for one in several["targets"].split(",")] if several else []
        is_pattern = _is_pattern(left) and all(_TARGET.fullmatch(one) for one in targets)
        if match["operator"] or not is_pattern:
            continue
        is_listed = len(split_arguments(right.strip("[]"))) == len(targets)
        is_listed = is_listed and (len(targets) > 1 or right.startswith("["))
        for at, one in enumerate(targets):
            if one.startswith("*") or is_listed:
                break
            key, arrow, target = one.rpartition("=>")
            if _is_target(target.strip(), name):
                return f"[{key.strip()}]" if arrow else f"[{at}]"
    return None


def is_left_between(lines: Sequence[str]) -> bool:
    """Return whether lines of Ruby between two statements that ran show that the first one raised.

    A `rescue` is entered by an exception alone; what follows an `ensure` tells it where statements
    before that were passed over.
    """
    keywords = [found for one in lines if (found := _HANDLER.match(one)) is not None]
    if not keywords:
        return False
    begins = next(at for at, one in enumerate(lines) if _HANDLER.match(one))
    passed = [one for one in lines[:begins] if one and not one.startswith("#")]
    return keywords[-1][1] == "rescue" or (keywords[-1][1] == "ensure" and bool(passed))


def assigns_name(statement: str, name: str) -> bool:
    """Return whether a statement assigns to a name, or to an element of it, by an operator."""
    word = re.escape(name)
    plain = blank_strings(statement)
    within = r"(?:[^=()]|=>)*"
    listed = rf"(?:\[|list\(){within}(?<!\w){word}{within}[\])]\s*=(?![=>~])"
    several = rf"^[^=(]*(?<!\w){word}\s*,[^=(]*=(?![=>~])|^[^=(]*,\s*\*?{word}\s*=(?![=>~])"
    target = rf"(?<!\w){word}\s*(?:\[[^=]*?\]\s*)*(?:[^\w\s=!<>]{{1,3}}|<<)?=(?![=>~])"
    step = rf"(?:\+\+|--)\s*\S*?{word}(?!\w)|(?<!\w){word}(?:\[[^\]]*\])*\s*(?:\+\+|--|<<(?!<))"
    return re.search(f"{target}|{step}|{listed}|{several}", plain) is not None
