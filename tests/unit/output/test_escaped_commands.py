"""Control characters in texts are escaped, and commands stay what a shell reads."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from debugger.output.location_text import escape_command, escape_text


@pytest.mark.parametrize(
    "words",
    [
        ("python3", "-c", "import sys\nx = 'it\\n'\n\tprint(x)", "a b"),
        ("./prog", "\x1b[31m", "it's"),
        ("./prog", "plain", "a b", ""),
    ],
)
def test_a_shell_reads_the_words_of_an_escaped_command(words: tuple[str, ...]) -> None:
    text = escape_command(shlex.join(words))
    assert escape_text(text) == text
    read = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, text=True, check=True
    )
    assert tuple(read.stdout.split("\0")[:-1]) == words
