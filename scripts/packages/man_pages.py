"""Man pages, in roff with the macros of man(7), from what commands.py reads."""

import re
import textwrap

LINE_MAX = 70  # characters before escapes: linters of man pages want at most 80


def page(command, parent, version, date):
    """The page of one command: roff. `parent` is the command above it, or None."""
    out = [f'.TH {_quoted(command.page.upper())} 1 "{date}" {_quoted(f"Firn {version}")} "Firn"',
           ".SH NAME", f"{_text(command.page)} \\- {_text(command.summary.rstrip('.'))}",
           ".SH SYNOPSIS", _synopsis(command.usage, len(command.words)),
           ".SH DESCRIPTION", _filled(_sentence(command.summary))]
    out += _entries("ARGUMENTS", [(_value(name), _sentence(text)) for name, text in _arguments(command)])
    out += _entries("COMMANDS", [(f"\\fB{_text(below.words[-1])}\\fR", f"{_sentence(below.summary)} See \\fB"
                                  f"{below.page}\\fR(1).") for below in command.commands])
    out += _options(command.options)
    out += _entries("EXIT STATUS", [(f"\\fB{code}\\fR", _sentence(text))
                                    for code, text in command.exit_codes])
    notes = [note for note in command.notes if not note.startswith("Exit codes: ")]
    inline = [note.removeprefix("Exit codes: ") for note in command.notes if note not in notes]
    for title, paragraphs in (("EXIT STATUS", inline), ("NOTES", notes)):
        if paragraphs:
            out += [f".SH {title}", "\n.PP\n".join(map(_filled, paragraphs))]
    out += _see_also(command, parent)
    return "\n".join(out) + "\n"


def pages(program, version, date):
    """{file name: roff} for a program's command and all below it."""
    made = {f"{program.page}.1": page(program, None, version, date)}
    for parent in program.all():
        for command in parent.commands:
            made[f"{command.page}.1"] = page(command, parent, version, date)
    return made


def _text(text):
    """Words as roff: a minus that can be copied into a shell, no line that roff takes for a request."""
    text = text.replace("\\fB", "\0B").replace("\\fR", "\0R").replace("\\fI", "\0I")
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return text.replace("\0", "\\f")


def _filled(text):
    return _text(textwrap.fill(text, LINE_MAX, break_long_words=False, break_on_hyphens=False))


def _quoted(text):
    return '"' + _text(text).replace('"', '\\(dq') + '"'


def _sentence(text):
    """A help text begins small and has no full stop at its end."""
    text = text[:1].upper() + text[1:] if re.match(r"[a-z]+[ ,;:]", text) else text
    return text if not text or text.endswith(".") else text + "."


def _synopsis(usage, command_words):
    words = re.sub(r"\(\d+x\)", "...", usage).split()
    bold = " ".join(words[:command_words])
    rest = " ".join(re.sub(r"[A-Z]+", lambda m: f"\\fI{m.group()}\\fR", word)
                    for word in words[command_words:])
    return f"\\fB{_text(bold)}\\fR {_text(rest)}".rstrip()


def _arguments(command):
    """Positional arguments, without the words that only a parser of command lines needs."""
    return [(re.sub(r" (TEXT|REQUIRED)\b", "", name), text) for name, text in command.positionals]


def _value(text):
    return f"\\fI{_text(text)}\\fR"


def _entries(title, entries):
    if not entries:
        return []
    return [f".SH {title}", *(line for name, text in entries for line in (".TP", name, _filled(text)))]


def _options(options):
    out, group = [".SH OPTIONS"], "Options"
    for option in options:
        if option.group != group:
            group = option.group
            out.append(f".SS {_text(group)}")
        names = ", ".join(f"\\fB{_text(name)}\\fR" for name in option.names)
        notes = option.notes + ([f"default: {option.default}"] if option.default else [])
        said = _sentence(option.text)
        out += [".TP", names + (f" {_value(option.value)}" if option.value else ""),
                _filled(f"{said} ({'; '.join(notes)})" if notes else said)]
    return out


def _see_also(command, parent):
    others = ([parent] if parent else []) + command.commands
    names = sorted({other.page for other in others})
    if command.words == ["firn"]:
        names.append("firn-tracker")
    elif not names:
        names = ["firn"]
    return [".SH SEE ALSO", ",\n".join(f"\\fB{_text(name)}\\fR(1)" for name in names)]
