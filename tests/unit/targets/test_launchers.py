"""The programs of a launcher's ranks are found among its arguments."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.launch_target import find_on_path
from debugger.targets.launchers import (
    find_other_host,
    find_rank_programs,
    is_launcher,
    labelling_options,
    member_environment,
    member_words,
    parse_remote_shell,
    put_before_programs,
    shell_environment,
    without_member,
    without_remote_shell,
)

PROGRAMS = {"./app", "python3", "b.out", "app"}


def wrap(line: str) -> str:
    launcher, *args = line.split()
    positions = find_rank_programs(launcher, args, PROGRAMS.__contains__)
    return " ".join(put_before_programs(args, positions, ("member", "--")))


@pytest.mark.parametrize(
    ("line", "wrapped"),
    [
        ("mpirun -n 4 ./app x", "-n 4 member -- ./app x"),
        ("srun -n 4 --overcommit ./app", "-n 4 --overcommit member -- ./app"),
        ("srun --signal KILL@30 -lu -O app", "--signal KILL@30 -lu -O member -- app"),
        ("mpirun ./app -n 4", "member -- ./app -n 4"),
        ("/usr/bin/mpiexec -np 2 python3 t.py", "-np 2 member -- python3 t.py"),
        (
            "mpirun --mca btl self,tcp -x A --map-by core app",
            "--mca btl self,tcp -x A --map-by core member -- app",
        ),
        ("mpirun -n 1 ./app : -n 3 b.out y", "-n 1 member -- ./app : -n 3 member -- b.out y"),
        (
            "mpirun --oversubscribe --new-option 7 ./app",
            "--oversubscribe --new-option 7 member -- ./app",
        ),
        ("mpirun --new-flag ./app", "--new-flag member -- ./app"),
        ("mpirun --new-flag ./missing", "--new-flag member -- ./missing"),
        ("mpirun --new-flag ./missing 7", "--new-flag member -- ./missing 7"),
        ("mpirun --new-option 7 ./missing", "--new-option 7 member -- ./missing"),
        ("mpirun --allow-run-as-root missing 7", "--allow-run-as-root member -- missing 7"),
        ("mpirun -n 2 -- ./app --flag", "-n 2 -- member -- ./app --flag"),
        ("srun -n4 --mpi=pmix ./app : x", "-n4 --mpi=pmix member -- ./app : x"),
        ("srun -N 2 -p short ./app", "-N 2 -p short member -- ./app"),
    ],
)
def test_our_command_stands_before_each_program(line: str, wrapped: str) -> None:
    assert wrap(line) == wrapped


@pytest.mark.parametrize("line", ["mpirun", "mpirun -n 4", "srun --ntasks 4", "mpirun -n 1 :"])
def test_a_launcher_without_a_program_is_refused(line: str) -> None:
    with pytest.raises(DebuggerError) as refused:
        wrap(line)
    assert refused.value.code is ErrorCode.USAGE


def test_launchers_are_known_by_their_names() -> None:
    assert is_launcher("/opt/ompi/bin/mpirun")
    assert not is_launcher("./app")
    assert not is_launcher(None)
    assert labelling_options("/usr/bin/orterun") == ("--tag-output",)
    assert labelling_options("/usr/bin/mpiexec.hydra") == ()


def test_a_remote_shell_of_the_users_is_not_kept() -> None:
    line = "-np 4 --mca plm_rsh_agent rsh --mca btl tcp -gmca plm_ssh_agent /bin/x -x A"
    assert " ".join(without_remote_shell(line.split())) == "-np 4 --mca btl tcp -x A"
    assert without_remote_shell(["-n", "plm_rsh_agent"]) == ("-n", "plm_rsh_agent")


@pytest.mark.parametrize(
    ("line", "host", "command"),
    [
        ('node1 orted -mca ess "env"', "node1", 'orted -mca ess "env"'),
        ("-x -l me -p 2200 node1 PATH=a ; orted", "me@node1", "PATH=a ; orted"),
    ],
)
def test_what_a_launcher_gives_to_ssh_is_a_host_and_a_command(
    line: str, host: str, command: str
) -> None:
    assert parse_remote_shell(line.split()) == (host, command)
    with pytest.raises(DebuggerError, match="gives a host and a command"):
        parse_remote_shell(line.split()[:1])


def test_ranks_learn_their_group_and_launchers_their_shell() -> None:
    own = member_environment("/py thon", "/run/d", "job")
    assert sorted(own.values()) == ["/py thon", "/run/d", "job"]
    assert shell_environment("/py thon") == {}  # a launcher would split it
    shells = shell_environment("/python", "--crash")
    assert set(shells.values()) == {"/python -I -m debugger member --shell --crash --"}
    ran = subprocess.run(
        [*member_words("--group", "a b"), "x y"],
        env={**own, "DEBUGGER_MEMBER_PYTHON": "/bin/echo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "-I -m debugger member --group a b -- x y\n"


def test_a_program_by_its_path_is_found_from_the_callers_directory(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "app"
    program.parent.mkdir()
    program.touch(0o755)
    env = {"PATH": "/usr/bin"}
    assert find_on_path("./bin/app", env, str(tmp_path)) == f"{tmp_path}/./bin/app"
    assert find_on_path("bin/app", env, str(tmp_path)) == f"{tmp_path}/bin/app"
    assert find_on_path("bin/app", env, "/") is None
    assert find_on_path(str(program), env, "/") == str(program)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", None),
        ("-n 4", None),
        ("--host h1:2,h2:2 -n 4", "h1:2"),
        ("--host localhost:4 -n 4", None),
        ("-n 2 -H here,h2", "h2"),
        ("--host=there", "there"),
        ("-w n[1-2] -n 2", "n[1-2]"),
        ("--hostfile hosts", "far"),
        ("-hosts here", None),
    ],
)
def test_a_host_other_than_this_machine_is_found(words: str, found: str | None) -> None:
    files = {"hosts": "# ours\nlocalhost slots=2\n\nme@far slots=2\n"}
    own = {"localhost", "here"}
    host = find_other_host(words.split(), own, files.__getitem__)
    assert (host or "").removeprefix("me@") == (found or "")


def test_the_command_that_makes_a_member_is_not_put_before_itself() -> None:
    args = ("-n", "1", "debugger", "member", "--", "./a", ":", "-n", "1", "./b", "member")
    put = put_before_programs(args, [2, 9], ("OURS",))
    assert put == ("-n", "1", "OURS", "./a", ":", "-n", "1", "OURS", "./b", "member")
    assert without_member(("debugger", "member", "--", "./a", "1")) == ("./a", "1")
    own = ("debugger", "member", "-b", "main", "--", "./a")
    assert without_member(own) == own
