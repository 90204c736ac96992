"""Measure how far a reader has to walk, and how the comments read.

    script/check report

A chain counts the functions of the project from a view to the end of its rule, followed
by name: through imports, `self`, classes and decorated rules. A start that is missing or
abstract is an error.
"""

import ast
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from devstack.environment import ROOT

APPS = ("accounts", "administration", "billing", "board", "core", "ledger")
PRODUCT = (*APPS, "card_alerts", "config")
_NOTIFICATIONS = "ledger.notifications.views"
FLOWS = {
    "entry": "ledger.entries.views:SingleEntryViewSet.create",
    "login": "accounts.login.views:LoginView.post",
    "notification": f"{_NOTIFICATIONS}:CardNotificationViewSet.process_notification",
    "post": "board.views.posts:PostViewSet.create",
    "purchase": "billing.views:VerifyPurchaseView.post",
}
FRAGMENT = re.compile(
    r"(Of|As|Those|That|None (for|if|without)|By|What|Not|Else|Also|Its|Again)\b"
)
PRONOUN = re.compile(
    r"\b(that of|those of|the ones?|the former|the latter"
    r"|what (is|was|are|were|has|had))\b",
    re.IGNORECASE,
)
MAX_DEPTH = 6


class StartError(Exception):
    """The start of a chain is missing or abstract."""


def list_files(packages: tuple[str, ...]) -> Iterator[Path]:
    """Yield the Python files of the packages, without migrations."""
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


class Code:
    """Functions, classes and imports; a key is `module:function` or `module:A.b`."""

    def __init__(self) -> None:
        self.modules: dict[str, ast.Module] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.imports: dict[str, dict[str, tuple[str, str]]] = {}
        for path in list_files(APPS):
            parts = path.relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts).removesuffix(".__init__")
            tree = self.modules[module] = ast.parse(path.read_text())
            self.read(module, tree.body)
            self.imports[module] = {
                alias.asname or alias.name: (node.module, alias.name)
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and node.module and not node.level
                for alias in node.names
            }

    def read(self, module: str, nodes: list[ast.stmt], prefix: str = "") -> None:
        """Note the functions and classes of a module, or the methods of a class."""
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                self.functions[f"{module}:{prefix}{node.name}"] = node
            elif isinstance(node, ast.ClassDef) and not prefix:
                self.classes[f"{module}:{node.name}"] = node
                self.read(module, node.body, f"{node.name}.")

    def resolve(self, module: str, name: str, depth: int = 0) -> str:
        """Return the key of a name in a module; "module:" is a module, "" unknown."""
        key = f"{module}:{name}"
        if key in self.functions or key in self.classes:
            return key
        if depth > MAX_DEPTH or name not in self.imports.get(module, {}):
            return ""
        base, original = self.imports[module][name]
        if f"{base}.{original}" in self.modules:
            return f"{base}.{original}:"
        return self.resolve(base, original, depth + 1)

    def find_method(self, owner: str, name: str, depth: int = 0) -> str:
        """Return the key of a method of a class or of one of its bases."""
        if f"{owner}.{name}" in self.functions:
            return f"{owner}.{name}"
        if depth > MAX_DEPTH or owner not in self.classes:
            return ""
        for base in self.classes[owner].bases:
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name):
                parent = self.resolve(owner.partition(":")[0], base.id)
                if found := self.find_method(parent, name, depth + 1):
                    return found
        return ""

    def list_callees(self, key: str) -> list[str]:
        nodes = ast.walk(self.functions[key])
        found = (
            self.find_callee(key, n.func) for n in nodes if isinstance(n, ast.Call)
        )
        return list(dict.fromkeys(each for each in found if each in self.functions))

    def find_callee(self, key: str, called: ast.expr) -> str:
        """Return the function that a call in the function of this key enters."""
        module, _, path = key.partition(":")
        match called:
            case ast.Name(id=name):
                target = self.resolve(module, name)
                if target in self.functions:
                    return target
                names = "__init__", "__call__"
                return next(
                    filter(None, (self.find_method(target, n) for n in names)), ""
                )
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self.find_method(f"{module}:{path.split('.')[0]}", name)
            case ast.Attribute(
                value=ast.Name(id=owner) | ast.Call(func=ast.Name(id=owner)), attr=name
            ):
                base = self.resolve(module, owner)
                if base.endswith(":"):
                    return self.resolve(base[:-1], name)
                # `create_entry.within(ledger, …)` calls a decorated rule.
                return base if base in self.functions else self.find_method(base, name)
        return ""

    def find_longest_chain(self, start: str) -> list[str]:
        owner, _, method = start.rpartition(".")
        key = start if start in self.functions else self.find_method(owner, method)
        node = self.functions.get(key)
        if node is None or "NotImplementedError" in ast.dump(node.body[-1]):
            raise StartError(f"{start}: missing or abstract")
        known: dict[str, list[str]] = {}

        def walk(current: str, above: frozenset[str]) -> list[str]:
            if current not in known:
                chains = [
                    [current, *walk(callee, above | {callee})]
                    for callee in self.list_callees(current)
                    if callee not in above
                ]
                known[current] = max([[current], *chains], key=len)
            return known[current]

        return walk(key, frozenset({key}))


def list_prose(path: Path) -> Iterator[str]:
    """Yield the text of each docstring and block of comments."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""
    blocks: dict[int, list[str]] = defaultdict(list)
    first = last = -1
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
                line = token.start[0]
                first, last = (first if line == last + 1 else line), line
                blocks[first].append(token.string.lstrip("# "))
    yield from map(" ".join, blocks.values())


def report_chains() -> Iterator[str]:
    code = Code()
    chains = {flow: code.find_longest_chain(start) for flow, start in FLOWS.items()}
    for flow, chain in chains.items():
        names = " > ".join(key.partition(":")[2] for key in chain)
        yield f"{len(chain):7}  {flow}: {names}"
    lengths = [len(chain) for chain in chains.values()]
    yield f"{sum(lengths) / len(lengths):7.1f}  mean; longest {max(lengths)}"


def report_words() -> Iterator[str]:
    files = list(list_files(PRODUCT))
    texts = [text for path in files for text in list_prose(path) if text]
    fragments = sum(bool(FRAGMENT.match(text)) for text in texts)
    words = sum(len(text.split()) for text in texts)
    pronouns = sum(len(PRONOUN.findall(text)) for text in texts)
    lines = sum(path.read_text().count("\n") for path in files)
    yield f"{fragments:7}  of {len(texts)} begin with a fragment"
    yield f"{1000 * pronouns / words:7.1f}  pronoun constructions per 1,000 words"
    yield f"{100 * words / lines:7.0f}  words per 100 lines"


def main() -> None:
    print("Longest call chain, from the view", *report_chains(), sep="\n")
    print("\nComments and docstrings", *report_words(), sep="\n")


if __name__ == "__main__":
    main()
