"""A Node that does not run TypeScript is recognised by what it wrote."""

from __future__ import annotations

import pytest

from debugger.model.typescript_refusal import typescript_notes

TYPE = [
    "/home/a/job.ts:1",
    "interface A { x: number }",
    "          ^",
    "",
    "SyntaxError: Unexpected identifier 'A'",
    "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)",
    "",
    "Node.js vVERSION",
]
EXTENSION = [
    "node:internal/modules/esm/get_format:189",
    'TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension ".mts" for /home/a/my job.mts',
    "Node.js vVERSION",
]


@pytest.mark.parametrize(("lines", "file"), [(TYPE, "job.ts"), (EXTENSION, "'my job.mts'")])
@pytest.mark.parametrize("version", ["20.20.2", "22.17.1", "23.5.0"])
def test_an_older_node_refuses_typescript(lines, file, version):
    (note,) = typescript_notes([one.replace("VERSION", version) for one in lines])
    assert note.startswith(f"Node {version} does not run TypeScript: `npx tsx {file}` does")


@pytest.mark.parametrize("version", ["22.18.0", "23.6.0", "24.0.0"])
def test_a_newer_node_has_another_error(version):
    assert typescript_notes([one.replace("VERSION", version) for one in TYPE]) == ()


def test_a_syntax_error_of_javascript_is_none_of_it():
    lines = [one.replace("VERSION", "20.20.2").replace("job.ts", "job.js") for one in TYPE]
    assert typescript_notes(lines) == ()
    assert typescript_notes(["SyntaxError: in JSON", "Node.js v20.20.2"]) == ()
