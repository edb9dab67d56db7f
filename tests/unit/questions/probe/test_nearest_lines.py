"""The function around a line, from the text alone."""

from __future__ import annotations

import pytest

from debugger.questions.probe.logpoint_probe import FunctionEntry, find_entry

C = """\
#include <stdio.h>
static int
sometimes(struct a *a, int b)
{
    int c = b;
    if (a) {
        for (;;) {
            c++;
        }
    }
    return c;
}
int one(int a) { return a; }
""".splitlines()
GO = """\
func (t *Tree) Add(key int) error {
	// a comment
	if key < 0 {
		return nil
	}
	return t.root.add(key)
}
""".splitlines()
JS = """\
class Box {
  async grow(by) {
    const next = by + 1;
    if (next > 3) {
      return 3;
    }
  }
}
export function main() {
  start();
  stop();
}
""".splitlines()
RUST = """\
impl Tree {
    pub fn add(&mut self, key: u32) -> bool {
        let mut at = 0;
        while at < key {
            at += 1;
        }
        true
    }
}
""".splitlines()


@pytest.mark.parametrize(
    ("lines", "line", "found"),
    [
        (C, 8, FunctionEntry("sometimes", 5)),
        (C, 11, FunctionEntry("sometimes", 5)),
        (C, 5, None),
        (C, 1, None),
        (C, 99, None),
        (GO, 4, FunctionEntry("Add", 3)),
        (JS, 5, FunctionEntry("grow", 3)),
        (JS, 11, FunctionEntry("main", 10)),
        (RUST, 5, FunctionEntry("add", 3)),
    ],
)
def test_the_function_enclosing_a_line_is_found(
    lines: list[str], line: int, found: FunctionEntry | None
) -> None:
    assert find_entry(lines, line) == found
