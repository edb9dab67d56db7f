"""Turns a command of Maven's or Gradle's into one whose JVM of tests dials the debugger.

Both start the tests, and mostly the program, in a JVM of their own: that one is debugged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from debugger.symbols.program_file import JAVA_BUILD_TOOLS

# Replaced by the adapter, which knows the port (jdi/Connector.java).
JDWP = "{jdwp}"
_INIT_SCRIPT = str(Path(__file__).with_name("debugged_jvms.gradle"))
# surefire and failsafe 2.4 and later, spring-boot-maven-plugin 2 and later.
_MAVEN = (
    f"-Dmaven.surefire.debug={JDWP}",
    f"-Dmaven.failsafe.debug={JDWP}",
    f"-Dspring-boot.run.jvmArguments={JDWP}",
    "-DforkCount=1",
)


def is_build_tool(program: str) -> bool:
    """Tell whether a program is Maven's or Gradle's command."""
    return Path(program).name in JAVA_BUILD_TOOLS


def debugged_words(program: str, args: Sequence[str]) -> list[str]:
    """Return a tool's command line, with the options that its JVMs get."""
    if Path(program).name.startswith("mvn"):
        return [program, *_MAVEN, *args]
    # A daemon of Gradle's would outlive the session, and its children are not ours to end.
    own = [] if "--daemon" in args else ["--no-daemon"]
    return [program, *own, f"-Ddebugger.jdwp={JDWP}", "--init-script", _INIT_SCRIPT, *args]
