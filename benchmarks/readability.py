"""`python -m benchmarks.readability [ROOT]`: measure how readable the code is.

Print the longest call chains from a view to the end of its rule, the functions that are
used once, comments and docstrings, and the import graph. The code is parsed, never run,
so no settings are needed. This is a report, not a gate.

A chain counts the functions and methods of the project that are entered, the view's
method being the first. Calls are followed through imports, `self`, inheritance, objects
whose class follows from an annotation or an assignment, and functions passed as
arguments. Lambdas and nested functions belong to the function around them. Not counted
are properties, managers, generated constructors, those of exceptions, serializers and
fields, and what a `Protocol` or a setting stands for. A chain ends with the kernel's
function that it enters, and where a function would be entered again.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

# Each flow with the dotted paths of the view methods (or tasks) that begin it.
FLOWS: dict[str, tuple[str, ...]] = {
    "purchases": ("billing.views.VerifyPurchaseView.post",),
    "entries": (
        "ledger.views.entries.EntryViewSet.perform_create",
        "ledger.views.entries.EntryViewSet.perform_update",
    ),
    "card notification intake": (
        "ledger.views.card_notifications.CardNotificationViewSet.process_notification",
    ),
    "sessions": (
        "accounts.views.sessions.LoginView.post",
        "accounts.authentication.SessionAuthentication.authenticate",
    ),
    "exchange rate lookup": ("ledger.views.rates.FxRateView.get",),
    "identity login": ("accounts.views.sessions.IdpLoginView.post",),
}
# The mean of the first flows is the one that is compared between versions.
COMPARED_FLOWS = 5
# Calls into these rooms count and are not followed, as those into a library.
KERNEL = frozenset({"card_alerts", "config", "core"})
# Imports run from a room to rooms on later levels; other rooms are not judged.
LEVELS = (
    ("config",),
    ("administration",),
    ("billing", "board", "ledger"),
    ("accounts",),
    ("core", "card_alerts"),
)

NOT_PRODUCT = re.compile(r"(tests|benchmarks)\b|.*\bmigrations\b")
REGISTERING = r"task|fixture|receiver|register|api_view"
DOTTED_PATH = re.compile(r"[a-z_]\w*(\.\w+)+")
HEADLESS = re.compile(r"(What|Whether|Who|How|Where|Which|When|Why)\b")
DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|ruff:|mypy:|pragma|!)")
CONSTRUCTORS = ("__init__", "__post_init__")
SILENT_BASES = re.compile(r"Exception|Error\b|Serializer|Field\b")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Module:
    """A file: its definitions and objects, and the dotted targets of its imports."""

    name: str
    text: str
    tree: ast.Module
    members: dict[str, "Function | Class | Instance"] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)

    @property
    def room(self) -> str:
        return self.name.partition(".")[0]


@dataclass(eq=False)
class Function:
    """A function of a module, or a method of a class."""

    name: str
    module: Module
    node: FunctionNode
    owner: "Class | None" = None

    @property
    def is_property(self) -> bool:
        return self.is_decorated("property")

    def is_decorated(self, pattern: str) -> bool:
        decorators = map(ast.unparse, self.node.decorator_list)
        return any(re.search(pattern, each) for each in decorators)


@dataclass(eq=False)
class Class:
    """A class with its methods, and its attributes where their class is known."""

    name: str
    module: Module
    node: ast.ClassDef
    members: dict[str, "Function | Instance"] = field(default_factory=dict)


@dataclass(frozen=True)
class Instance:
    """An object of a class, or a collection of such objects."""

    of: Class


Value = Module | Function | Class | Instance | None


@dataclass(frozen=True)
class Reference:
    """A place that names a function; `via` is "self", "super" or empty."""

    module: Module
    source: Function | None
    target: Function
    receiver: Class | None
    via: str


class Project:
    """All modules below a folder, and the references to their functions."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[str, Module] = {}
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if not any(part.startswith(".") for part in parts):
                name = ".".join(part.replace(".", "_") for part in parts)
                self._add(path, name.removesuffix(".__init__"))
        # The second pass can follow the attributes that the first one has learned.
        for _ in range(2):
            self.references: list[Reference] = []
            for module in self.modules.values():
                Reader(self, module).visit(module.tree)

    def _add(self, path: Path, name: str) -> None:
        text = path.read_text()
        module = self.modules[name] = Module(name, text, ast.parse(text))
        for node in ast.walk(module.tree):
            module.imports |= dict(list_imports(node))
        for node in module.tree.body:
            if isinstance(node, FunctionNode):
                function = Function(f"{name}.{node.name}", module, node)
                module.members[node.name] = function
            elif isinstance(node, ast.ClassDef):
                cls = Class(f"{name}.{node.name}", module, node)
                module.members[node.name] = cls
                for each in node.body:
                    if isinstance(each, FunctionNode):
                        method = Function(f"{cls.name}.{each.name}", module, each, cls)
                        cls.members.setdefault(each.name, method)

    @property
    def packages(self) -> set[str]:
        """The names of the top-level folders."""
        return {name.partition(".")[0] for name in self.modules if "." in name}

    @property
    def product(self) -> list[Module]:
        """The modules that are neither tests nor benchmarks nor migrations."""
        modules = self.modules.values()
        return [each for each in modules if not NOT_PRODUCT.match(each.name)]

    def find(self, path: str) -> Value:
        """Return what a dotted path names, through re-exports."""
        if path in self.modules:
            return self.modules[path]
        parent, _, name = path.rpartition(".")
        return self.get_member(self.find(parent), name) if parent else None

    def get_member(self, value: Value, name: str) -> Value:
        """Return an attribute of a module, a class or an object."""
        if isinstance(value, Module):
            found = value.members.get(name) or self.find(value.imports.get(name, ""))
            return found or self.modules.get(f"{value.name}.{name}")
        cls = value.of if isinstance(value, Instance) else value
        for each in self.list_lineage(cls) if isinstance(cls, Class) else ():
            if name in each.members:
                return each.members[name]
        return None

    def get_global(self, module: Module, node: ast.AST) -> Value:
        """Return what a name, dotted or not, stands for at the top of a module."""
        if isinstance(node, ast.Attribute):
            return self.get_member(self.get_global(module, node.value), node.attr)
        return self.get_member(module, node.id) if isinstance(node, ast.Name) else None

    def list_lineage(self, cls: Class) -> list[Class]:
        """Return the class and its bases in the project, nearest first."""
        bases = [self.get_global(cls.module, node) for node in cls.node.bases]
        above = [self.list_lineage(base) for base in bases if isinstance(base, Class)]
        return list(dict.fromkeys([cls, *(each for line in above for each in line)]))

    def read_annotation(self, module: Module, node: ast.expr | None) -> Value:
        """Return an object of the first class of the project that is named."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        for each in ast.walk(node) if node else ():
            if isinstance(each, ast.Name) and each.id in ("Callable", "type"):
                return None
            found = self.get_global(module, each)
            if isinstance(found, Class):
                return Instance(found)
        return None

    def is_step(self, target: Function) -> bool:
        """Return whether entering the function counts in a chain."""
        if target.owner is None or target.is_property:
            return target.owner is None
        if target.node.name in CONSTRUCTORS:
            lineage = self.list_lineage(target.owner)
            bases = [base for cls in lineage for base in cls.node.bases]
            return not SILENT_BASES.search(" ".join(map(ast.unparse, bases)))
        return "Protocol" not in map(ast.unparse, target.owner.node.bases)


def list_imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the local name and the dotted target of each name that is imported."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield alias.asname or first, alias.name if alias.asname else first
    elif isinstance(node, ast.ImportFrom) and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


class Reader(ast.NodeVisitor):
    """Note each reference that one module makes to a function of the project."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project, self.module = project, module
        # Local names and what they stand for; None is something unknown.
        self.scopes: list[dict[str, Value]] = []
        self.function: Function | None = None
        self.cls: Class | None = None

    def note(self, target: Value, receiver: Class | None = None, via: str = "") -> None:
        if isinstance(target, Function):
            reference = Reference(self.module, self.function, target, receiver, via)
            self.project.references.append(reference)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer, scopes = self.cls, self.scopes
        found = self.module.members.get(node.name)
        self.cls, self.scopes = found if isinstance(found, Class) else None, [{}]
        self.generic_visit(node)
        if self.cls:
            objects = self.scopes[0].items()
            self.cls.members |= {k: v for k, v in objects if isinstance(v, Instance)}
        self.cls, self.scopes = outer, scopes

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        outer, scopes = self.function, self.scopes
        for each in [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]:
            if each:
                self.visit(each)
        # A nested function is read as a part of the outermost one.
        if outer is None:
            found = self.project.get_member(self.cls or self.module, node.name)
            self.function = found if isinstance(found, Function) else None
        else:
            scopes[-1][node.name] = None
        self.scopes = [*(scopes if outer else ()), self._read_arguments(node)]
        for statement in node.body:
            self.visit(statement)
        self.function, self.scopes = outer, scopes

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _read_arguments(self, node: FunctionNode) -> dict[str, Value]:
        args = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        scope = {
            each.arg: self.project.read_annotation(self.module, each.annotation)
            for each in args
        }
        function = self.function
        if args and self.cls and function and function.node is node:
            if function.is_decorated("classmethod"):
                scope[args[0].arg] = self.cls
            elif not function.is_decorated("staticmethod"):
                scope[args[0].arg] = Instance(self.cls)
        return scope

    def bind(self, target: ast.expr | None, value: Value) -> None:
        """Remember what is assigned to a name, an attribute or several of them."""
        if isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value)
            if isinstance(owner, Instance) and isinstance(value, Instance):
                owner.of.members.setdefault(target.attr, value)
        elif isinstance(target, ast.Name) and self.scopes:
            scope = self.scopes[-1]
            scope[target.id] = scope.get(target.id) or value
        elif isinstance(target, ast.Name) and isinstance(value, Instance):
            self.module.members.setdefault(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self.bind(each, None)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for name, value in zip(target.elts, node.value.elts, strict=False):
                    self.bind(name, self.evaluate(value))
            else:
                self.bind(target, self.evaluate(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        found = self.project.read_annotation(self.module, node.annotation)
        self.bind(node.target, found or self.evaluate(node.value))
        if node.value:
            self.visit(node.value)

    def visit_NamedExpr(
        self, node: ast.NamedExpr | ast.For | ast.withitem | ast.comprehension
    ) -> None:
        parts = dict(ast.iter_fields(node))
        source = parts.get("value") or parts.get("iter") or parts.get("context_expr")
        target = parts.get("target") or parts.get("optional_vars")
        self.bind(target, self.evaluate(source))
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.expr) -> None:
        children = ast.iter_child_nodes(node)
        for each in sorted(children, key=lambda each: isinstance(each, ast.expr)):
            self.visit(each)

    visit_withitem = visit_comprehension = visit_NamedExpr
    visit_For = visit_NamedExpr  # noqa: N815
    visit_SetComp = visit_DictComp = visit_ListComp  # noqa: N815
    visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.note(self.evaluate(node))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.visit(node.value)
        owner = self.evaluate(node.value)
        receiver = owner.of if isinstance(owner, Instance) else None
        via = ""
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            via = "self"
        elif isinstance(node.value, ast.Call) and isinstance(owner, Class):
            via = "super"
        self.note(self.project.get_member(owner, node.attr), receiver, via)

    def visit_Call(self, node: ast.Call) -> None:
        called = self.evaluate(node.func)
        if isinstance(called, Class):
            for name in CONSTRUCTORS:
                self.note(self.project.get_member(called, name), called)
        self.generic_visit(node)

    def evaluate(self, node: ast.AST | None) -> Value:
        """Return what an expression stands for, as far as its text tells it."""
        match node:
            case ast.Name(id=name):
                scopes = [scope for scope in self.scopes if name in scope]
                at_top = self.project.get_member(self.module, name)
                return scopes[-1][name] if scopes else at_top
            case ast.Attribute(value=value, attr=name):
                found = self.project.get_member(self.evaluate(value), name)
                is_property = isinstance(found, Function) and found.is_property
                return self._get_result(found) if is_property else found
            case ast.Call(func=ast.Name(id="super")) if self.cls:
                return next(iter(self.project.list_lineage(self.cls)[1:]), None)
            case ast.Call(func=func):
                return self._get_result(self.evaluate(func))
            case ast.Await(value=value) | ast.Subscript(value=value):
                return self.evaluate(value)
            case ast.BoolOp(values=parts):
                return next((v for v in map(self.evaluate, parts) if v), None)
        return None

    def _get_result(self, called: Value) -> Value:
        if isinstance(called, Function):
            return self.project.read_annotation(called.module, called.node.returns)
        return Instance(called) if isinstance(called, Class) else None


class CallGraph:
    """The calls between functions, and the longest chains of them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.calls: dict[Function, list[Reference]] = defaultdict(list)
        for each in project.references:
            if each.source and project.is_step(each.target):
                self.calls[each.source].append(each)

    def find_longest(self, path: str) -> list[str]:
        """Return the names on the longest chain that begins at a dotted path."""
        start = self.project.find(path)
        cls = self.project.find(path.rpartition(".")[0])
        if not isinstance(start, Function):
            return []
        receiver = cls if isinstance(cls, Class) else None
        return self._follow(start, receiver, {}, frozenset({start}))

    def _follow(
        self,
        function: Function,
        receiver: Class | None,
        known: dict[tuple[Function, Class | None], list[str]],
        above: frozenset[Function],
    ) -> list[str]:
        key = (function, receiver)
        if key not in known:
            longest: list[str] = []
            is_end = function.module.room in KERNEL
            for call in () if is_end else self.calls[function]:
                cls = receiver if call.via else call.receiver
                target = self._dispatch(call, cls)
                if target not in above:
                    chain = self._follow(target, cls, known, above | {target})
                    longest = max(longest, chain, key=len)
            known[key] = [function.name, *longest]
        return known[key]

    def _dispatch(self, call: Reference, receiver: Class | None) -> Function:
        """Return the method that runs: of `self`, that of the receiver's own class."""
        found = self.project.get_member(receiver, call.target.node.name)
        if call.via == "self" and isinstance(found, Function):
            return found
        return call.target


def report_chains(project: Project) -> None:
    """Print the longest chain of each flow, and the mean length."""
    print("## Longest call chain, from the view to the end of the rule")
    graph, lengths = CallGraph(project), []
    for flow, paths in FLOWS.items():
        chains = {path: graph.find_longest(path) for path in paths}
        missing = [f"NOT FOUND: {path}" for path in paths if not chains[path]]
        longest = max(chains.values(), key=len)
        lengths.append(len(longest))
        print(f"{len(longest):3}  {flow}", *longest, *missing, sep="\n       ")
    for count in (COMPARED_FLOWS, len(FLOWS)):
        found = [length for length in lengths[:count] if length]
        mean = sum(found) / max(1, len(found))
        print(f"mean of the first {count} flows ({len(found)} found): {mean:.1f}")


def report_used_once(project: Project) -> None:
    """Print the share of functions that one place names, tests not counted.

    The share in their own module is the one that is compared between versions: helpers
    that were cut out of one function.
    """
    users: dict[Function, list[Module]] = defaultdict(list)
    for each in project.references:
        if each.module.room != "tests":
            users[each.target].append(each.module)
    members = [each for m in project.product for each in m.members.values()]
    functions = [each for each in members if isinstance(each, Function)]
    classes = [each for each in members if isinstance(each, Class)]
    own = [each for cls in classes for each in cls.members.values()]
    methods = [each for each in own if isinstance(each, Function)]
    registered = find_registered(project)
    once = [f for f in functions if len(users[f]) == 1 and f not in registered]
    local = [f for f in once if users[f][0] is f.module]
    total = len(functions) + len(methods)
    print("\n## Module functions that are used exactly once")
    print(f"{len(local)} in their own module: {len(local) / total:.1%} of all", end=" ")
    print(f"{total} functions and methods")
    print(f"{len(once)} anywhere: {len(once) / len(functions):.1%} of the", end=" ")
    print(f"{len(functions)} module functions")


def find_registered(project: Project) -> set[Value]:
    """Return the functions that Django, Celery or a setting calls, not a caller."""
    found: set[Value] = set()
    for module in project.product:
        for node in ast.walk(module.tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and DOTTED_PATH.fullmatch(text):
                found.add(project.find(text))
        for member in module.members.values():
            if isinstance(member, Function) and member.is_decorated(REGISTERING):
                found.add(member)
    return found


def report_words(project: Project) -> None:
    """Print the figures of comments and docstrings."""
    comments = code = 0
    texts: list[str] = []
    attributes: list[str] = []
    for module in project.product:
        comments += count_comments(module.text)
        code += sum(bool(line.strip()) for line in module.text.splitlines())
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Module | ast.ClassDef | FunctionNode):
                texts.append(ast.get_docstring(node) or "")
                attributes += list_attribute_strings(node.body)
    openings = map(HEADLESS.match, [*texts, *attributes])
    words = Counter(opening.group() for opening in openings if opening)
    print("\n## Comments and docstrings")
    print(f"{100 * comments / code:.2f} lines with only a # comment per 100 code lines")
    by_word = ", ".join(f"{word} {count}" for word, count in words.most_common())
    print(f"{words.total()} docstrings that begin headless: {by_word}")
    print(f"{len(attributes)} bare strings below a constant or an attribute")


def report_lines(project: Project) -> None:
    """Print the lines of Python in each folder at the top."""
    lines: Counter[str] = Counter()
    for module in project.modules.values():
        folder = module.room if module.room in project.packages else "(no folder)"
        lines[folder] += len(module.text.splitlines())
    print("\n## Lines of Python")
    for folder, count in [*sorted(lines.items()), ("together", lines.total())]:
        print(f"{count:6}  {folder}")


def count_comments(text: str) -> int:
    """Count the lines that hold a comment alone, and no directive to a tool."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(
        token.type == tokenize.COMMENT
        and token.line.lstrip().startswith("#")
        and not DIRECTIVE.match(token.string)
        for token in tokens
    )


def list_attribute_strings(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the bare strings that follow an assignment."""
    for before, statement in pairwise(body):
        match before, statement:
            case (
                ast.Assign() | ast.AnnAssign(),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield text


def report_imports(project: Project) -> None:
    """Print arrows between rooms, and circles of files."""
    imports = {name: set(list_imported(project, name)) for name in project.modules}
    rooms = {name: module.room for name, module in project.modules.items()}
    pairs = {(rooms[a], rooms[b]) for a, others in imports.items() for b in others}
    folders = project.packages
    arrows = sorted(
        (a, b) for a, b in pairs if a != b and {a, b} <= folders and a != "tests"
    )
    level = {room: depth for depth, each in enumerate(LEVELS) for room in each}
    against = [
        f"{a} -> {b}"
        for a, b in arrows
        if a in level and b in level and level[a] >= level[b]
    ]
    both_ways = sum((b, a) in arrows for a, b in arrows) // 2
    circles = find_circles(imports)
    print("\n## Imports")
    print(f"{len(folders)} rooms: {', '.join(sorted(folders))}")
    print(f"{len(arrows)} arrows (not those of tests), {both_ways} pairs both ways")
    print(f"{len(against)} arrows against the order", *against, sep="\n       ")
    print(f"{len(circles)} circles of files")
    for circle in circles:
        print(f"{len(circle):3}  files", *circle, sep="\n       ")


def list_imported(project: Project, name: str) -> Iterator[str]:
    """Yield the modules that one imports, in functions too, but not for types only."""
    nodes: list[ast.AST] = [project.modules[name].tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes += node.orelse
            continue
        nodes += ast.iter_child_nodes(node)
        targets = [target for _, target in list_imports(node)]
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        for target in targets:
            while target and target not in project.modules:
                target = target.rpartition(".")[0]
            if target not in ("", name):
                yield target


def find_circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that each reach all others of the group."""
    reached: dict[str, set[str]] = {}
    for name in imports:
        found, rest = set[str](), [name]
        while rest:
            new = imports[rest.pop()] - found
            found |= new
            rest += new
        reached[name] = found
    circles = {
        tuple(sorted(other for other in found if name in reached[other]))
        for name, found in reached.items()
        if name in found
    }
    return [list(circle) for circle in sorted(circles)]


def main() -> None:
    """Print the report of a folder, by default this repository."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    project = Project(root)
    report_chains(project)
    report_used_once(project)
    report_words(project)
    report_lines(project)
    report_imports(project)


if __name__ == "__main__":
    main()
