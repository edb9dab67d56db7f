"""Compiles the debuggees in Kotlin, with the compiler of Maven Central."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from debuggees import CACHE, PROGRAMS, publish_build
from left_out import leave_out

FOLDER = PROGRAMS / "kotlin"
CONSOLE = Path("/usr/share/java/junit-platform-console-standalone.jar")
_JARS = CACHE.parent / "kotlin"
_COMPILER = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
_BUILD_S = 240


@dataclass(frozen=True)
class KotlinProgram:
    """The compiled classes, and the class path that runs them."""

    classes: Path
    class_path: str


def build_kotlin() -> KotlinProgram:
    """Compile the programs of the folder, once; without Maven or JUnit leave the test out."""
    for name, is_there in {"mvn": shutil.which("mvn"), "JUnit": CONSOLE.is_file()}.items():
        if not is_there:
            leave_out(f"{name} is missing (make tools)")
    jars = _fetch_jars()
    own = ("kotlin-stdlib-", "kotlinx-coroutines-")
    libraries = [str(one) for one in jars if one.name.startswith(own)]
    files = sorted(FOLDER.glob("*.kt"))
    texts = [*map(str, jars), *(one.read_text(encoding="utf-8") for one in files)]
    place = CACHE / f"kotlin-{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:16]}"
    if not place.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="kotlin-draft-", dir=CACHE))
        compiler = ["java", "-XX:TieredStopAtLevel=1", "-cp", ":".join(map(str, jars)), _COMPILER]
        options = ["-no-stdlib", "-no-reflect", "-nowarn", "-d", str(draft)]
        path = ":".join([*libraries, str(CONSOLE)])
        problem = _run([*compiler, *options, "-cp", path, *map(str, files)], FOLDER)
        assert not problem, problem
        publish_build(draft, place)
        shutil.rmtree(draft, ignore_errors=True)
    return KotlinProgram(place, ":".join([str(place), *libraries]))


def _fetch_jars() -> list[Path]:
    """Return the compiler's jars and the libraries, fetched once for each list of them."""
    pom = FOLDER / "pom.xml"
    place = _JARS / hashlib.sha256(pom.read_bytes()).hexdigest()[:16]
    if not place.is_dir():
        _JARS.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="draft-", dir=_JARS))
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={draft}"]
        words = ["mvn", "-q", "-B", "-f", str(pom), *goal]
        problem = _run(words, FOLDER)
        if problem:
            leave_out(f"the compiler of Kotlin cannot be fetched: {problem}")
        publish_build(draft, place)
        shutil.rmtree(draft, ignore_errors=True)
    return sorted(place.glob("*.jar"))


def _run(command: list[str], folder: Path) -> str:
    """Run a command; return the end of what it says where it fails, else nothing."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-2000:] or "it failed"
