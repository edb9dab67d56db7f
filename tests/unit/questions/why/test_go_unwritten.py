"""What may have written a Go value that no line was seen to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.model.answers.frames import FrameView
from debugger.questions.why.answer import LinkCertainty, LinkKind, WhyLink
from debugger.questions.why.go_source import GoSources
from debugger.questions.why.go_unwritten import describe_argument_use


@pytest.mark.parametrize(
    ("lines", "result", "expected"),
    [
        (["f.ReadAt(buf, 10)"], "buf[2]", "; what got buf at a.go:3 `f.ReadAt(buf, 10)` may have"),
        (["io.ReadFull(r, buf[1:])"], "buf[2]", "; what got buf at a.go:3"),
        (["sort.Slice(buf, less)", "fmt.Println(buf)"], "buf[0]", "; what got buf at a.go:3"),
        (["n := len(buf)", "// fill(buf)"], "buf[2]", ""),
        (["fill(other, p.buf)"], "buf[2]", ""),
    ],
)
def test_the_last_call_that_got_the_variable_is_named(
    tmp_path: Path, lines: list[str], result: str, expected: str
) -> None:
    file = tmp_path / "a.go"
    body = [*lines, f"return {result}"]
    file.write_text("package a\nfunc f(buf []byte) byte {\n" + "\n".join(body) + "\n}\n")
    frame = FrameView(0, "a.f", str(file), 2 + len(body))
    link = WhyLink(
        LinkKind.RETURNED, LinkCertainty.SEEN, "returned by f", frame, statement=body[-1]
    )
    found = describe_argument_use(GoSources([str(file)]), [link])
    assert found.startswith(expected)
    assert bool(found) == bool(expected)
