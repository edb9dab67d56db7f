"""Knows the launchers of jobs, and puts a command in front of the program that each rank runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode


class LauncherSyntax(Struct, frozen=True):
    """The options of a launcher that take values; programs are separated by a word of their own."""

    # By the number of words that follow the option.
    values: Mapping[str, int]
    separator: str = ":"


# Open MPI 4 and 5 (mpirun(1)), MPICH's hydra and Intel MPI, whose options are written alike: one or
# two dashes. An option that is in neither table takes no value.
_SETTINGS = ("mca", "gmca", "omca", "pmixmca", "prtemca")  # each with a name and a value
_MPI = LauncherSyntax(
    {
        **dict.fromkeys(
            (
                *("n", "np", "c", "N", "npernode", "npersocket", "H", "host", "hosts", "hostfile"),
                *("machinefile", "f", "x", "wdir", "wd", "path", "prefix", "map-by", "rank-by"),
                *("bind-to", "output-filename", "stdin", "timeout", "tune", "app", "rankfile"),
                *("rf", "cpu-set", "cpu-list", "personality", "launch-agent", "max-restarts"),
                *("ppn", "perhost", "hosts", "configfile", "genvlist", "envlist", "launcher"),
                *("bootstrap", "iface", "rr", "umask", "usize", "s", "am", "pset", "output"),
                *("runtime-options", "map", "bind", "rank", "display", "rmk", "launcher-exec"),
            ),
            1,
        ),
        **dict.fromkeys((*_SETTINGS, "env", "genv"), 2),
        **dict.fromkeys(
            (
                *("allow-run-as-root", "oversubscribe", "nooversubscribe", "tag-output", "v", "q"),
                *("use-hwthread-cpus", "report-bindings", "bynode", "bycore", "quiet", "verbose"),
                *("l", "prepend-rank", "timestamp-output", "display-map", "do-not-launch"),
            ),
            0,
        ),
    }
)
# srun(1) of Slurm 22.05. `--name=value` is one word everywhere.
_SRUN = LauncherSyntax(
    dict.fromkeys(
        (
            *("n", "ntasks", "N", "nodes", "c", "cpus-per-task", "p", "partition", "A", "account"),
            *("J", "job-name", "t", "time", "w", "nodelist", "x", "exclude", "D", "chdir", "i"),
            *("input", "o", "e", "error", "m", "distribution", "C", "constraint", "q", "qos", "d"),
            *("dependency", "gres", "gpus", "G", "mem", "mpi", "export", "ntasks-per-node"),
            *("cpu-bind", "jobid", "r", "relative", "multi-prog-file", "W", "wait"),
            *("acctg-freq", "bb", "bbf", "bcast-exclude", "b", "begin", "comment", "cpu-freq"),
            *("deadline", "delay-boot", "epilog", "gres-flags", "L", "licenses", "M", "clusters"),
            *("mail-type", "mail-user", "mcs-label", "het-group", "power", "priority", "prolog"),
            *("profile", "S", "core-spec", "signal", "slurmd-debug", "switches", "task-epilog"),
            *("task-prolog", "thread-spec", "T", "threads", "time-min", "wckey", "mincpus"),
            *("cluster-constraint", "reservation", "tmp", "mem-per-cpu", "sockets-per-node"),
            *("cores-per-socket", "threads-per-core", "ntasks-per-core", "ntasks-per-socket"),
            *("cpus-per-gpu", "gpu-bind", "gpu-freq", "gpus-per-node", "gpus-per-socket"),
            *("gpus-per-task", "mem-per-gpu", "output"),
        ),
        1,
    ),
    separator="",
)
LAUNCHERS: Mapping[str, LauncherSyntax] = {
    **dict.fromkeys(
        (
            *("mpirun", "mpiexec", "orterun", "oshrun", "prun", "prterun", "mpirun.openmpi"),
            *("mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra", "mpirun_rsh"),
        ),
        _MPI,
    ),
    "srun": _SRUN,
}


# Options by which each line of output has its rank, by the launcher's own file: mpirun may be any.
_LABELLING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("orterun", "prterun", "prun", "mpirun.openmpi"), ("--tag-output",)),
    "srun": ("--label",),
}


# What Open MPI 4 and 5 (prte) run in the place of ssh, split at blanks and followed by the host and
# the words of a shell command.
_REMOTE_SHELLS = ("plm_rsh_agent", "plm_ssh_agent")
_SHELL_VARIABLES = ("OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent")
# Options of ssh with a value that a launcher puts in front of the host.
_SHELL_VALUES = frozenset({"-l", "-p", "-o", "-i", "-F"})
# For `debugger member`: the Python of the debugger, its daemon's folder, and the group to join; of
# a rank on another host those of that host.
MEMBER_PYTHON = "DEBUGGER_MEMBER_PYTHON"
MEMBER_DAEMON = "DEBUGGER_MEMBER_DAEMON"
MEMBER_GROUP = "DEBUGGER_MEMBER_GROUP"
_OURS = frozenset({"debugger", "dbg"})
_MEMBER_WORDS = ("member", "--")
_MEMBER = f'exec "${MEMBER_PYTHON}" -I -m debugger member "$@"'


def member_words(*options: str) -> tuple[str, ...]:
    """Return the command that makes a rank's program a member, on whichever host it starts."""
    return ("/bin/sh", "-c", _MEMBER, "debugger", *options, "--")


