"""A value is followed in a compiled script by the lines and the names of its source."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from debugger.recorders.node.origin_run import NodeOrigin, NodeOriginOrder, NodeOriginRecorder
from debugger.recorders.recorded_process import record_run

NODE = shutil.which("node")
COMPILED = Path(__file__).parent.parent / "programs" / "origins" / "compiled"
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")


async def follow(words: list[str], scratch: Path, expression: str, line: int) -> NodeOrigin:
    """Follow an expression at a line of the source."""
    order = NodeOriginOrder((str(COMPILED),), expression, str(COMPILED / "cart.ts"), line)
    recorder = NodeOriginRecorder(order)
    await record_run(
        words,
        recorder,
        cwd=str(COMPILED),
        env=dict(os.environ),
        stdin=b"",
        timeout_s=60.0,
        scratch_root=scratch,
    )
    assert recorder.found is not None
    return recorder.found


@pytest.mark.parametrize("script", ["cart.js", "cart.min.js"])
async def test_a_chain_has_the_lines_and_names_of_the_source(script, tmp_path):
    found = await follow([str(NODE), script], tmp_path, "due", 29)
    frames = [(one.frame, one.text) for one in found.links]
    links = [(Path(at.file).name, at.line, at.function, text) for at, text in frames]
    assert links == [
        ("cart.ts", 28, "checkout", "due written"),
        ("cart.ts", 16, "Cart.total", "returned by Cart.total"),
        ("cart.ts", 22, "redeem", "this.discount written by redeem(coupon='X'), write 3"),
        ("cart.ts", 21, "redeem", "amount written"),
        ("cart.ts", 27, "checkout", "coupon passed"),
        ("cart.ts", 27, "checkout", "coupon is element 1 of coupons"),
        ("cart.ts", 33, "Object.<anonymous>", "coupons[1] set in the literal that made the object"),
    ]
    assert [one.statement.replace(" ", "") for one in found.links][2] == "basket.discount=amount"
    assert found.frame is not None
    assert (found.frame.file, found.frame.line) == (str(COMPILED / "cart.ts"), 29)


async def test_a_program_that_another_one_starts_is_followed(tmp_path):
    start = "require('child_process').spawnSync(process.execPath, ['cart.js'], {stdio: 'inherit'})"
    found = await follow([str(NODE), "-e", start], tmp_path, "basket.discount", 28)
    assert found.located
    assert found.value == "NaN"
    assert found.links[0].text == "basket.discount written by redeem(coupon='X'), write 3"
