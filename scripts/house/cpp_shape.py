"""What stands in C++ files that clang-format has laid out: classes with their members, functions with
their lengths. Reads layout rather than grammar, so it needs no compiler; macros are not followed."""

import re
from typing import NamedTuple

CLASS = re.compile(r"^(?:template\s*<.*>\s*)?(?:typedef\s+)?(class|struct|union)\s+"
                   r"(?:alignas\s*\([^)]*\)\s*)?(?:\[\[[^]]*\]\]\s*)?([\w:]+)(?:\s+final)?\s*(?::[^:].*)?$",
                   re.DOTALL)
NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\b\s*([\w:]*)$")
NO_MEMBER = re.compile(r"^(using|friend|static_assert|typedef|enum|template\s*<[^;]*>\s*friend|__\w+__)\b")
# What opens a block inside a function, or no function at all.
NO_FUNCTION = re.compile(
    r"^(if|for|while|switch|else|do|try|catch|return|class|struct|union|enum|namespace|extern\s*\"|case|default)\b")


UNNAMED = "(unnamed)"  # in place of a name, for namespaces without one


class Class(NamedTuple):
    name: str  # with namespaces and outer classes
    line: int
    data: int
    functions: int


class Function(NamedTuple):
    name: str  # as written where it is defined: Outer::name, or name
    owner: str  # the class it is a member of, with namespaces, or ""
    line: int
    lines: int


def without_brackets(text, opening, closing):
    """`text` without what stands between these brackets, at any depth."""
    kept, depth = [], 0
    for character in text:
        if character == opening:
            depth += 1
        elif character == closing and depth > 0:
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def plain(statement):
    """A declaration without attributes and template arguments, spaces made single."""
    statement = re.sub(r"\[\[.*?\]\]", " ", statement, flags=re.DOTALL)
    statement = re.sub(r"operator\s*(<=>|<<=?|>>=?|->\*?|[-+*/%^&|!=]=|<=?|>=?|=)", "operator_", statement)
    statement = statement.replace("->", " ").replace("<<", " ").replace(">>", "> >")
    return " ".join(without_brackets(statement, "<", ">").split())


def is_function(statement):
    """Whether a declaration at class or namespace level declares a function."""
    head = re.split(r"(?<![=!<>])=(?!=)|\{", plain(statement))[0]
    return re.search(r"[\w\]*&>]\s*\(|operator\s*\(?\S*\)?\s*\(", head) is not None and "(*" not in head


def count_data(statement):
    """How many data members a declaration declares: none for constants of the class."""
    text = plain(statement)
    if re.match(r"(inline |static )*(static|constexpr)\b", text):
        return 0
    for pair in ("()", "{}", "[]"):
        text = without_brackets(text, *pair)
    return text.count(",") + 1


class Scope:
    def __init__(self, kind, name, line):
        self.kind, self.name, self.line = kind, name, line  # kind: namespace, class, function, other
        self.data = self.functions = 0  # members, of a class
        self.resume = None  # of a value: where the declaration begins that goes on after it


class Reader:
    def __init__(self, code):
        self.code = code  # comments and literals blanked, lines kept
        self.classes, self.functions = [], []
        self.scopes = []

    def outer(self, upto=None):
        return "::".join(s.name for s in self.scopes[:upto]
                         if s.kind in ("namespace", "class") and s.name)

    def read(self):
        start, line, begun, round_depth = 0, 1, 1, 0
        preprocessor = False
        for at, character in enumerate(self.code):
            if character == "\n":
                line += 1
                if preprocessor and not self.code[:at].endswith("\\"):
                    preprocessor, start = False, at + 1
                continue
            if preprocessor:
                continue
            if character == "#" and not self.code[start:at].strip():
                preprocessor = True
                continue
            if not self.code[start:at].strip() and not character.isspace():
                begun = line
            if character == "(":
                round_depth += 1
            elif character == ")":
                round_depth -= 1
            elif round_depth > 0:
                continue
            elif character == ":" and re.fullmatch(r"\s*(public|private|protected)\s*",
                                                   self.code[start:at]):
                start = at + 1
            elif character == ";":
                self.declared(self.code[start:at].strip())
                start = at + 1
            elif character == "{":
                kind, name = self.opened(self.code[start:at].strip())
                self.scopes.append(Scope(kind, name, begun))
                if kind == "value":
                    self.scopes[-1].resume = start
                else:
                    start = at + 1
            elif character == "}" and self.scopes:
                scope = self.scopes.pop()
                if scope.kind == "value":
                    start = scope.resume  # the declaration goes on to its semicolon
                else:
                    self.closed(scope, line)
                    start = at + 1
        return self

    def inside(self):
        return self.scopes[-1].kind if self.scopes else "namespace"

    def opened(self, statement):
        """What a brace opens after this text."""
        where = self.inside()
        if where in ("function", "value", "other"):
            return "other" if where == "function" else where, ""
        if match := NAMESPACE.match(statement):
            return "namespace", match.group(1) or UNNAMED
        if match := CLASS.match(statement):
            return "class", match.group(2)
        if re.match(r"(typedef\s+)?enum\b", statement) or statement.startswith("extern"):
            return ("namespace", "") if statement.startswith("extern") else ("other", "")
        if statement.startswith("TEST_SUITE"):
            return "namespace", ""
        if is_function(statement) and not NO_FUNCTION.match(plain(statement)):
            if self.is_member_initialiser(statement):
                return "value", ""
            return "function", self.function_name(statement)
        return "value", ""

    @staticmethod
    def is_member_initialiser(statement):
        """Whether the brace belongs to `: member{...}` of a constructor, not to its body."""
        initialisers = re.search(r"\)\s*(noexcept\s*)?:(?!:)(.*)$", statement, re.DOTALL)
        return initialisers is not None and re.search(r"[\w>]\s*$", initialisers.group(2)) is not None

    @staticmethod
    def function_name(statement):
        head = plain(statement)
        match = re.search(r"((?:\w+\s*::\s*)*~?(?:operator\s*\S+|\w+))\s*\(", head)
        return re.sub(r"\s", "", match.group(1)) if match else head[:40]

    def declared(self, statement):
        if self.inside() != "class" or not statement or NO_MEMBER.match(statement):
            return
        if re.match(r"(class|struct|union)\s+\w+$", statement):
            return  # declared in advance
        scope = self.scopes[-1]
        if is_function(statement):
            if not re.search(r"=\s*(delete|default)$", statement):
                scope.functions += 1
        else:
            scope.data += count_data(statement)

    def closed(self, scope, line):
        if scope.kind == "class":
            name = "::".join(filter(None, (self.outer(), scope.name)))
            self.classes.append(Class(name, scope.line, scope.data, scope.functions))
        elif scope.kind == "function":
            owner = ""
            if self.inside() == "class":
                self.scopes[-1].functions += 1
                owner = self.outer()
            elif "::" in scope.name:
                owner = "::".join(filter(None, (self.outer(), scope.name.rpartition("::")[0])))
            self.functions.append(Function(scope.name, owner, scope.line, line - scope.line + 1))


def read(code):
    """Classes and functions of C++ text whose comments and literals are blanked."""
    return Reader(code).read()
