"""The reports: chains, what is used once, words, lines, imports."""

import ast
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.readability.call_graph import (
    COMPARED_FLOWS,
    FLOWS,
    LEVELS,
    CallGraph,
)
from benchmarks.readability.project import (
    DIRECTIVE,
    DOTTED_PATH,
    HEADLESS,
    REGISTERING,
    Class,
    Function,
    FunctionNode,
    Module,
    Project,
    Value,
    list_imports,
)


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
        if each.module.package != "tests":
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
        folder = module.package if module.package in project.packages else "(no folder)"
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
    """Print imports between packages, and cycles of files."""
    imports = {name: set(list_imported(project, name)) for name in project.modules}
    package_of = {name: module.package for name, module in project.modules.items()}
    pairs = {
        (package_of[a], package_of[b]) for a, others in imports.items() for b in others
    }
    folders = project.packages
    crossings = sorted(
        (a, b) for a, b in pairs if a != b and {a, b} <= folders and a != "tests"
    )
    level = {name: depth for depth, each in enumerate(LEVELS) for name in each}
    against = [
        f"{a} -> {b}"
        for a, b in crossings
        if a in level and b in level and level[a] >= level[b]
    ]
    both_ways = sum((b, a) in crossings for a, b in crossings) // 2
    cycles = find_import_cycles(imports)
    print("\n## Imports")
    print(f"{len(folders)} packages: {', '.join(sorted(folders))}")
    print(f"{len(crossings)} imports between packages, not counting those of tests")
    print(f"{both_ways} pairs of packages import each other")
    print(f"{len(against)} of them against the order", *against, sep="\n       ")
    print(f"{len(cycles)} cycles of files")
    for cycle in cycles:
        print(f"{len(cycle):3}  files", *cycle, sep="\n       ")


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


def find_import_cycles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that each reach all others of the group."""
    reached: dict[str, set[str]] = {}
    for name in imports:
        found, rest = set[str](), [name]
        while rest:
            new = imports[rest.pop()] - found
            found |= new
            rest += new
        reached[name] = found
    cycles = {
        tuple(sorted(other for other in found if name in reached[other]))
        for name, found in reached.items()
        if name in found
    }
    return [list(cycle) for cycle in sorted(cycles)]
