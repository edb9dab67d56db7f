"""Turns a command of Maven's or Gradle's into one whose JVM of tests gets one more option.

Both start the tests, and mostly the program, in a JVM of their own: that one gets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from debugger.symbols.program_file import JAVA_BUILD_TOOLS

_INIT_SCRIPT = str(Path(__file__).with_name("debugged_jvms.gradle"))
# surefire and failsafe 2.4 and later, spring-boot-maven-plugin 2 and later.
_MAVEN = ("maven.surefire.debug", "maven.failsafe.debug", "spring-boot.run.jvmArguments")


def is_build_tool(program: str) -> bool:
    """Return whether a program is Maven's or Gradle's command."""
    return Path(program).name in JAVA_BUILD_TOOLS


def words_with_option(program: str, args: Sequence[str], option: str) -> list[str]:
    """Return a tool's command line, with the option that its JVMs get."""
    if Path(program).name.startswith("mvn"):
        return [program, *(f"-D{name}={option}" for name in _MAVEN), "-DforkCount=1", *args]
    # A daemon of Gradle's would outlive the session, and its children are not ours to end.
    own = [] if "--daemon" in args else ["--no-daemon"]
    return [program, *own, f"-Ddebugger.jvm={option}", "--init-script", _INIT_SCRIPT, *args]
