"""Runs programs of another Debian release from a separate folder."""

from __future__ import annotations

import shutil
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.install import download
from debugger.install.caller_machine import CallerMachine
from debugger.install.install_methods import run_required

_MIRROR = "http://deb.debian.org/debian"  # apt checks Debian's signature
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_APT_HELPER = "/usr/lib/apt/apt-helper"
_TIMEOUT_S = 10  # seconds for a connection
_REACH_S = 14.0  # seconds for the check that the archive is reachable
_UPDATE_S = 300.0
_DOWNLOAD_S = 900.0
_COMPILE_S = 300.0
_RELEASE_S = 30.0
_LIBRARIES = "usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True)
class WrappedProgram:
    """A program that starts with the libraries unpacked beside it."""

    name: str
    options: str = ""
    # The arguments of a run that compiles the modules of its Python, which start scripts never do:
    # gdb 16 started in a third of the time.
    compiling: tuple[str, ...] = ()

    def start_script(self, release: str) -> str:
        """Return the start script, which finds itself by its path and interprets no argument."""
        return (
            "#!/bin/sh\n"
            f"# Runs the {self.name} of {release} with its own libraries.\n"
            "here=${0%/*}\n"
            "root=$here/root\n"
            f"lib=$root/{_LIBRARIES}\n"
            "PYTHONHOME=$root/usr PYTHONDONTWRITEBYTECODE=1 GCONV_PATH=$lib/gconv\n"
            "export PYTHONHOME PYTHONDONTWRITEBYTECODE GCONV_PATH\n"
            'exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" '
            f'"$root/usr/bin/{self.name}" {self.options}"$@"\n'
        )


@dataclass(frozen=True)
class DebianFiles:
    """Unpacked packages of a newer Debian release; the system's own packages stay untouched.

    apt downloads the packages, because it knows the current file names and verifies Debian's
    signatures. `packages` lists everything that the programs need, including the C library.
    """

    release: str
    suite: str
    packages: tuple[str, ...]
    programs: tuple[WrappedProgram, ...]
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    size: int
    into_place = True
    installed_version = None
    required_bytes = 220_000_000  # 27 MB of packages, 54 of apt's indices, 91 unpacked

    async def explain_unsuited(self, machine: CallerMachine) -> str | None:
        """Return why these packages do not run here, or cannot be downloaded."""
        here = f"{machine.system}-{machine.processor}"
        if here != "linux-x86_64":
            return f"it is packed for linux-x86_64, and this is {here}"
        return None if machine.find_command("apt-get") else "there is no apt-get"

    async def explain_blocked(self, machine: CallerMachine) -> str | None:
        """Return that Debian's keys are missing, as is possible on Ubuntu."""
        del machine
        if _KEYS.exists():
            return None
        return f"{_KEYS} is missing: apt-get install debian-archive-keyring"

    async def describe_steps(self, machine: CallerMachine, target: Path) -> tuple[str, ...]:
        """Name the downloads, and their destination."""
        del machine
        return (
            (
                f"apt-get download {len(self.packages)} packages of {self.release} "
                f"({self.size // 10**6} MB, {self.programs[0].name} and the libraries that it "
                "needs)"
            ),
            f"unpack them to {target}/root; nothing outside of {target} is changed",
        )

    async def try_out(self, machine: CallerMachine) -> None:
        """Download the release's index with apt."""
        with tempfile.TemporaryDirectory() as folder:
            release_file = f"{_MIRROR}/dists/{self.suite}/InRelease"
            limits = ("-o", f"Acquire::http::Timeout={_TIMEOUT_S}", "-o", "Acquire::Retries=0")
            words = (_APT_HELPER, *limits, "download-file", release_file, f"{folder}/InRelease")
            await run_required(machine, words, _REACH_S)

    async def install_into(self, machine: CallerMachine, draft: Path) -> None:
        """Download, unpack, and write the start scripts."""
        scratch = draft / ".apt"
        try:
            archives = await self._download_packages(machine, scratch)
            await machine.say(f"unpack {len(archives)} packages")
            unpacked = draft / "root"
            unpacked.mkdir()
            await download.in_thread(lambda stop: self._unpack_archives(archives, unpacked, stop))
        finally:
            await download.in_thread(lambda _: shutil.rmtree(scratch, ignore_errors=True))
        for program in self.programs:
            if not (unpacked / "usr/bin" / program.name).is_file():
                problem = f"there is no {program.name} in the packages"
                raise DebuggerError(ErrorCode.ADAPTER_FAILED, problem)
            script = draft / program.name
            script.write_text(program.start_script(self.release), encoding="utf-8")
            script.chmod(0o755)
            if program.compiling:
                await machine.say(f"compile the Python modules of {program.name}")
                await run_required(machine, (str(script), *program.compiling), _COMPILE_S)

    def _unpack_archives(self, archives: list[Path], into: Path, stop: threading.Event) -> None:
        for archive in archives:
            download.unpack_deb(archive, into, self._find_command, stop=stop)

    def _find_command(self, name: str) -> str | None:
        # Debian 13's packages have all in usr/, where the names without it lead as well.
        is_included = any(Path(name).match(pattern) for pattern in self.kept) or any(
            name.startswith(folder) for folder in self.kept if folder.endswith("/")
        )
        is_left = any(part in self.left_out for part in name.split("/"))
        return name if is_included and not is_left else None

    async def _download_packages(self, machine: CallerMachine, scratch: Path) -> list[Path]:
        """Download with apt in directories of its own, which needs no root."""
        for folder in ("state/lists/partial", "cache/archives/partial", "etc", "debs"):
            (scratch / folder).mkdir(parents=True)
        (scratch / "status").touch()
        (scratch / "sources.list").write_text(
            f"deb [arch=amd64 signed-by={_KEYS}] {_MIRROR} {self.suite} main\n"
        )
        (scratch / "apt.conf").write_text(
            f'Dir::Etc "{scratch}/etc";\n'
            f'Dir::Etc::sourcelist "{scratch}/sources.list";\n'
            f'Dir::Etc::sourceparts "-";\n'
            f'Dir::State "{scratch}/state";\n'
            f'Dir::State::status "{scratch}/status";\n'
            f'Dir::Cache "{scratch}/cache";\n'
            f'Acquire::http::Timeout "{_TIMEOUT_S}";\n'
            'Acquire::Retries "0";\n'
            'Acquire::Languages "none";\n'
            'APT::Architecture "amd64";\n'
            'APT::Architectures { "amd64"; };\n'
            # As root apt would become a user who may not write here.
            'APT::Sandbox::User "root";\n'
            'APT::Update::Error-Mode "any";\n'
        )
        env = {"APT_CONFIG": str(scratch / "apt.conf")}
        await self.try_out(machine)  # a mirror that cannot be reached is known soon
        await machine.say(f"apt-get update ({self.release})")
        await run_required(machine, ("apt-get", "update"), _UPDATE_S, env=env)
        await machine.say(f"apt-get download ({len(self.packages)} packages)")
        debs = scratch / "debs"
        words = ("apt-get", "download", *self.packages)
        await run_required(machine, words, _DOWNLOAD_S, env=env, cwd=debs)
        archives = sorted(debs.glob("*.deb"))
        if len(archives) < len(self.packages):
            missing = len(self.packages) - len(archives)
            raise DebuggerError(ErrorCode.ADAPTER_FAILED, f"{missing} packages did not come")
        return archives
