"""Builds a wheel of the debugger that runs here, from its own files: nothing else is needed."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import debugger
from debugger import __version__

DISTRIBUTION = "debugger-cli"
_FILE_NAME = f"debugger_cli-{__version__}-py3-none-any.whl"
_WHEEL = "Wheel-Version: 1.0\nGenerator: debugger-cli\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel() -> tuple[str, bytes]:
    """Return the name and the content of a wheel of this debugger (PEP 427)."""
    root = Path(debugger.__file__).parent
    files = {
        f"debugger/{path.relative_to(root).as_posix()}": path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    known = metadata.distribution(DISTRIBUTION)
    folder = f"debugger_cli-{__version__}.dist-info"
    files[f"{folder}/METADATA"] = (known.read_text("METADATA") or "").encode()
    files[f"{folder}/entry_points.txt"] = (known.read_text("entry_points.txt") or "").encode()
    files[f"{folder}/WHEEL"] = _WHEEL.encode()
    files[f"{folder}/RECORD"] = _list_files(files, f"{folder}/RECORD").encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return _FILE_NAME, content.getvalue()


def _list_files(files: Mapping[str, bytes], own: str) -> str:
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join([*rows, f"{own},,\n"])


def pack_wheels(wheels: Mapping[str, bytes]) -> bytes:
    """Pack wheels into a tar file."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, data in wheels.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return content.getvalue()
