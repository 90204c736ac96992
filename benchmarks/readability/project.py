"""The modules of a project, parsed: definitions, imports and references."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

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
    def package(self) -> str:
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


def list_files(root: Path) -> list[Path]:
    """Return the Python files of a checkout, without what Git ignores."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
    done = subprocess.run(
        [*command, "--exclude-standard", "*.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    files = {root / name for name in done.stdout.split("\0") if name}
    return sorted(path for path in files if path.is_file())


class Project:
    """All modules of a checkout, and the references to their functions."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[str, Module] = {}
        for path in list_files(root):
            parts = path.relative_to(root).with_suffix("").parts
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
        """Return the names of the top-level folders."""
        return {name.partition(".")[0] for name in self.modules if "." in name}

    @property
    def product(self) -> list[Module]:
        """Return the modules that are neither tests nor benchmarks nor migrations."""
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
        """Return what a name, dotted or not, refers to at the top of a module."""
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
        """Return what an expression refers to, as far as its text shows it."""
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
