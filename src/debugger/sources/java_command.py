"""Turns a Java program, or a `java` command line, into the JVM's words."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode

# For javac, which lives for seconds: without the JVM's second compiler it takes half the time.
QUICK_COMPILER = "-J-XX:TieredStopAtLevel=1"
SUFFIXES = (".java", ".class", ".jar")
# Options of the java launcher whose value is the next word.
_WITH_VALUE = frozenset(
    {
        *("-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path"),
        *("--add-modules", "--add-exports", "--add-opens", "--add-reads", "--patch-module"),
        *("--limit-modules", "--enable-native-access", "-d", "--describe-module", "--source"),
    }
)
_CLASS_PATH = ("-cp", "-classpath", "--class-path")
_MAGIC = b"\xca\xfe\xba\xbe"


@dataclass(frozen=True)
class JavaCommand:
    """What a JVM is to run.

    `source` is a file that is compiled first, with `options` of the compiler; its classes go before
    the class path. `arguments` are the program's.
    """

    options: tuple[str, ...] = ()
    class_path: tuple[str, ...] = ()
    main_class: str | None = None
    jar: str | None = None
    source: str | None = None
    arguments: tuple[str, ...] = ()

    def words(self, java: str, classes: str) -> list[str]:
        """Return the words of the JVM; `classes` is the folder of what was compiled."""
        path = [classes, *self.class_path] if self.source is not None else [*self.class_path]
        cp = ["-cp", ":".join(path)] if path and self.jar is None else []
        main = ["-jar", self.jar] if self.jar is not None else [self.main_class or ""]
        return [java, *self.options, *cp, *main, *self.arguments]

    def compile_words(self, javac: str, classes: str) -> list[str]:
        """Return the words of the compiler for `source`, and for what it uses of its folder."""
        assert self.source is not None
        path = ["-cp", ":".join(self.class_path)] if self.class_path else []
        own = ["-g", "-nowarn", "-proc:none", "-d", classes, "-sourcepath", self.source_root]
        return [javac, QUICK_COMPILER, *own, *path, self.source]

    @property
    def source_root(self) -> str:
        """The folder that the packages of `source` begin in."""
        folder = Path(self.source or "").parent
        if self.main_class is None:
            return str(folder)
        package = self.main_class.split(".")[:-1]
        is_in_package = package == list(folder.parts[-len(package) :]) if package else False
        return str(folder.parents[len(package) - 1] if is_in_package else folder)

    def list_own_jars(self, cwd: str) -> list[str]:
        """Return the jars that have the program itself: its own, or those with the main class."""
        if self.jar is not None:
            return [str(Path(cwd, self.jar))]
        file = (self.main_class or "").replace(".", "/") + ".class"
        files = [each for one in self.class_path for each in _expand_entry(Path(cwd, one))]
        return [str(one) for one in files if one.is_file() and file in _list_jar(one)]


def parse_program(program: str, args: Sequence[str], cwd: str) -> JavaCommand:
    """Return what a JVM runs for a source, a class file, a jar, or the words of `java`.

    Raises:
        DebuggerError: USAGE for `java` without a program, LAUNCH_FAILED for what cannot be run.
    """
    path = Path(program)
    if path.name.startswith("java") and not path.name.endswith(SUFFIXES):
        return _parse_words(args, cwd)
    return _parse_file(path, args)


def find_program_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return what a JVM's command line runs: the main class or the jar, with its arguments."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] not in {"-jar", "-m", "--module"}:
        del rest[: 2 if rest[0] in _WITH_VALUE else 1]
    return tuple(rest[1:] if rest[:1] and rest[0].startswith("-") else rest)


def _parse_file(
    path: Path, args: Sequence[str], options: tuple[str, ...] = (), class_path: str = ""
) -> JavaCommand:
    entries = tuple(one for one in class_path.split(":") if one)
    if path.suffix == ".jar":
        return JavaCommand(options, jar=_check_jar(path), arguments=tuple(args))
    if path.suffix == ".java":
        main = find_main_class(path.read_text(encoding="utf-8", errors="replace"), path.stem)
        return JavaCommand(
            options, entries, main_class=main, source=str(path), arguments=tuple(args)
        )
    name = read_class_name(path)
    root = path.absolute().parent
    for part in reversed(name.split("/")[:-1]):
        if root.name != part:
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"{path} holds the class {name.replace('/', '.')}, whose folder it is not in",
                hint=f"debugger start java -cp FOLDER {name.replace('/', '.')}",
            )
        root = root.parent
    entries = entries or (str(root),)
    main = name.replace("/", ".")
    return JavaCommand(options, entries, main_class=main, arguments=tuple(args))


def _parse_words(args: Sequence[str], cwd: str) -> JavaCommand:
    rest = list(args)
    options: list[str] = []
    class_path = ""
    while rest and rest[0].startswith("-") and rest[0] not in {"-jar", "-m", "--module"}:
        option = rest.pop(0)
        value = rest.pop(0) if option in _WITH_VALUE and rest else None
        if option in _CLASS_PATH:
            class_path = value or ""
        elif option.startswith("--class-path="):
            class_path = option.partition("=")[2]
        elif not option.startswith(("-agentlib:jdwp", "-Xrunjdwp", "-Xdebug")):
            # Another debugger's agent would be a second one in the JVM: it is left out.
            options += [option] if value is None else [option, value]
    if not rest:
        raise DebuggerError(
            ErrorCode.USAGE,
            "java is given no program",
            hint="debugger start Main.java; debugger start app.jar; "
            "debugger start java -- -cp CLASSES Main",
        )
    word, *arguments = rest
    if word in {"-m", "--module"}:
        return JavaCommand((*options, *rest[:1]), main_class=rest[1], arguments=tuple(rest[2:]))
    if word == "-jar" and arguments:
        return _parse_file(Path(cwd, arguments[0]), arguments[1:], tuple(options))
    if word.endswith(".java"):
        return _parse_file(Path(cwd, word), arguments, tuple(options), class_path)
    entries = tuple(one for one in class_path.split(":") if one) or (cwd,)
    _check_class(word, entries, cwd)
    return JavaCommand(tuple(options), entries, main_class=word, arguments=tuple(arguments))


def _check_class(name: str, entries: Sequence[str], cwd: str) -> None:
    """Check that a class is where the class path says; entries with `*` are not searched."""
    file = name.replace(".", "/") + ".class"
    for entry in entries:
        path = Path(cwd, entry)
        if "*" in entry or (path.is_dir() and (path / file).is_file()):
            return
        if path.is_file() and file in _list_jar(path):
            return
    raise DebuggerError(
        ErrorCode.LAUNCH_FAILED,
        f"no class {name} on the class path {':'.join(entries)}",
        hint="debugger start java -- -cp FOLDER_OR_JAR CLASS, the class with its package",
    )


def _expand_entry(path: Path) -> list[Path]:
    """Return what an entry of a class path means: `lib/*` is all jars in `lib`."""
    return sorted(path.parent.glob("*.jar")) if path.name == "*" else [path]


def _list_jar(path: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return frozenset()


def _check_jar(path: Path) -> str:
    if not path.is_file():
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"no such file: {path}",
            hint="debugger start java -- -jar FILE",
        )
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = archive.read("META-INF/MANIFEST.MF").decode(errors="replace")
    except (OSError, zipfile.BadZipFile, KeyError):
        manifest = ""
    if not re.search(r"^Main-Class:", manifest, re.MULTILINE):
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{path} is no jar with a main class",
            hint=f"debugger start java -- -cp {path} CLASS",
        )
    return str(path)


_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_TYPE = re.compile(r"^(?:[\w@]+\s+)*?(?:class|record|interface|enum)\s+(\w+)", re.MULTILINE)
_MAIN = re.compile(r"\bvoid\s+main\s*\(")


def find_main_class(source: str, stem: str) -> str:
    """Return the main class of a source file, as `java FILE` chooses it: the first that has one."""
    package = _PACKAGE.search(source)
    types = [(one.start(), one[1]) for one in _TYPE.finditer(source)]
    main = _MAIN.search(source)
    before = [name for at, name in types if main is None or at < main.start()]
    name = before[-1] if before else stem
    return f"{package[1]}.{name}" if package else name


def read_class_name(path: Path) -> str:
    """Return the name in a class file, `shop/Cart` (JVMS 4.1).

    Raises:
        DebuggerError: LAUNCH_FAILED for another file.
    """
    try:
        data = path.read_bytes()
        return _read_this_class(data)
    except (OSError, struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{path} is no class file that can be read",
            hint="javac -g FILE.java compiles one; debugger start FILE.java does that, too",
        ) from error


_CLASS = 7  # the tag of a class's name
# The bytes behind the tag of each kind of constant; a text (1) has its own length.
_CONSTANT_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2}
_CONSTANT_SIZES |= {17: 4, 18: 4, 19: 2, 20: 2}


def _read_this_class(data: bytes) -> str:
    if data[:4] != _MAGIC:
        raise IndexError
    (count,) = struct.unpack_from(">H", data, 8)
    at, index = 10, 1
    texts: dict[int, bytes] = {}
    classes: dict[int, int] = {}
    while index < count:
        tag = data[at]
        if tag == 1:
            (size,) = struct.unpack_from(">H", data, at + 1)
            texts[index] = data[at + 3 : at + 3 + size]
            at += 3 + size
        else:
            if tag == _CLASS:
                (classes[index],) = struct.unpack_from(">H", data, at + 1)
            at += 1 + _CONSTANT_SIZES[tag]
        # A long or a double takes two numbers.
        index += 2 if tag in {5, 6} else 1
    (this_class,) = struct.unpack_from(">H", data, at + 2)
    return texts[classes[this_class]].decode()