def member_environment(python: str, daemon: str, group: str) -> dict[str, str]:
    """Return the variables that `member_words` reads."""
    return {MEMBER_PYTHON: python, MEMBER_DAEMON: daemon, MEMBER_GROUP: group}


def shell_environment(python: str, *options: str) -> dict[str, str]:
    """Return the variables that give a launcher a remote shell of ours."""
    shell = " ".join((python, "-I -m debugger member --shell", *options, "--"))
    # A launcher splits the command at blanks, whatever quotes it.
    return dict.fromkeys(_SHELL_VARIABLES, shell) if " " not in python else {}


def without_remote_shell(args: Sequence[str]) -> tuple[str, ...]:
    """Return a launcher's arguments without a remote shell of the user's: `[hosts] ssh` is ours."""
    found: list[str] = []
    at = 0
    while at < len(args):
        is_setting = args[at].lstrip("-") in _SETTINGS
        is_shell = is_setting and at + 1 < len(args) and args[at + 1] in _REMOTE_SHELLS
        at += 3 if is_shell else 1
        if not is_shell:
            found.append(args[at - 1])
    return tuple(found)


def parse_remote_shell(words: Sequence[str]) -> tuple[str, str]:
    """Return the host, and the shell command for it, of the words that a launcher gives to ssh.

    Raises:
        DebuggerError: USAGE where there is none.
    """
    user, at = "", 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-l" and at + 1 < len(words):
            user = f"{words[at + 1]}@"
        at += 2 if words[at] in _SHELL_VALUES else 1
    if at + 1 >= len(words):
        raise DebuggerError(
            ErrorCode.USAGE,
            "a launcher gives a host and a command to its remote shell",
            hint="debugger start --group -- mpirun --host h1,h2 ./program",
        )
    return f"{user}{words[at]}", " ".join(words[at + 1 :])


def takes_remote_shell(launcher: str) -> bool:
    """Return whether a launcher reaches other hosts by what `shell_environment` names."""
    return LAUNCHERS.get(PurePath(launcher).name) is _MPI


def labelling_options(file: str) -> tuple[str, ...]:
    """Return the options by which a launcher's output names the rank of each line."""
    return _LABELLING.get(PurePath(file).name, ())


def is_launcher(program: str | None) -> bool:
    """Return whether a program is a launcher whose ranks we can start as members."""
    return program is not None and PurePath(program).name in LAUNCHERS


