"""The value that a crash of Java is about is found, in as few runs of the program as it takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cli_commands import Cli
from debuggees import PROGRAMS, find_marker

pytestmark = pytest.mark.adapter("java")
FOLDER = PROGRAMS / "java_bugs"
# What a crash is about, and where that value was made.
CASES = {
    "popped": ("divisor=0", "put into stack by push", "pushed"),
    "polled": ("divisor=0", "put into queue by add", "queued"),
    "streamed": ("word=null", "put into words by add", "null"),
    "fixed": ("sizes=[1, 2]", "sizes assigned", "fixed"),
    "split": ('parts={"ada;36"}', "parts assigned", "parts"),
    "cut": ("at=-1", "at assigned", "at"),
    "joined": ("middle=null", "middle assigned", "middle"),
    "locked": ("numbers=[2, 3]", "numbers changed by remove while the loop", "removes"),
}
RUNS = """\
import java.nio.file.*;
public class Runs {
    public static void main(String[] words) throws Exception {
        var options = new OpenOption[] {StandardOpenOption.CREATE, StandardOpenOption.APPEND};
        Files.writeString(Path.of("runs"), "x", options);
        if (words[0].equals("plain")) fail();
        int divisor = words.length - 1;
        System.out.println(10 / divisor);
    }
    static void fail() { throw new IllegalStateException("on purpose"); }
}
"""
# As Groovy's own, which catches what a script throws.
GROOVY = """\
package groovy.ui;
public class GroovyMain {
    public static void main(String[] words) { new GroovyMain().run(words.length); }
    private void run(int count) {
        try {
            shop.Script.share(7, count);
        } catch (Throwable wrong) {
            System.err.println("Caught: " + wrong);
            System.exit(1);
        }
    }
}
"""
SCRIPT = """\
package shop;
public class Script {
    public static int share(int price, int count) {
        return price / count;
    }
}
"""
POOL = """\
import java.util.Objects;
import java.util.concurrent.Executors;
public class Pool {
    static String name(String given) {
        return Objects.requireNonNull(given, "no name");
    }
    public static void main(String[] words) throws Exception {
        try (var in = System.in) { Integer.valueOf(in.available()); }
        var pool = Executors.newSingleThreadExecutor();
        pool.submit(() -> name(null));
        pool.shutdown();
    }
}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("java_culprits")
    words = ["javac", "-g", "-nowarn", "-d", str(folder), str(FOLDER / "Culprits.java")]
    subprocess.run(words, check=True)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_crash_leads_to_where_its_value_was_made(
    shared_cli: Cli, classes: Path, case: str
) -> None:
    value, made, marker = CASES[case]
    words = ("--timeout", "300", "--", "java", "-cp", str(classes), "Culprits", case)
    shown = shared_cli("crash", *words, check=0, cwd=FOLDER, timeout=320).out
    origin = shown[shown.index("why: ") : shown.index("\n->")]
    assert origin.startswith(f"why: {value}, ")
    assert made in origin
    assert f"Culprits.java:{find_marker('java_bugs/Culprits.java', marker)}" in origin.replace(
        " :", " Culprits.java:"
    )


def test_what_finally_throws_again_is_where_it_was_thrown(shared_cli: Cli, classes: Path) -> None:
    """Its variables have gone, and others are changed: a further run sees them at the throw."""
    words = ("--timeout", "300", "--", "java", "-cp", str(classes), "Culprits", "closed")
    shown = shared_cli("crash", *words, check=0, cwd=FOLDER, timeout=320).out
    line, made, again = (
        find_marker("java_bugs/Culprits.java", one) for one in ("closed", "last", "rethrown")
    )
    assert shown.splitlines()[0].endswith(f"in Culprits.closed Culprits.java:{line}")
    assert f"why: last=2, last assigned at Culprits.java:{made} in Culprits.closed" in shown
    assert f"note: the values are those at Culprits.java:{again}, which throws it again" in shown
    assert "caused by: " not in shown
    words = ("count", "--at", "crash", *words)
    followed = shared_cli("why", *words, check=0, cwd=FOLDER, timeout=320).out
    assert followed.startswith(f"why: count = 1 in Culprits.closed at Culprits.java:{line}")


@pytest.mark.parametrize(("case", "runs"), [("plain", 1), ("value", 2)])
def test_the_run_to_a_crash_is_the_first_of_the_chain(
    shared_cli: Cli, tmp_path: Path, case: str, runs: int
) -> None:
    (tmp_path / "Runs.java").write_text(RUNS)
    shown = shared_cli("crash", "--", "java", "Runs.java", case, check=0, cwd=tmp_path).out
    assert ("why: divisor=0" in shown) == (case == "value"), shown
    assert len((tmp_path / "runs").read_text()) == runs


def test_what_a_library_catches_for_nobody_is_a_crash(shared_cli: Cli, tmp_path: Path) -> None:
    """The class that runs scripts of Groovy reports what they throw, as the JVM would."""
    for name, text in {"GroovyMain": GROOVY, "Script": SCRIPT}.items():
        (tmp_path / f"{name}.java").write_text(text)
    files = [str(tmp_path / f"{name}.java") for name in ("GroovyMain", "Script")]
    subprocess.run(["javac", "-g", "-d", str(tmp_path), *files], check=True)
    words = ("java", "-cp", str(tmp_path), "groovy.ui.GroovyMain")
    shown = shared_cli("crash", "--", *words, check=0, cwd=tmp_path).out
    assert shown.startswith("crash: division by zero: count is 0")
    assert "in Script.share Script.java:4" in shown


def test_what_passes_through_the_program_is_raised_in_it(shared_cli: Cli, tmp_path: Path) -> None:
    """A check of the library throws it for the program, and the pool catches it."""
    (tmp_path / "Pool.java").write_text(POOL)
    shown = shared_cli("crash", "--raised", "--", "java", "Pool.java", cwd=tmp_path).out
    assert shown.startswith("raised: NullPointerException: no name, in Pool.name Pool.java:5")
