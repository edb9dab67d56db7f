"""The adapter for Java: command lines, the JDK that it runs in, what is compiled for it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from debugger.backends import select_backend
from debugger.backends.adapters.java import run_adapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.hang.reported_waits import find_awaited_expression
from debugger.sources import java_command
from debugger.system import java_home

MODULES = 'MODULES="java.base jdk.jdi"\n'


def make_jdk(path: Path, version: str, modules: str = MODULES) -> Path:
    (path / "bin").mkdir(parents=True)
    for name in ("java", "javac"):
        (path / "bin" / name).touch(mode=0o755)
    (path / "release").write_text(f'JAVA_VERSION="{version}"\n{modules}')
    return path


def test_a_jdk_is_taken_from_java_home_else_from_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(java_home, "FOLDERS", ())
    old = make_jdk(tmp_path / "old", "11.0.2")
    bare = make_jdk(tmp_path / "bare", "21.0.1", 'MODULES="java.base"\n')
    good = make_jdk(tmp_path / "good", "17.0.15")
    newer = make_jdk(tmp_path / "home" / ".jdks" / "newer", "25")
    newest = make_jdk(tmp_path / "home" / ".jdks" / "newest", "25.0.1")
    env = {"PATH": str(good / "bin"), "HOME": str(tmp_path)}
    assert java_home.find_jdk(env) == java_home.JavaHome(good, "17.0.15")
    for unfit in (old, bare, tmp_path):
        assert java_home.find_jdk({**env, "JAVA_HOME": str(unfit)}).path == good  # type: ignore[union-attr]
    assert java_home.find_jdk({**env, "JAVA_HOME": str(newer)}).path == newer  # type: ignore[union-attr]
    home = {"PATH": "", "HOME": str(tmp_path / "home")}
    assert java_home.find_jdk(home).path in {newer, newest}  # type: ignore[union-attr]
    assert java_home.find_jdk(env, configured=str(newer)).path == newer  # type: ignore[union-attr]
    assert java_home.find_jdk(env, configured=str(newer / "bin" / "java")).path == newer  # type: ignore[union-attr]


def test_without_a_jdk_the_command_that_installs_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(java_home, "FOLDERS", ())
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "JAVA_HOME": str(tmp_path)}
    with pytest.raises(DebuggerError) as raised:
        select_backend.find_adapter(select_backend.ADAPTERS["java"], env, {})
    assert raised.value.code is ErrorCode.ADAPTER_NOT_FOUND
    assert "debugger setup java --yes" in (raised.value.hint or "")


def test_the_words_of_java_are_parsed_as_java_does(tmp_path: Path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "Main.class").touch()
    cwd = str(tmp_path)
    found = java_command.parse_program(
        "/usr/bin/java",
        ["-Xmx1g", "-agentlib:jdwp=server=y", "-cp", f"{cwd}:lib/*", "shop.Main", "-x", "1"],
        cwd,
    )
    assert found.words("java", "out") == [
        *("java", "-Xmx1g", "-cp", f"{cwd}:lib/*", "shop.Main", "-x", "1"),
    ]
    module = java_command.parse_program("java", ["-p", "mods", "-m", "shop/shop.Main", "2"], cwd)
    assert module.words("java", "") == ["java", "-p", "mods", "-m", "shop/shop.Main", "2"]
    with pytest.raises(DebuggerError, match=r"no class shop\.Mian") as raised:
        java_command.parse_program("java", ["-cp", cwd, "shop.Mian"], cwd)
    assert raised.value.code is ErrorCode.LAUNCH_FAILED
    with pytest.raises(DebuggerError, match="java is given no program"):
        java_command.parse_program("java", ["-version"], cwd)


def test_a_jar_needs_a_main_class(tmp_path: Path):
    jar = tmp_path / "app.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Main-Class: shop.Main\n")
    found = java_command.parse_program(str(jar), ["1"], str(tmp_path))
    assert found.words("java", "") == ["java", "-jar", str(jar), "1"]
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Created-By: 17\n")
    with pytest.raises(DebuggerError, match="no jar with a main class"):
        java_command.parse_program("java", ["-jar", str(jar)], str(tmp_path))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class A {}\npublic class Main {\n  public static void main(String[] a) {}\n}", "Main"),
        ("package shop.app;\nrecord Main() { static void main(String[] a) {} }", "shop.app.Main"),
        ("void main() {}\n", "Loose"),
        ("// class Fake\nfinal class Real { void main(String[] a) {} }\nclass Z {}", "Real"),
    ],
)
def test_the_main_class_of_a_source_is_the_one_with_main(source: str, name: str):
    assert java_command.find_main_class(source, "Loose") == name


@pytest.mark.parametrize(
    ("kind", "lines", "what"),
    [
        ("monitor", ["synchronized (this.lock) {"], "this.lock"),
        ("monitor", ["synchronized (other) {", 'System.out.println("x");'], "other"),
        ("monitor", ["first.lock(); synchronized (second) { third.wait(); }"], "second"),
        ("monitor", ["synchronized (first) { synchronized (second) {"], ""),
        ("lock", ["int x = 1;", "store.lock.lock();"], "store.lock"),
        ("lock", ["synchronized (first) { second.lock(); }"], "second"),
        ("condition", ["lock.lock(); while (empty) ready.await();"], "ready"),
        ("join", ["worker.join();"], "worker"),
        ("receive", ["return queue.take();"], "queue"),
        ("send", ["queue.put(other.take());"], "queue"),
        ("waiting", ["pool.submit(() -> value.get()).get();"], ""),
        ("lock", ["int x = 1;"], ""),
        ("lock", [], ""),
    ],
)
def test_what_a_thread_waits_for_is_named_as_in_the_source_where_it_can_be_one_alone(
    kind: str, lines: list[str], what: str
):
    is_monitor = kind == "monitor"
    assert find_awaited_expression(kind, lines, is_monitor=is_monitor) == what


def test_what_is_compiled_is_named_by_the_sources_and_the_jdk(tmp_path: Path):
    source = tmp_path / "A.java"
    source.write_text("class A {}")
    first = run_adapter.name_folder([source], make_jdk(tmp_path / "one", "17"))
    other = run_adapter.name_folder([source], make_jdk(tmp_path / "two", "25"))
    source.write_text("class B {}")
    changed = run_adapter.name_folder([source], tmp_path / "one")
    assert len({first, other, changed}) == 3


def test_a_child_jvm_is_named_by_what_it_runs():
    find = java_command.find_program_words
    option = "-agentlib:jdwp=transport=dt_socket"
    assert find(["java", option, "-cp", "lib", "shop.Main", "-x"]) == ("shop.Main", "-x")
    assert find(["java", option, "-jar", "app.jar", "1"]) == ("app.jar", "1")
    assert find(["java", option]) == ()


def test_the_jars_of_the_program_itself_are_listed(tmp_path: Path) -> None:
    for name, file in {"app.jar": "shop/Main.class", "lib.jar": "lib/Tool.class"}.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(file, b"")
    command = java_command.JavaCommand(class_path=("*", "classes"), main_class="shop.Main")
    assert command.list_own_jars(str(tmp_path)) == [str(tmp_path / "app.jar")]
    assert java_command.JavaCommand(jar="/a/app.jar").list_own_jars("/b") == ["/a/app.jar"]


def test_a_source_of_a_package_is_compiled_from_the_packages_root() -> None:
    command = java_command.JavaCommand(main_class="shop.Main", source="/a/src/shop/Main.java")
    assert command.source_root == "/a/src"
    outside = java_command.JavaCommand(main_class="shop.Main", source="/a/Main.java")
    assert outside.source_root == "/a"
    words = command.compile_words("javac", "/out")
    assert words[-3:] == ["-sourcepath", "/a/src", "/a/src/shop/Main.java"]


def test_a_jvm_without_the_jdwp_module_is_named() -> None:
    said = "the JVM ended before it ran the program\nCould not find agent library jdwp on the path"
    hint = select_backend.ADAPTERS["java"].find_launch_hint(said)
    assert "jdk.jdwp.agent" in (hint or "")
