"""Reading variant files: a small, strict part of YAML, every fault with its line.

Only plain mappings and scalars are taken: no tags, no anchors, no merge keys, no lists. So a file can neither run
code nor grow in memory. Files of other kinds are read by the same reader with lists of values and decimal numbers.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_BYTES = 100_000
MAX_DEPTH = 20
MAX_NODES = 2_000
_MAX_EVENTS = 3 * MAX_NODES

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_CORE = "tag:yaml.org,2002:"
_UNSEEN = ("Cc", "Cf", "Cs")
_WORDS_FOR_BOOL = {"yes": "true", "on": "true", "no": "false", "off": "false"}


@dataclass(frozen=True)
class Problem:
    """One fault of a variant."""

    file: str
    line: int | None
    key: str
    message: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return "".join(char if char.isprintable() else "?" for char in f"{where}: {self.message}")


@dataclass
class Entry:
    """A scalar with the place where it stands."""

    value: object
    file: str
    line: int | None


@dataclass
class Layer:
    """One file: dotted key to entry, and what is wrong with it."""

    file: str
    entries: dict[str, Entry] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Line of every key, sections too."""
    problems: list[Problem] = field(default_factory=list)


def read_text(path: Path, shown: str) -> tuple[str, Problem | None]:
    """Text of a file, or what is wrong with it."""

    def wrong(message: str) -> tuple[str, Problem]:
        return "", Problem(shown, None, "", message)

    try:
        if not path.is_file():
            return wrong("is no file" if path.exists() else "no such file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)  # what a file says of its size is not always so
        if len(data) > MAX_BYTES:
            return wrong(f"larger than {MAX_BYTES:,} bytes; a variant file has a few thousand")
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        return wrong(f"not UTF-8 text (byte {error.start + 1}); save the file as UTF-8")
    except OSError as error:
        return wrong(f"cannot be read: {error.strerror}")


def parse(text: str, file: str, lists: bool = False) -> Layer:
    """Read YAML text into a layer; faults are collected, never raised.

    With ``lists`` a value may be a list, whose entry holds an ``Entry`` an item (a scalar, or a dict of scalars),
    and a number with decimals.
    """
    layer = Layer(file)

    def wrong(line: int | None, message: str) -> None:
        layer.problems.append(Problem(file, line, "", message))

    bad = re.search(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    if bad:
        wrong(text.count("\n", 0, bad.start()) + 1, f"control character {bad.group()!r}; remove it")
        return layer
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("%"):
            wrong(number, "YAML directives are not taken; remove the line")
            return layer
    deepest = max((len(line) - len(line.lstrip(" ")) for line in text.splitlines()), default=0)
    if deepest > 200 or text.count("{") + text.count("[") > MAX_NODES:
        wrong(None, f"nested too deeply; a variant has at most {MAX_DEPTH} levels")
        return layer
    try:
        for number, event in enumerate(YAML(typ="rt", pure=True).parse(text)):
            if number > _MAX_EVENTS:  # before a tree is made of it, which takes long
                wrong(
                    event.start_mark.line + 1,
                    f"more than {MAX_NODES} values; a variant has about eighty keys",
                )
                return layer
        root = YAML(typ="rt", pure=True).compose(text)
    except RecursionError:
        wrong(None, f"nested too deeply; a variant has at most {MAX_DEPTH} levels")
        return layer
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(str(error.problem or error.context or "not valid YAML").split())
        wrong(mark.line + 1 if mark else None, f"not valid YAML: {reason}")
        return layer
    except (YAMLError, ValueError, AttributeError, KeyError, TypeError, IndexError) as error:
        wrong(None, f"not valid YAML: {' '.join(str(error).split())[:200]}")
        return layer
    if root is None:
        return layer
    if not isinstance(root, MappingNode):
        wrong(root.start_mark.line + 1, "must be a mapping of keys, e.g. `deck: {wangs: 3}`")
        return layer
    _Reader(layer, lists).mapping(root, "", 1)
    return layer


class _Reader:
    """Walks the nodes of one document."""

    def __init__(self, layer: Layer, lists: bool = False) -> None:
        self.layer = layer
        self.lists = lists
        self.seen: set[int] = set()
        self.count = 0

    def wrong(self, node: Node, key: str, message: str) -> None:
        self.layer.problems.append(Problem(self.layer.file, node.start_mark.line + 1, key, message))

    def is_plain(self, node: Node, key: str) -> bool:
        """Whether a node is neither aliased nor tagged and there are not too many; else the fault is noted."""
        self.count += 1
        if id(node) in self.seen or node.anchor:
            self.wrong(
                node, key, f"{key or 'document'}: anchors and aliases are not taken; write the value out"
            )
            return False
        self.seen.add(id(node))
        if self.count > MAX_NODES:
            if self.count == MAX_NODES + 1:
                self.wrong(node, key, f"more than {MAX_NODES} values; a variant has about eighty keys")
            return False
        tag = str(node.tag or "")
        if (tag and not tag.startswith(_CORE)) or tag.startswith(f"{_CORE}python"):
            self.wrong(node, key, f"{key or 'document'}: tag {tag[:60]!r} is not taken; write a plain value")
            return False
        return True

    def mapping(self, node: MappingNode, prefix: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.wrong(node, prefix, f"nested too deeply; a variant has at most {MAX_DEPTH} levels")
            return
        if not self.is_plain(node, prefix.rstrip(".")):
            return
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self.wrong(key_node, prefix, "a key must be a name")
                continue
            name = str(key_node.value)
            if name == "<<":
                self.wrong(
                    key_node, prefix, "merge keys are not taken; use `extends` or write the values out"
                )
                continue
            dotted = prefix + name
            line = key_node.start_mark.line + 1
            if dotted in self.layer.lines:
                first = self.layer.lines[dotted]
                self.wrong(
                    key_node, dotted, f"{_short(dotted)} is given twice (first in line {first}); keep one"
                )
                continue
            self.layer.lines[dotted] = line
            self.value(value_node, dotted, line, depth)

    def value(self, node: Node, dotted: str, line: int, depth: int) -> None:
        if isinstance(node, MappingNode):
            self.mapping(node, f"{dotted}.", depth + 1)
        elif not self.is_plain(node, dotted):
            return
        elif isinstance(node, ScalarNode):
            value, fault = scalar(node, decimals=self.lists)
            if fault:
                self.wrong(node, dotted, f"{_short(dotted)}: {fault}")
            else:
                self.layer.entries[dotted] = Entry(value, self.layer.file, line)
        elif isinstance(node, SequenceNode) and self.lists:
            items = [self.item(child, dotted) for child in node.value]
            self.layer.entries[dotted] = Entry(
                [item for item in items if item is not None], self.layer.file, line
            )
        else:
            self.wrong(node, dotted, f"{_short(dotted)}: a list is not taken here")

    def item(self, node: Node, dotted: str) -> Entry | None:
        """One item of a list: a scalar, or a mapping of scalars."""
        if not self.is_plain(node, dotted):
            return None
        line = node.start_mark.line + 1
        pairs = node.value if isinstance(node, MappingNode) else [(None, node)]
        found: dict[str, object] = {}
        for key_node, value_node in pairs:
            if not isinstance(value_node, ScalarNode) or not isinstance(key_node, ScalarNode | None):
                self.wrong(value_node, dotted, f"{_short(dotted)}: a list holds plain values")
                return None
            value, fault = scalar(value_node, decimals=True)
            if fault:
                self.wrong(value_node, dotted, f"{_short(dotted)}: {fault}")
                return None
            found["" if key_node is None else str(key_node.value)] = value
        return Entry(found if isinstance(node, MappingNode) else found[""], self.layer.file, line)


def _short(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def scalar(node: ScalarNode, decimals: bool = False) -> tuple[object, str | None]:
    """Value of a scalar node, or what is wrong with it."""
    text = str(node.value)
    kind = str(node.tag).removeprefix(_CORE)
    if kind == "int":
        if not _WHOLE.fullmatch(text):
            return None, f"{_short(text)!r}: write whole numbers in plain decimal digits, at most 18"
        return int(text), None
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            return None, f"{_short(text)!r} must be true or false"
        return text.lower() == "true", None
    if kind == "null":
        return None, "has no value"
    if kind == "float":
        if decimals and re.fullmatch(r"[-+]?[0-9]{0,15}\.?[0-9]{1,15}", text):
            return float(text), None
        return None, f"{_short(text)!r}: must be a whole number"
    if kind == "str":
        if node.style is None and text.lower() in _WORDS_FOR_BOOL:
            return None, f"{text!r} is a word here, write {_WORDS_FOR_BOOL[text.lower()]}"
        odd = next((char for char in text if char != "\n" and unicodedata.category(char) in _UNSEEN), None)
        if odd is not None:  # written as an escape, else the whole text is refused
            return None, f"control character {odd!r} in a text; remove it"
        return text, None
    return None, f"{_short(text)!r} is no value of a variant"


def parse_scalar(text: str) -> tuple[Any, str | None]:
    """Value of an override: a scalar, or a flow mapping of numbers like ``{1: 2, 2: 4}``; or what is wrong."""
    if len(text) > 1000:
        return None, "the value is longer than 1000 characters"
    if "\n" in text or "\r" in text:
        return None, "the value must be on one line"
    layer = parse(f"value: {text}" if text.strip() else "value:", "--set")
    if layer.problems:
        message = layer.problems[0].message.removeprefix("value: ")
        return None, message.removeprefix("value.")
    if "value" in layer.entries:
        return layer.entries["value"].value, None
    return {name.partition(".")[2]: entry.value for name, entry in layer.entries.items()}, None
