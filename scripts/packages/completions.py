"""Completions for bash, zsh and fish, from what commands.py reads."""

import re

DIRECTORIES, FILES, NOTHING = "directories", "files", "nothing"
FILE_VALUES = {"FILE", "PATH", "X.firn", "MEDIUM", "NEW", "LINK|X.firn", "LINK|X.firn DIR", "SOURCE"}


def kind(value, text):
    """What stands behind an option or in place of an argument."""
    value = re.sub(r" (TEXT|REQUIRED|\.\.\.)(?= |$)", "", value)
    if value == "DIR":
        return DIRECTORIES
    return FILES if value in FILE_VALUES or (value == "KEY" and "in this file" in text) else NOTHING


def argument_kind(command):
    """What stands where no option does. The name of an argument is its kind where it has no value."""
    kinds = [kind(name.partition(" ")[2], text) for name, text in command.positionals]
    kinds += [kind(name.partition(" ")[0], text) for name, text in command.positionals]
    return next((k for k in (FILES, DIRECTORIES) if k in kinds), NOTHING)


def argument_words(command):
    """The words that may stand where no option does, of arguments whose help names all of them."""
    values = [name.rpartition(" ")[2] for name, _ in command.positionals]
    return [word for value in values if re.fullmatch(r"[a-z]+(\|[a-z]+)+", value) for word in value.split("|")]


def names_contents(command):
    """Whether one of the daemon's contents is named there."""
    return any(name.endswith(" ID|NAME") for name, _ in command.positionals)


# The beginnings of the daemon's content ids. Names would need quotes, as others have chosen them.
CONTENTS = "{name} list 2>/dev/null | awk 'NR > 1 && length($1) == 8 {{ print $1 }}'"


def takes_commands(command, program):
    """The words that it completes as commands: its own, or for `help` those that it tells of."""
    if command.words[1:] == ["help"]:
        return [below.words[-1] for below in program.commands]
    return [below.words[-1] for below in command.commands]


# --- bash ---

BASH = """\
# Completion of {name} for bash, made from its --help by scripts/packages.
{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command={name} i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {paths}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  local words='' kind='' contents=''
  case "$command $previous" in
{values}
  esac
  if [[ -z $kind && $current == -* ]]; then
    kind=words
    case "$command" in
{options}
    esac
  elif [[ -z $kind ]]; then
    case "$command" in
{arguments}
    esac
  fi
  COMPREPLY=()
  if [[ -n $contents ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words $({contents})" -- "$current")
    [ ${{#COMPREPLY[@]}} -eq 0 ] || return 0
  fi
  case "$kind" in
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    directories) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
}}
complete -F {function} {name}
"""


def bash(program):
    values, options, arguments = [], [], []
    for command in program.all():
        at = " ".join(command.words)
        for option in command.options:
            if option.value:
                pattern = " | ".join(f'"{at} {name}"' for name in option.names)
                values.append(f"    {pattern}) {_bash_value(option)} ;;")
        names = " ".join(name for option in command.options for name in option.names)
        options.append(f'      "{at}") words="{names}" ;;')
        words = takes_commands(command, program) or argument_words(command)
        action = f'kind={"words" if words else argument_kind(command)} words="{" ".join(words)}"'
        arguments.append(f'      "{at}") {action}{" contents=yes" * names_contents(command)} ;;')
    paths = [f'"{" ".join(command.words)}"' for command in program.all()[1:]] or ["''"]
    return BASH.format(name=program.page, function="_" + program.page.replace("-", "_"),
                       paths=" | ".join(paths), values="\n".join(values), options="\n".join(options),
                       arguments="\n".join(arguments), contents=CONTENTS.format(name=program.page))


def _bash_value(option):
    if option.choices:
        return f'kind=words words="{" ".join(option.choices)}"'
    return f"kind={kind(option.value, option.text)}"


# --- zsh ---

ZSH_ACTIONS = {DIRECTORIES: "_files -/", FILES: "_files", NOTHING: " "}


def zsh(program):
    out = [f"#compdef {program.page}",
           f"# Completion of {program.page} for zsh, made from its --help by scripts/packages.", ""]
    out += [_zsh_function(command, program) for command in reversed(program.all())]
    return "\n".join([*out, f'{_zsh_name(program)} "$@"', ""])


def _zsh_name(command):
    return "_" + "_".join(command.words).replace("-", "_")


