"""Gives the recorder a folder for the code that it has rewritten, and bounds the folder's size.

It lies beside the folder of scratch files, and outlives the daemon. Only its owner reaches it: code
that is read from it is run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

_NAME = "recorded-code"
_BYTES_MAX = 128 << 20
_RECORDER = Path(__file__).parent / "inside"


def prepare_code_folder(scratch_root: Path | None, *, most: int = _BYTES_MAX) -> str:
    """Return the folder of this recorder's code; "" if there can be none.

    Code of another version of the recorder is removed, and the oldest files beyond `most` bytes.
    """
    if scratch_root is None:
        return ""
    folder = scratch_root.parent / _NAME
    own = folder / _recorder_version()
    try:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        for other in folder.iterdir():
            if other != own:
                shutil.rmtree(other, ignore_errors=True)
        _remove_oldest(own, most)
    except OSError:
        return ""
    return str(own)


def _recorder_version() -> str:
    digest = hashlib.sha256()
    for path in sorted(_RECORDER.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _remove_oldest(folder: Path, most: int) -> None:
    with os.scandir(folder) as entries:
        found = [(one.stat().st_mtime_ns, one.stat().st_size, one.path) for one in entries]
    size = sum(one[1] for one in found)
    for _, length, path in sorted(found):
        if size <= most:
            break
        Path(path).unlink(missing_ok=True)
        size -= length