def find_rank_programs(
    launcher: str, args: Sequence[str], is_program: Callable[[str], bool], verb: str = "start"
) -> list[int]:
    """Return the positions of the programs that the ranks run among a launcher's arguments.

    Args:
        launcher: The launcher, by its name or path.
        args: Its arguments.
        is_program: Tells whether a word names a program; it decides about unknown options.
        verb: The command that asks, for the hint.

    Raises:
        DebuggerError: USAGE if there is none.
    """
    name = PurePath(launcher).name
    syntax = LAUNCHERS[name]
    found: list[int] = []
    at = 0
    while at < len(args):
        at = _skip_options(syntax, args, at, is_program)
        if at < len(args) and args[at] != syntax.separator:
            found.append(at)
        if not syntax.separator or syntax.separator not in args[at:]:
            break
        at = args.index(syntax.separator, at) + 1
    if not found:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{name} is given no program",
            # A question keeps the options that the user gave it.
            hint=f"debugger {verb} {'--group ' * (verb == 'start')}-- {name} -n 4 PROGRAM",
        )
    return found


def _skip_options(
    syntax: LauncherSyntax, args: Sequence[str], at: int, is_program: Callable[[str], bool]
) -> int:
    """Return the position of the first word that is neither an option nor an option's value."""
    while at < len(args) and args[at].startswith("-"):
        word = args[at]
        at += 1
        if word == "--":
            break
        count = 0 if "=" in word else syntax.values.get(word.lstrip("-"))
        if count is None:
            count = int(_is_value(args[at:], is_program))
        at += count
    return at


def _is_value(words: Sequence[str], is_program: Callable[[str], bool]) -> bool:
    """Return whether the first of the words behind an unknown option is the option's value.

    It is the program if no other word can be: the program that is named may be missing.
    """
    first, *others = words or ["-"]
    if first.startswith("-") or is_program(first):
        return False
    may_be_other = "/" not in first and any(not one.startswith("-") for one in others)
    return may_be_other or any(map(is_program, others))


# Options that name the hosts of the ranks, in a list or in a file with one a line.
_HOSTS = frozenset({"H", "host", "hosts", "w", "nodelist"})
_HOST_FILES = frozenset({"hostfile", "machinefile", "f"})
_HOST_FILE_MAX = 65_536  # characters


def find_other_host(
    args: Sequence[str], own: Collection[str], read_file: Callable[[str], str]
) -> str | None:
    """Return the first host that a launcher's options name and that is not this machine.

    Args:
        args: The words in front of the program.
        own: The names of this machine.
        read_file: Returns the text of a file of hosts.
    """
    for word, after in pairwise([*args, ""]):
        name, is_one_word, value = word.lstrip("-").partition("=")
        given = value if is_one_word else after
        if not word.startswith("-") or name not in _HOSTS | _HOST_FILES:
            continue
        lines = read_file(given)[:_HOST_FILE_MAX].splitlines() if name in _HOST_FILES else [given]
        # `h1:2,h2` and `h1 slots=2`; what follows `#` is a comment.
        words = [each for one in lines for each in one.partition("#")[0].split()[:1]]
        for host in (each for one in words for each in one.split(",")):
            if host and host.rpartition("@")[2].partition(":")[0] not in own:
                return host
    return None


# Options by which a launcher looks for a program in another folder than its own.
_FOLDERS = frozenset({"wdir", "wd", "path", "D", "chdir"})


def changes_folder(args: Sequence[str]) -> bool:
    """Return whether a launcher's options say where its programs are."""
    return any(one.lstrip("-").partition("=")[0] in _FOLDERS for one in args if one[:1] == "-")


def without_member(words: Sequence[str]) -> tuple[str, ...]:
    """Return the command of a rank without `debugger member --` that the user put before it."""
    name, *others = words
    is_ours = PurePath(name).name in _OURS and tuple(others[:2]) == _MEMBER_WORDS
    return tuple(others[2:] if is_ours and others[2:] else words)


def put_before_programs(
    args: Sequence[str], positions: Sequence[int], words: Sequence[str]
) -> tuple[str, ...]:
    """Return a launcher's arguments with words in front of each program."""
    result: list[str] = []
    at = 0
    while at < len(args):
        if at in positions:
            result += words
            at += len(args) - at - len(without_member(args[at:]))
        result.append(args[at])
        at += 1
    return tuple(result)