def _zsh_function(command, program):
    specs = [spec for option in command.options for spec in _zsh_option(option)]
    words = takes_commands(command, program)
    if not words:
        if names_contents(command):
            listed = _quoted(f'$({CONTENTS.format(name=program.page)})')
            specs.append(f"'1: :{{compadd -- {listed}}}'")
        others = argument_words(command)
        action = f"({' '.join(others)})" if others else ZSH_ACTIONS[argument_kind(command)]
        specs.append(f"'*: :{action}'")
        return _shell_function(_zsh_name(command), ["_arguments \\", *_continued(specs)])
    specs += ["'1: :->command'", "'*:: :->argument'"]
    told = {below.words[-1]: below.summary for below in program.all() if below.words[-1] in words}
    listed = [f"'{_zsh_text(f'{word}')}:{_quoted(told[word])}'" for word in words]
    lines = ["local curcontext=$curcontext state line", "local -a commands", "typeset -A opt_args",
             "_arguments -C \\", *_continued(specs), "case $state in", "  command)",
             f"    commands=({' '.join(listed)})", "    _describe command commands ;;"]
    if command.commands:
        lines += ["  argument)", "    case $line[1] in"]
        lines += [f"      {below.words[-1]}) {_zsh_name(below)} ;;" for below in command.commands]
        lines += ["    esac ;;"]
    return _shell_function(_zsh_name(command), [*lines, "esac"])


def _zsh_option(option):
    """A specification for _arguments for each name; one name shuts out the others."""
    value = ""
    if option.value:
        action = (f"({' '.join(option.choices)})" if option.choices else
                  ZSH_ACTIONS[kind(option.value, option.text)])
        value = f":{_zsh_text(option.value)}:{action}"
    others = "*" if option.repeatable else f"({' '.join(option.names)})"
    return [f"'{others}{name}[{_zsh_text(option.text)}]{value}'" for name in option.names]


def _zsh_text(text):
    return _quoted(re.sub(r"([\[\]:\\])", r"\\\1", text))


def _quoted(text):
    return text.replace("'", "'\\''")


def _continued(specs):
    return [f"  {spec}" + (" \\" if spec is not specs[-1] else "") for spec in specs]


def _shell_function(name, lines):
    return "\n".join([f"{name}() {{", *(f"  {line}" for line in lines), "}", ""])


# --- fish ---

FISH = """\
# Completion of {name} for fish, made from its --help by scripts/packages.
function __{function}_at --description 'Whether the command line is at this command'
    set -l at {name}
    for word in (commandline -opc)
        switch "$at $word"
            case {paths}
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
complete -c {name} -f
"""


def fish(program):
    function = program.page.replace("-", "_")
    paths = [f"'{' '.join(command.words)}'" for command in program.all()[1:]] or ["''"]
    out = [FISH.format(name=program.page, function=function, paths=" ".join(paths)).rstrip()]
    for command in program.all():
        start = f"complete -c {program.page} -n '__{function}_at {' '.join(command.words)}'"
        told = {below.words[-1]: below.summary for below in program.all()}
        out += [f"{start} -a {word} -d {_fish_text(told[word])}" for word in takes_commands(command, program)]
        if names_contents(command):
            out.append(f"{start} -a {_fish_text('(' + CONTENTS.format(name=program.page) + ')')}")
        if argument_words(command):
            out.append(f"{start} -a '{' '.join(argument_words(command))}'")
        if not takes_commands(command, program) and argument_kind(command) != NOTHING:
            out.append(f"{start} -F")
        out += [f"{start} {_fish_option(option)}" for option in command.options]
    return "\n".join([*out, ""])


def _fish_option(option):
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                     for name in option.names)
    value = ""
    if option.choices:
        value = f" -x -a '{' '.join(option.choices)}'"
    elif option.value:
        value = {FILES: " -r -F", DIRECTORIES: " -x -a '(__fish_complete_directories)'",
                 NOTHING: " -x"}[kind(option.value, option.text)]
    return f"{names}{value} -d {_fish_text(option.text)}"


def _fish_text(text):
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def scripts(program):
    """{path below /usr/share: text} of all three."""
    name = program.page
    return {f"bash-completion/completions/{name}": bash(program),
            f"zsh/vendor-completions/_{name}": zsh(program),
            f"fish/vendor_completions.d/{name}.fish": fish(program)}
