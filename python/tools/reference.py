"""Writes docs/python-reference.md from the signatures and docstrings of the package.

Signatures are those of the sources and of the stub of the native module; texts are the docstrings of
the package that is installed. Without an argument the page goes to stdout.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import fairwire as fw
import fairwire.gym
import fairwire.plot

FOLDER = Path(__file__).resolve().parents[1] / "fairwire"
PAGE = FOLDER.parents[1] / "docs" / "python-reference.md"

# In the order of the page. Each public name of the package is in one of them.
PARTS: dict[str, list[str]] = {
    "Scenarios and results": ["Scenario", "Result", "Table", "read", "ScenarioError", "StageError"],
    "Sweeps": ["sweep", "geom", "linear", "Sweep", "SweepError"],
    "Parts by themselves": ["disciplines", "parts", "describe", "Discipline", "max_min", "jain", "estimate"],
    "Classes of your own": ["Dropper", "Queue", "Controller", "Packet", "Waiting", "Ack", "Congestion"],
    "Papers": ["Reproduction", "Exhibit"],
    "Episodes": ["Episode", "gym.QueueEnv", "gym.SenderEnv"],
    "Pictures": [f"plot.{name}" for name in ("shares", "throughput", "series", "delay_cdf", "waterline", "style")],
}
CONSTANTS = {"__version__": "The version of fairwire.", "ENGINE": "A hash of the code that simulates: builds with the same one give the same results."}
HEAD = """\
<!-- Made by `make python-reference` from signatures and docstrings of the package; change it there. -->

# Python: every class and function

`import fairwire as fw`. [fairwire from Python](python.md) explains how these work together.
`_Choice` is a discipline: a name, a class of your own, or a dict with parameters.
"""

Definition = ast.FunctionDef | ast.ClassDef


def definitions() -> dict[str, list[Definition]]:
    """Functions and classes of the sources by name; the overloads of one are adjacent."""
    found: dict[str, list[Definition]] = {}
    for file in ["_fairwire.pyi", "_sweep.py", "own.py", "plot.py", "gym.py"]:
        prefix = f"{file.removesuffix('.py')}." if file in ("plot.py", "gym.py") else ""
        for node in ast.parse((FOLDER / file).read_text()).body:
            if isinstance(node, Definition):
                found.setdefault(prefix + node.name, []).append(node)
    return found


def markdown(text: str | None) -> str:
    """A docstring as a page has it: one kind of quotes for code, and fenced blocks."""
    text = re.sub(r":\w+:`~?\.?([\w.]+)`", r"`\1`", inspect.cleandoc(text or "").replace("``", "`"))
    lines, out = text.splitlines(), []
    while lines:
        line = lines.pop(0)
        if not line.endswith("::"):
            out.append(line)
            continue
        out += [line.removesuffix("::") + ":"] if line != "::" else []
        block = []
        while lines and (not lines[0] or lines[0].startswith("    ")):
            block.append(lines.pop(0))
        code = textwrap.dedent("\n".join(block)).strip("\n")
        out += ["", "```py", code, "```", ""]
    paragraphs = re.split(r"\n\s*\n", "\n".join(out))
    return "\n\n".join(wrapped(paragraph) for paragraph in paragraphs if paragraph.strip())


def wrapped(paragraph: str) -> str:
    if paragraph.startswith(("```", "- ", "    ")) or "```" in paragraph:
        return paragraph
    return textwrap.fill(paragraph, 100, break_long_words=False, break_on_hyphens=False)


def signature(name: str, node: ast.FunctionDef, is_method: bool) -> str:
    """A call as it is typed, with the types of its arguments; an argument to a line where it is long."""
    arguments = node.args
    if is_method and not any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list):
        arguments = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]
        (arguments.posonlyargs or arguments.args).pop(0)
    given = re.sub(r"(: [^=]+?)=", r"\1 = ", ast.unparse(arguments))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{name}({given}){returns}"
    if len(line) <= 100:
        return line
    words = re.split(r", (?![^\[\(]*[\]\)])", given)
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returns}"


def is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def members(node: ast.ClassDef) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and (not item.name.startswith("_") or item.name in ("__new__", "__init__")):
            found.setdefault(item.name, []).append(item)
    return found


def attributes(node: ast.ClassDef) -> list[tuple[str, str, str]]:
    """The attributes of a class with a text below them: name, type, text."""
    pairs = zip(node.body, node.body[1:])
    return [
        (item.target.id, ast.unparse(item.annotation), after.value.value)
        for item, after in pairs
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_")
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
    ]


def block(*lines: str) -> str:
    return "\n".join(["```py", *lines, "```"])


def of_class(name: str, node: ast.ClassDef, thing: type) -> list[str]:
    short = name.split(".")[-1]
    known = members(node)
    text = [f"### `{name}`"]
    made = known.pop("__new__", known.pop("__init__", []))
    known.pop("__init__", None)
    is_error = issubclass(thing, Exception)
    if made and not is_error:
        text.append(block(*(signature(f"fw.{name}", one, True).removesuffix(" -> None").removesuffix(f" -> {short}") for one in made)))
    text.append(markdown(thing.__doc__))
    for attribute, kind, about in attributes(node):
        text += [f"#### `{short}.{attribute}`", block(f"{attribute}: {kind}"), markdown(about)]
    for member, overloads in known.items():
        about = inspect.getdoc(getattr(thing, member))
        if is_property(overloads[0]):
            returns = overloads[0].returns
            shown = [f"{member}: {ast.unparse(returns)}" if returns is not None else member]
        else:
            shown = [signature(member, one, True) for one in overloads]
        text += [f"#### `{short}.{member}`", block(*shown), markdown(about)]
    return text


def of_name(name: str, known: dict[str, list[Definition]]) -> list[str]:
    thing: Any = fw
    for part in name.split("."):
        thing = getattr(thing, part)
    nodes = known[name]
    if isinstance(nodes[0], ast.ClassDef):
        return of_class(name, nodes[0], thing)
    shown = [signature(f"fw.{name}", node, False) for node in nodes if isinstance(node, ast.FunctionDef)]
    return [f"### `{name}`", block(*shown), markdown(inspect.getdoc(thing))]


def page() -> str:
    listed = {name.split(".")[0] for names in PARTS.values() for name in names}
    if missing := set(fw.__all__) - listed - set(CONSTANTS):
        raise ValueError(f"{', '.join(sorted(missing))}: on no part of the page; allowed: in PARTS of python/tools/reference.py")
    known = definitions()
    text = [HEAD.rstrip(), "| | |\n|---|---|\n" + "\n".join(rows())]
    for part, names in PARTS.items():
        text.append(f"## {part}")
        for name in names:
            text += of_name(name, known)
    text.append("## Constants")
    for name, about in CONSTANTS.items():
        text += [f"### `{name}`", about]
    return "\n\n".join(part for part in text if part) + "\n"


def rows() -> list[str]:
    """Where what is, at the top of the page."""
    taken: list[str] = []

    def link(name: str) -> str:
        anchor = re.sub(r"[^a-z0-9_-]", "", name.lower())
        taken.append(anchor)
        number = taken.count(anchor) - 1
        return f"[`{name}`](#{anchor}{f'-{number}' if number else ''})"

    return [f"| {part} | {', '.join(link(name) for name in names)} |" for part, names in PARTS.items()]


if __name__ == "__main__":
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(page())
    else:
        print(page(), end="")
