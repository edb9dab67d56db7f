"""Compiles our adapter for Java, once for each JDK, and becomes it.

Run by path, with the JDK and the folder for what is compiled. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import suppress
from pathlib import Path

SOURCES = Path(__file__).with_name("jdi")
_MAIN = "debugger.jdi.Adapter"
_ARCHIVER = "debugger.jdi.ClassArchive"
_JAR, _ARCHIVE = "adapter.jar", "adapter.jsa"
# It lives for seconds: the second compiler would never pay, and one collector thread is enough.
_FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx256m")
_QUICK = "-J-XX:TieredStopAtLevel=1"  # for the compiler alike: it takes half the time so
# Its stdout is the protocol's: the JVM's own warnings, as of a bad archive, go to stderr.
_LOG = ("-Xlog:disable", "-Xlog:all=warning:stderr")
# ChildJvms.java sets a variable that the JDI itself knows no name of.
_OPEN = "--add-opens=jdk.jdi/com.sun.tools.jdi=ALL-UNNAMED"
_COMPILE_S = 100
_KEPT_S = 30 * 86_400  # since its last start


def name_folder(sources: list[Path], jdk: Path) -> str:
    """Return the name of the folder for classes of these sources and this JDK."""
    digest = hashlib.sha256()
    for file in sources:
        digest.update(file.read_bytes())
    release = jdk / "release"
    digest.update(release.read_bytes() if release.is_file() else str(jdk).encode())
    return f"classes-{digest.hexdigest()[:16]}"


def compile_adapter(sources: list[Path], jdk: Path, target: Path) -> None:
    """Compile the sources into a folder, which appears as a whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=target.parent))
    try:
        classes = draft / "classes"
        words = [str(jdk / "bin" / "javac"), _QUICK, "-nowarn", "-d", str(classes)]
        done = subprocess.run(
            [*words, *map(str, sources)],
            capture_output=True,
            text=True,
            timeout=_COMPILE_S,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"javac cannot compile the adapter: {done.stderr.strip()[-1000:]}")
        with zipfile.ZipFile(draft / _JAR, "w") as jar:
            for one in sorted(classes.rglob("*.class")):
                jar.write(one, str(one.relative_to(classes)))
        shutil.rmtree(classes)
        try:
            draft.rename(target)
        except OSError:
            if not target.is_dir():  # else another session was first
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    # Those of other versions and JDKs; a running adapter still loads classes from its own.
    unused = [
        one
        for pattern in ("classes-*", "sources-*")  # the latter are of jars (jdi/SourceJars.java)
        for one in target.parent.glob(pattern)
        if one != target and time.time() - one.stat().st_mtime > _KEPT_S
    ]
    for one in unused:
        shutil.rmtree(one, ignore_errors=True)


def archive_classes(java: str, target: Path) -> None:
    """Write an archive of the classes beside the jar: a start takes a tenth less with it.

    It names the jar by its path, so it is made where the jar stays. A JVM that makes none starts
    without.
    """
    draft = target / f"draft-{os.getpid()}.jsa"
    jar = str(target / _JAR)
    words = [java, *_FLAGS, *_LOG, _OPEN, f"-XX:ArchiveClassesAtExit={draft}", "-cp", jar]
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [*words, _ARCHIVER, jar], capture_output=True, timeout=_COMPILE_S, check=False
        )
        draft.replace(target / _ARCHIVE)


def main(jdk: Path, cache: Path, options: list[str]) -> None:
    """Compile the adapter if that is not done, and run it in place of this process."""
    sources = sorted(SOURCES.glob("*.java"))
    target = cache / name_folder(sources, jdk)
    java = str(jdk / "bin" / "java")
    if not target.is_dir():
        compile_adapter(sources, jdk, target)
        archive_classes(java, target)
    with suppress(OSError):  # another user's, or a file system that is read only
        os.utime(target)
    archive = target / _ARCHIVE
    shared = (f"-XX:SharedArchiveFile={archive}",) if archive.is_file() else ()
    own = (*_FLAGS, *_LOG, *shared, _OPEN, f"-Ddebugger.cache={cache}")
    words = [java, *own, *options, "-cp", str(target / _JAR), _MAIN]
    os.execv(java, words)  # noqa: S606 - no shell


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
