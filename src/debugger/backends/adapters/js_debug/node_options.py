"""Splits Node's options into those that its environment may hold and those of its command line.

The options of a command line come as NODE_OPTIONS, which Node refuses for some: `--stack-size`,
`--test-name-pattern`.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Mapping

_NODE_S = 5.0
# A word; within double quotes a backslash escapes (Node's documentation of NODE_OPTIONS).
_WORD = re.compile(r'(?:[^\s"]|"(?:\\.|[^"\\])*")+')
_ESCAPED = re.compile(r"\\(.)")
_USUAL = re.compile(
    r"(?:[^-]|-r\Z|-C\Z|--(?:require|import|loader|experimental-loader|conditions|enable-source-maps|"
    r"max-old-space-size|trace-warnings|no-warnings|unhandled-rejections|inspect)\b)"
)


def split_options(options: str, node: str | None, env: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the options that stay in NODE_OPTIONS, and those for the command line."""
    words = _WORD.findall(options)
    if node is None or all(_USUAL.match(_unquote_word(one)) for one in words):
        return options, []
    allowed = _allowed_options(node, env.get("PATH", ""))
    if not allowed:
        return options, []
    own: list[str] = []
    others: list[str] = []
    for word in words:
        plain = _unquote_word(word)
        is_refused = plain.startswith("-") and _option_name(plain) not in allowed
        others.append(plain) if is_refused else own.append(word)
    return " ".join(own), others


def _unquote_word(word: str) -> str:
    """Take the quotes from a word."""
    if '"' not in word:
        return word
    return _ESCAPED.sub(r"\1", "".join(re.split(r'(?<!\\)"', word)))


def _option_name(option: str) -> str:
    return option.partition("=")[0].replace("_", "-")


@functools.lru_cache(maxsize=8)
def _allowed_options(node: str, path: str) -> frozenset[str]:
    """Ask Node which options its environment may hold; nothing where it does not answer."""
    words = (node, "-p", "JSON.stringify([...process.allowedNodeEnvironmentFlags])")
    try:
        done = subprocess.run(
            words, check=False, env={"PATH": path}, capture_output=True, timeout=_NODE_S, text=True
        )
        return frozenset(_option_name(one) for one in json.loads(done.stdout))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return frozenset()
