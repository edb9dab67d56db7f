"""Finds a JDK that can run our adapter for Java: 17 or later, with the module jdk.jdi."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LEAST = 17
FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
)
_USER_FOLDERS = (".sdkman/candidates/java/*", ".jdks/*")


@dataclass(frozen=True)
class JavaHome:
    """An installed JDK."""

    path: Path
    version: str

    @property
    def java(self) -> str:
        """The program that runs Java programs."""
        return str(self.path / "bin" / "java")


def find_jdk(env: Mapping[str, str], configured: str | None = None) -> JavaHome | None:
    """Return the JDK to run the adapter in; None if there is none.

    `configured` is a JDK's folder, or a program in its `bin`. Else the first of JAVA_HOME, the
    java on the PATH and the newest installed one is taken that is a JDK and new enough.
    """
    if configured is not None:
        path = Path(configured)
        home = path if path.is_dir() else path.resolve().parent.parent
        return _read_home(home)
    found = (_read_home(one) for one in _list_homes(env))
    return next((one for one in found if one is not None), None)


def choose_java(program: str, env: Mapping[str, str]) -> str:
    """Return the `java` that runs a program: the user's own word, or that of the JDK found."""
    jdk = None if Path(program).name == "java" else find_jdk(env)
    return jdk.java if jdk is not None else program


def _list_homes(env: Mapping[str, str]) -> Iterator[Path]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"])
    for name in ("javac", "java"):
        found = shutil.which(name, path=env.get("PATH", os.defpath))
        if found is not None:
            yield Path(found).resolve().parent.parent
    found_homes = [one for pattern in FOLDERS for one in Path("/").glob(pattern[1:])]
    user = Path(env.get("HOME") or Path.home())
    found_homes += [one for pattern in _USER_FOLDERS for one in user.glob(pattern)]
    yield from sorted(found_homes, key=_order_by_version, reverse=True)


def _order_by_version(home: Path) -> int:
    found = _read_home(home)
    return _major(found.version) if found is not None else 0


def _major(version: str) -> int:
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match[1]) if match else 0


def _read_home(home: Path) -> JavaHome | None:
    """Return a folder as a JDK; None if it is none that can run the adapter."""
    try:
        # The file that every JDK since 9 has, with its version and its modules.
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    version = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.MULTILINE)
    has_tools = all(os.access(home / "bin" / name, os.X_OK) for name in ("java", "javac"))
    modules = re.search(r'^MODULES="([^"]*)"', release, re.MULTILINE)
    has_jdi = modules is None or "jdk.jdi" in modules[1].split()
    if version is None or not has_tools or not has_jdi or _major(version[1]) < LEAST:
        return None
    return JavaHome(home, version[1])
