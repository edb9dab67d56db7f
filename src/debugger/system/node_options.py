"""Splits the options of NODE_OPTIONS into those that Node takes there, and all others."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

# Gives code of a command line, which is in a file, what `node -e` has.
NODE_CODE = Path(__file__).with_name("node_code.cjs")
# Seconds for a Node that is only asked about itself.
NODE_S = 5.0
# A word; within double quotes a backslash escapes (Node's documentation of NODE_OPTIONS).
_WORD = re.compile(r'(?:[^\s"]|"(?:\\.|[^"\\])*")+')
_ESCAPED = re.compile(r"\\(.)")
_USUAL = re.compile(
    r"(?:[^-]|-r\Z|-C\Z|--(?:require|import|loader|experimental-loader|conditions|enable-source-maps|"
    r"max-old-space-size|trace-warnings|no-warnings|unhandled-rejections|inspect)\b)"
)


def split_options(options: str, node: str | None, env: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the options that stay in NODE_OPTIONS, and those for the command line."""
    # Node ends at once where NODE_OPTIONS has an option that it refuses there: such options go to
    # the command line of the program.
    words = _WORD.findall(options)
    # The usual ones are known to be allowed: no Node has to be started to ask.
    if node is None or all(_USUAL.match(_unquote_word(one)) for one in words):
        return options, []
    allowed = _allowed_options(node, env.get("PATH", ""))
    if not allowed:
        return options, []
    own: list[str] = []
    others: list[str] = []
    for word in words:
        plain = _unquote_word(word)
        # A word that is no option is the value of the one before, and stays where it is.
        is_refused = plain.startswith("-") and _option_name(plain) not in allowed
        others.append(plain) if is_refused else own.append(word)
    return " ".join(own), others


def with_preloaded(script: str, options: str) -> str:
    """Return NODE_OPTIONS that load a script before what the user's own options load."""
    quoted = script.replace("\\", "\\\\").replace('"', '\\"')
    return " ".join([f'--require "{quoted}"', *filter(None, [options])])


def _unquote_word(word: str) -> str:
    """Remove the quotes from a word."""
    if '"' not in word:
        return word
    return _ESCAPED.sub(r"\1", "".join(re.split(r'(?<!\\)"', word)))


def _option_name(option: str) -> str:
    # Node takes underscores for hyphens.
    return option.partition("=")[0].replace("_", "-")


@functools.lru_cache(maxsize=8)
def _allowed_options(node: str, path: str) -> frozenset[str]:
    """Return the options that Node's environment may hold; nothing where Node does not answer."""
    words = (node, "-p", "JSON.stringify([...process.allowedNodeEnvironmentFlags])")
    try:
        # Without the user's NODE_OPTIONS: one of them may be what Node refuses.
        done = subprocess.run(
            words, check=False, env={"PATH": path}, capture_output=True, timeout=NODE_S, text=True
        )
        return frozenset(_option_name(one) for one in json.loads(done.stdout))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return frozenset()
