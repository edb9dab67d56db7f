"""Generates shell completion scripts that run without the daemon and without this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from debugger.cli.reference import (
    GLOBAL_OPTIONS,
    Paths,
    command_paths,
    is_switch,
    listed_options,
    names_source,
    option_flags,
    parameter_choices,
    parameter_help,
    subcommands,
)
from debugger.model.command_registry import Parameter, Registry

_BASH: Final = """\
# Completion of debugger and dbg for bash: eval "$(debugger completion bash)"
_debugger() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local place="" word index subcommands="" options="" values="" names=""
    COMPREPLY=()
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
    if [[ -n "$names" ]]; then
        # A name may hold blanks; within quotes it stands as it is.
        while IFS= read -r word; do
            [[ "$current" == [\\"\\']* ]] || word="$(printf %q "$word")"
            [[ "$word" == "${current#[\\"\\']}"* ]] && COMPREPLY+=("$word")
        done < <("${COMP_WORDS[0]}" $names 2>/dev/null)
    elif [[ -n "$values" ]]; then
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
class _CompletionPoint:
    """The possible words after a command or group."""

    # The names of the command or group, each word after a blank.
    spellings: tuple[str, ...]
    words: dict[str, str]
    options: tuple[Parameter, ...]


def completion_script(shell: str, registry: Registry) -> str:
    """Return a self-contained completion script for one of SHELLS."""
    return _WRITERS[shell](_completion_points(registry))


def _completion_points(registry: Registry) -> list[_CompletionPoint]:
    known = command_paths(registry)
    prefixes = dict.fromkeys(key[:size] for key in known for size in range(len(key) + 1))
    same: dict[tuple[object, ...], list[tuple[str, ...]]] = {}
    for prefix in prefixes:
        command = known.get(prefix)
        key = (command.name, subcommands(known, prefix)) if command else ("", prefix)
        same.setdefault(key, []).append(prefix)
    return [_completion_point(known, prefixes) for prefixes in same.values()]


def _completion_point(known: Paths, prefixes: list[tuple[str, ...]]) -> _CompletionPoint:
    command = known.get(prefixes[0])
    return _CompletionPoint(
        spellings=tuple("".join(f" {word}" for word in prefix) for prefix in prefixes),
        words=dict(_following_words(known, prefixes[0])),
        options=tuple(listed_options(command)) if command else (),
    )


def _following_words(known: Paths, prefix: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Return the possible next words, without aliases."""
    for word in subcommands(known, prefix):
        path = (*prefix, word)
        command = known.get(path)
        if command is None:
            yield word, "|".join(subcommands(known, path))
        elif command.name == " ".join(path):
            yield word, command.summary.rstrip(".")


def _bash_script(places: list[_CompletionPoint]) -> str:
    branches = (
        line
        for place in places
        for line in _case_branch(
            place,
            subcommands=_quote_word(" ".join(place.words)),
            options=_quote_word(_all_flags(place.options)),
            values="values='{}'",
            names="names='{}'",
        )
    )
    return _fill_template(
        _BASH,
        places,
        quoted=_quote_word,
        separator="|",
        globals_=_all_flags(GLOBAL_OPTIONS),
        branches=branches,
    )


def _zsh_script(places: list[_CompletionPoint]) -> str:
    branches = (
        line
        for place in places
        for line in _case_branch(
            place,
            subcommands=f"({_described_words(place.words.items())})",
            options=f"({_described_words(_explained_flags(place.options))})",
            values="values=({})",
            names='values=("${{(@f)$($words[1] {} 2>/dev/null)}}")',
        )
    )
    globals_ = _described_words(_explained_flags(GLOBAL_OPTIONS))
    return _fill_template(
        _ZSH, places, quoted=_quote_word, separator="|", globals_=globals_, branches=branches
    )


def _fish_script(places: list[_CompletionPoint]) -> str:
    branches = (line for place in places for line in _fish_lines(place))
    globals_ = "\n".join(_fish_option("", option) for option in GLOBAL_OPTIONS)
    return _fill_template(
        _FISH, places, quoted=_quoted_in_fish, separator=" ", globals_=globals_, branches=branches
    )


_WRITERS: Final[Mapping[str, Callable[[list[_CompletionPoint]], str]]] = {
    "bash": _bash_script,
    "zsh": _zsh_script,
    "fish": _fish_script,
}
SHELLS: Final = tuple(_WRITERS)


def _fill_template(
    template: str,
    places: list[_CompletionPoint],
    *,
    quoted: Callable[[str], str],
    separator: str,
    globals_: str,
    branches: Iterable[str],
) -> str:
    spellings = [quoted(each) for place in places for each in place.spellings if each]
    taking = [flag for each in GLOBAL_OPTIONS if not is_switch(each) for flag in option_flags(each)]
    filled = {
        "@PLACES@": separator.join(spellings),
        "@TAKING@": separator.join(taking),
        "@GLOBALS@": globals_,
        "@BRANCHES@": "\n".join(branches),
    }
    for mark, text in filled.items():
        template = template.replace(mark, text)
    return template


def _case_branch(
    place: _CompletionPoint, *, subcommands: str, options: str, values: str, names: str
) -> Iterator[str]:
    """Format a branch of the case over completion points, valid in bash and zsh."""
    yield f"        {'|'.join(map(_quote_word, place.spellings))})"
    if place.words:
        yield f"            subcommands={subcommands}"
    if place.options:
        yield f"            options={options}"
    chosen = [each for each in place.options if parameter_choices(each) or names_source(each)]
    if chosen:
        yield '            case "$previous" in'
        for each in chosen:
            source = names_source(each)
            allowed = " ".join(parameter_choices(each))
            filled = names.format(source) if source else values.format(allowed)
            yield f"                {'|'.join(option_flags(each))}) {filled} ;;"
        yield "            esac"
    yield "            ;;"


def _all_flags(parameters: Iterable[Parameter]) -> str:
    return " ".join(flag for each in parameters for flag in option_flags(each))


def _explained_flags(parameters: Iterable[Parameter]) -> Iterator[tuple[str, str]]:
    for parameter in parameters:
        for flag in option_flags(parameter):
            yield flag, parameter_help(parameter)


def _described_words(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(_quote_word(f"{word}:{about}") for word, about in pairs)


def _fish_lines(place: _CompletionPoint) -> Iterator[str]:
    there = " ".join(map(_quoted_in_fish, place.spellings))
    condition = f" -n {_quoted_in_fish(f'__debugger_at {there}')}"
    for word, about in place.words.items():
        yield f"complete -c debugger{condition} -f -a {word} -d {_quoted_in_fish(about)}"
    for option in place.options:
        yield _fish_option(condition, option)


def _fish_option(condition: str, option: Parameter) -> str:
    spelled = " ".join(
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        for flag in option_flags(option)
    )
    value = "" if is_switch(option) else " -r"
    if parameter_choices(option):
        value = f" -x -a {_quoted_in_fish(' '.join(parameter_choices(option)))}"
    if source := names_source(option):
        value = f" -x -a '(debugger {source} 2>/dev/null)'"
    about = _quoted_in_fish(parameter_help(option))
    return f"complete -c debugger{condition} {spelled}{value} -d {about}"


def _quote_word(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _quoted_in_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
