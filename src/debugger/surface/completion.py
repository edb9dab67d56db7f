"""Completes command lines in a shell, with neither the daemon nor this package running."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from debugger.core.command import Parameter, Registry
from debugger.surface.reference import (
    GLOBAL_OPTIONS,
    Paths,
    choices,
    explained,
    flags,
    is_switch,
    options,
    paths,
    subcommands,
)

_BASH: Final = """\
# Completion of debugger and dbg for bash: eval "$(debugger completion bash)"
_debugger() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local place="" word index subcommands="" options="" values=""
    for ((index = 1; index < COMP_CWORD; index++)); do
        word="${COMP_WORDS[index]}"
        case "$word" in
            --)
                # A command follows, then words of its own: files, by `-o default`.
                ((index == COMP_CWORD - 1)) && COMPREPLY=($(compgen -c -f -- "$current"))
                return ;;
            @TAKING@) ((index++)); continue ;;
        esac
        case "$place $word" in
            @PLACES@) place="$place $word" ;;
        esac
    done
    case "$place" in
@BRANCHES@
    esac
    if [[ -n "$values" ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$current"))
    elif [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "$options @GLOBALS@" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$subcommands" -- "$current"))
    fi
}
complete -o default -F _debugger debugger dbg
"""

_ZSH: Final = """\
#compdef debugger dbg
# Completion of debugger and dbg for zsh: eval "$(debugger completion zsh)"
_debugger() {
    local current="$words[CURRENT]" previous="$words[CURRENT-1]"
    local place="" word
    local -a subcommands options values
    integer index
    for ((index = 2; index < CURRENT; index++)); do
        word="$words[index]"
        case "$word" in
            --)
                (( index == CURRENT - 1 )) && _command_names -e
                _files
                return ;;
            @TAKING@) ((index++)); continue ;;
        esac
        case "$place $word" in
            @PLACES@) place="$place $word" ;;
        esac
    done
    case "$place" in
