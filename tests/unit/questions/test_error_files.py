"""What a member writes to a file of its own, in the place of standard error, is read."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from debugger.questions.group.error_files import ErrorFiles

WRITES = """
import os, sys
sys.stderr.write("first\\n"); sys.stderr.flush()
sys.stdin.readline()
os.dup2(os.open(f"{sys.argv[1]}/worker-{os.getpid()}.err", os.O_WRONLY | os.O_CREAT), 2)
os.write(2, b"second\\n")
"""


@dataclass
class FakeMember:
    """A session, as far as it is looked at."""

    name: str
    pid: int
    is_live: bool = True


def note(files: ErrorFiles, *members: FakeMember) -> None:
    files.note_members(cast("Any", members))


def read(files: ErrorFiles, member: FakeMember) -> list[str]:
    return files.lines_of(cast("Any", member))


def test_a_file_is_read_from_where_the_member_began_and_one_that_it_changed_to(
    tmp_path: Path,
) -> None:
    path = tmp_path / "err"
    path.write_text("of another process\n")
    files = ErrorFiles()
    with path.open("a") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.readline();" + WRITES, str(tmp_path)],
            stdin=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    member = FakeMember("job.1", process.pid)
    note(files, member)
    process.communicate("go on\nand end\n")
    member.is_live = False
    note(files, member)
    assert read(files, member) == ["first", "second"]
    (tmp_path / f"worker-{process.pid}.err").unlink()
    path.unlink()
    assert read(files, member) == []


def test_what_is_no_file_of_its_own_is_not_read() -> None:
    files = ErrorFiles()
    pipe = FakeMember("job.2", os.getpid())
    note(files, pipe, FakeMember("job.3", 2**22 + 1))
    assert read(files, pipe) == []