@BRANCHES@
    esac
    if (( $#values )); then
        compadd -a values
    elif [[ "$current" == -* ]]; then
        options+=(@GLOBALS@)
        _describe -o option options
    elif (( $#subcommands )); then
        _describe command subcommands || _files
    else
        _files
    fi
}
if [[ "$funcstack[1]" == _debugger ]]; then
    _debugger "$@"
else
    compdef _debugger debugger dbg
fi
"""

_FISH: Final = """\
# Completion of debugger and dbg for fish: debugger completion fish | source
function __debugger_at
    set -l place ''
    set -l is_value 0
    for word in (commandline -opc)[2..]
        if test $is_value = 1
            set is_value 0
            continue
        end
        switch $word
            case --
                return 1
            case @TAKING@
                set is_value 1
                continue
        end
        switch "$place $word"
            case @PLACES@
                set place "$place $word"
        end
    end
    contains -- $place $argv
end
complete -c dbg -w debugger
@GLOBALS@
@BRANCHES@
"""


@dataclass(frozen=True)
class _Place:
    """What may follow a command or group: `spellings` are its names, each word after a blank."""

    spellings: tuple[str, ...]
    words: dict[str, str]
    options: tuple[Parameter, ...]


def script(shell: str, registry: Registry) -> str:
    """Return the completion script for one of SHELLS; it needs nothing but itself."""
    return _WRITERS[shell](_places(registry))


def _places(registry: Registry) -> list[_Place]:
    known = paths(registry)
    prefixes = dict.fromkeys(key[:size] for key in known for size in range(len(key) + 1))
    same: dict[tuple[object, ...], list[tuple[str, ...]]] = {}
    for prefix in prefixes:
        command = known.get(prefix)
        key = (command.name, subcommands(known, prefix)) if command else ("", prefix)
        same.setdefault(key, []).append(prefix)
    return [_place(known, prefixes) for prefixes in same.values()]


def _place(known: Paths, prefixes: list[tuple[str, ...]]) -> _Place:
    command = known.get(prefixes[0])
    return _Place(
        spellings=tuple("".join(f" {word}" for word in prefix) for prefix in prefixes),
        words=dict(_words(known, prefixes[0])),
        options=tuple(options(command)) if command else (),
    )


def _words(known: Paths, prefix: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Find what may follow, without aliases: they are for those who know them."""
    for word in subcommands(known, prefix):
        path = (*prefix, word)
        command = known.get(path)
        if command is None:
            yield word, "|".join(subcommands(known, path))
        elif command.name == " ".join(path):
            yield word, command.summary.rstrip(".")


def _bash(places: list[_Place]) -> str:
    branches = (
        line
        for place in places
        for line in _branch(
            place,
            subcommands=_quoted(" ".join(place.words)),
            options=_quoted(_all_flags(place.options)),
            values="'{}'",
        )
    )
    return _filled(
        _BASH,
        places,
        quoted=_quoted,
        separator="|",
        globals_=_all_flags(GLOBAL_OPTIONS),
        branches=branches,
    )


def _zsh(places: list[_Place]) -> str:
    branches = (
        line
        for place in places
        for line in _branch(
            place,
            subcommands=f"({_described(place.words.items())})",
            options=f"({_described(_explained_flags(place.options))})",
            values="({})",
        )
    )
    globals_ = _described(_explained_flags(GLOBAL_OPTIONS))
    return _filled(
        _ZSH, places, quoted=_quoted, separator="|", globals_=globals_, branches=branches
    )


def _fish(places: list[_Place]) -> str:
    branches = (line for place in places for line in _completes(place))
    globals_ = "\n".join(_completed("", option) for option in GLOBAL_OPTIONS)
    return _filled(
        _FISH, places, quoted=_quoted_in_fish, separator=" ", globals_=globals_, branches=branches
    )


_WRITERS: Final[Mapping[str, Callable[[list[_Place]], str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
SHELLS: Final = tuple(_WRITERS)


def _filled(
    template: str,
    places: list[_Place],
    *,
    quoted: Callable[[str], str],
    separator: str,
    globals_: str,
    branches: Iterable[str],
) -> str:
    spellings = [quoted(each) for place in places for each in place.spellings if each]
    taking = [flag for each in GLOBAL_OPTIONS if not is_switch(each) for flag in flags(each)]
    filled = {
        "@PLACES@": separator.join(spellings),
        "@TAKING@": separator.join(taking),
        "@GLOBALS@": globals_,
        "@BRANCHES@": "\n".join(branches),
    }
    for mark, text in filled.items():
        template = template.replace(mark, text)
    return template


def _branch(place: _Place, *, subcommands: str, options: str, values: str) -> Iterator[str]:
    """Write a branch of the case over places, for bash and zsh alike."""
    yield f"        {'|'.join(map(_quoted, place.spellings))})"
    if place.words:
        yield f"            subcommands={subcommands}"
    if place.options:
        yield f"            options={options}"
    chosen = [each for each in place.options if choices(each)]
    if chosen:
        yield '            case "$previous" in'
        for each in chosen:
            allowed = values.format(" ".join(choices(each)))
            yield f"                {'|'.join(flags(each))}) values={allowed} ;;"
        yield "            esac"
    yield "            ;;"


def _all_flags(parameters: Iterable[Parameter]) -> str:
    return " ".join(flag for each in parameters for flag in flags(each))


def _explained_flags(parameters: Iterable[Parameter]) -> Iterator[tuple[str, str]]:
    for parameter in parameters:
        for flag in flags(parameter):
            yield flag, explained(parameter)


def _described(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(_quoted(f"{word}:{about}") for word, about in pairs)


def _completes(place: _Place) -> Iterator[str]:
    there = " ".join(map(_quoted_in_fish, place.spellings))
    condition = f" -n {_quoted_in_fish(f'__debugger_at {there}')}"
    for word, about in place.words.items():
        yield f"complete -c debugger{condition} -f -a {word} -d {_quoted_in_fish(about)}"
    for option in place.options:
        yield _completed(condition, option)


def _completed(condition: str, option: Parameter) -> str:
    spelled = " ".join(
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in flags(option)
    )
    value = "" if is_switch(option) else " -r"
    if choices(option):
        value = f" -x -a {_quoted_in_fish(' '.join(choices(option)))}"
    about = _quoted_in_fish(explained(option))
    return f"complete -c debugger{condition} {spelled}{value} -d {about}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _quoted_in_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
