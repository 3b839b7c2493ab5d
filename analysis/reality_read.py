"""Records of real games: CSV, JSON lines, or game logs, read into columns of numbers.

Only the columns that a mapping names are read; everything else, names of players above all, is dropped before it is
looked at. No message repeats a value of the file: it might be somebody's name.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import polars as pl

from analysis.metrics import FAN_TEXT
from analysis.options import OPTIONS
from sim.rows import BY_NAMES, FAN_NAMES

ROLES = ("dealer", "next", "third")
DRAW = 3
"""Code of a draw game in the column ``result``; 0, 1, 2 are wins of dealer, next and third."""

MAX_RECORDS = 5_000_000
MAX_LINE = 1_000_000
MAX_NAME = 200


class RecordError(ValueError):
    """Records or a mapping that cannot be read; the message says where and what would be right."""


_NUMBERS: dict[str, tuple[int, int]] = {
    "huxi": (0, 1000),
    "tun": (0, 1000),
    "fan": (1, 1_000_000),
    "score": (0, 10**9),
    "xing": (0, 30),
    "wangs_win": (0, 4),
    **{f"wangs_dealt_{role}": (0, 4) for role in ROLES},
    **{f"wangs_dealt_{seat}": (0, 4) for seat in range(4)},
    **dict.fromkeys(("draws", "discards", "ti", "wei", "chou_wei", "pao", "peng", "chi", "dead"), (0, 100)),
    **dict.fromkeys(("win_passed", "peng_passed", "chi_passed"), (0, 1000)),
}
OF_WINS = ("huxi", "tun", "fan", "score", "xing", "wangs_win", "by", "names")
"""Fields that only a win has."""
FIELDS: tuple[str, ...] = ("dealer", "winner", "by", "names", *_NUMBERS)
"""Fields of a record; all may be left out."""

_WINNERS = {role: number for number, role in enumerate(ROLES)}
_NO_WINNER = ("", "none", "draw")
_NAME_OF = {text.zh: name for name, text in FAN_TEXT.items()} | {name: name for name in FAN_NAMES}


@dataclass(frozen=True)
class Mapped:
    """How the columns of a file are called, and what its words mean.

    Attributes
    ----------
    columns : dict
        Field to column of the file.
    values : dict
        Field to {word of the file: word of the format}.
    separator : str
        Between fan names.
    delimiter : str
        Of CSV; empty: told from the first line.
    first_seat : int
        Number of the first seat in the file, 0 or 1.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: {name: name for name in FIELDS})
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    separator: str = ""
    delimiter: str = ""
    first_seat: int = 0


def read_mapping(path: str | Path) -> Mapped:
    """Read a mapping file.

    Parameters
    ----------
    path : str or Path
        YAML with ``columns: {field: column}``, ``values: {field: {word: word}}``, ``separator``, ``delimiter``,
        ``first_seat``.

    Raises
    ------
    RecordError
        With file and line.
    """
    from sim.variant_yaml import parse, read_text

    shown = str(path)
    text, fault = read_text(Path(path), shown)
    if fault:
        raise RecordError(str(fault))
    layer = parse(text, shown)
    if layer.problems:
        raise RecordError("\n".join(str(problem) for problem in layer.problems))
    columns: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    plain: dict[str, Any] = {}
    for key, entry in layer.entries.items():
        where = f"{shown}:{entry.line}: {key[:80]}"
        section, _, rest = key.partition(".")
        name, _, word = rest.partition(".")
        if section in ("columns", "values") and name not in FIELDS:
            raise RecordError(f"{where}: no field {name[:40]!r}; fields are {', '.join(FIELDS)}")
        if section == "columns" and not word:
            columns[name] = str(entry.value)
        elif section == "values" and word:
            values.setdefault(name, {})[word] = str(entry.value)
        elif key == "first_seat":
            if entry.value not in (0, 1) or isinstance(entry.value, bool):
                raise RecordError(f"{where}: must be 0 or 1")
            plain[key] = entry.value
        elif key in ("separator", "delimiter"):
            value = {"tab": "\t"}.get(str(entry.value), str(entry.value))
            if len(value) != 1:
                raise RecordError(f"{where}: must be one character, or tab")
            plain[key] = value
        else:
            raise RecordError(
                f"{where}: is no key of a mapping; keys are columns, values, separator, delimiter, first_seat"
            )
    if not columns:
        raise RecordError(f"{shown}: names no column; e.g. columns: {{winner: 胡家}}")
    return Mapped(columns, values, **plain)


@dataclass(frozen=True)
class Records:
    """Games of a file, as numbers.

    Attributes
    ----------
    frame : DataFrame
        One row a game; only the columns that the file has, nulls where a cell is empty. ``result`` (0 dealer, 1 next,
        2 third, 3 draw game), ``by``, ``names`` (bit i is ``FAN_NAMES[i]``), numbers by their field, ``dealer``,
        ``wangs_dealt_<role>``; from game logs also ``kans_<role>``, ``tis_<role>``, ``reds_<role>`` of the dealt
        hands, ``deal`` (a fingerprint of all cards), and the columns of
        :data:`analysis.options.OPTIONS` as ``option_…``.
    kind : str
        ``csv``, ``jsonl`` or ``log``.
    skipped : int
        Games of a log without an end.
    """

    frame: pl.DataFrame
    kind: str
    skipped: int = 0

    def has(self, *names: str) -> bool:
        """Whether some game has a value in each of these columns."""
        return all(name in self.frame and self.frame[name].null_count() < self.frame.height for name in names)


# --- text -------------------------------------------------------------------------------------------------


def _open(path: Path) -> IO[str]:
    """Open as UTF-8, or as GB 18030, in which Chinese spreadsheets often write."""
    if not path.is_file():
        raise RecordError(f"{path}: {'is no file' if path.exists() else 'no such file'}")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            with path.open(encoding=encoding, newline="") as stream:
                for _ in iter(lambda: stream.read(1 << 20), ""):
                    pass
        except UnicodeDecodeError:
            continue
        return path.open(encoding=encoding, newline="")
    raise RecordError(f"{path}: neither UTF-8 nor GB 18030 text")


def read_records(path: str | Path, mapped: Mapped | None = None, seats: int = 4) -> Records:
    """Read a file of real games.

    Parameters
    ----------
    path : str or Path
        A game log, JSON lines with one object a game, or CSV with a line of column names.
    mapped : Mapped, optional
        How its columns are called; by default as the fields.
    seats : int
        Seats at the table, 3 or 4.

    Returns
    -------
    Records

    Raises
    ------
    RecordError
        With file, line and field, never with a value.
    """
    path = Path(path)
    with _open(path) as stream:
        first = ""
        for line in stream:
            if line.strip():
                first = line.strip()
                break
        if not first:
            raise RecordError(f"{path}: is empty")
        stream.seek(0)
        if re.match(r'\{\s*"type"\s*:\s*"start"', first):
            return _read_log(path, stream)
        seats_words = mapped or Mapped()
        if first.startswith("{"):
            return _collect(path, "jsonl", _json_rows(path, stream, seats_words), seats_words, seats)
        return _collect(path, "csv", _csv_rows(path, stream, seats_words), seats_words, seats)


_Row = tuple[int, dict[str, str]]


def _csv_rows(path: Path, stream: IO[str], mapped: Mapped) -> Iterator[_Row]:
    head = stream.readline(MAX_LINE)
    delimiter = mapped.delimiter or max(",;\t", key=head.count)
    names = [name.strip() for name in next(csv.reader([head], delimiter=delimiter))]
    place = _places(path, names, mapped)
    reader = csv.reader(stream, delimiter=delimiter)
    try:
        for cells in reader:
            if any(cells):
                if len(cells) < len(names):
                    raise RecordError(
                        f"{path}:{reader.line_num + 1}: {len(cells)} cells, the first line has {len(names)}"
                    )
                yield reader.line_num + 1, {name: cells[at].strip() for name, at in place.items()}
    except csv.Error:
        raise RecordError(f"{path}:{reader.line_num + 1}: cannot be read as CSV") from None


def _places(path: Path, names: Sequence[str], mapped: Mapped) -> dict[str, int]:
    place = {name: names.index(column) for name, column in mapped.columns.items() if column in names}
    missing = [column for column in mapped.columns.values() if column not in names]
    if missing and mapped.columns != Mapped().columns:
        raise RecordError(f"{path}:1: no column {missing[0]!r}, which the mapping names")
    if not place:
        raise RecordError(
            f"{path}:1: no known column among {len(names)}; name them as {', '.join(FIELDS[:4])}, … or give --mapping"
        )
    return place


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs)


def _json_rows(path: Path, stream: IO[str], mapped: Mapped) -> Iterator[_Row]:
    known = False
    line_number = 0
    for line_number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE:
            raise RecordError(f"{path}:{line_number}: longer than {MAX_LINE:,} characters")
        try:
            found = json.loads(line, object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            raise RecordError(f"{path}:{line_number}: is no JSON object") from None
        if not isinstance(found, dict):
            raise RecordError(f"{path}:{line_number}: is no JSON object")
        cells = {}
        for name, column in mapped.columns.items():
            if column in found:
                known = True
                cells[name] = _cell(found[column])
        yield line_number, cells
    if not known:
        raise RecordError(f"{path}: no known field in {line_number} lines; give --mapping")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int) else "?"


# --- records ----------------------------------------------------------------------------------------------


class _Reader:
    """Turns the words of one record into numbers."""

    def __init__(self, path: Path, mapped: Mapped, seats: int) -> None:
        self.path = path
        self.mapped = mapped
        self.seats = seats
        self.line = 0

    def wrong(self, name: str, message: str) -> RecordError:
        column = self.mapped.columns.get(name, name)
        return RecordError(f"{self.path}:{self.line}: column {column!r}: {message}")

    def seat(self, name: str, text: str) -> int:
        first, last = self.mapped.first_seat, self.mapped.first_seat + self.seats - 1
        if not re.fullmatch(r"[0-9]{1,2}", text) or not first <= int(text) <= last:
            raise self.wrong(
                name, f"must be a seat, {first} to {last} (values and first_seat of a mapping help)"
            )
        return int(text) - first

    def role(self, name: str, seat: int, dealer: int) -> int:
        after = (seat - dealer) % self.seats
        if self.seats == 4 and after == 2:
            raise self.wrong(name, "is the seat opposite the dealer, who sits out (is first_seat right?)")
        return {0: 0, 1: 1, self.seats - 1: 2}[after]

    def number(self, name: str, text: str) -> int:
        low, high = _NUMBERS[name]
        if not re.fullmatch(r"[0-9]{1,12}", text) or not low <= int(text) <= high:
            raise self.wrong(name, f"must be a whole number from {low} to {high}, or empty")
        return int(text)

    def names(self, text: str) -> int:
        parts = (
            text.split(self.mapped.separator)
            if self.mapped.separator
            else re.split(r"[\s,;、/+|，；]+", text)
        )
        mask = 0
        for part in parts:
            word = self.translated("names", part.strip())
            if word in ("", "none"):
                continue
            if word not in _NAME_OF:
                raise self.wrong(
                    "names", f"holds a word that is no fan name (they are {', '.join(FAN_NAMES)}, or Chinese)"
                )
            mask |= 1 << FAN_NAMES.index(_NAME_OF[word])
        return mask

    def translated(self, name: str, text: str) -> str:
        return self.mapped.values.get(name, {}).get(text, text)

    def read(self, line: int, cells: Mapping[str, str]) -> dict[str, int]:
        """Numbers of one record."""
        self.line = line
        words = {name: self.translated(name, text) for name, text in cells.items() if name != "names"}
        found: dict[str, int] = {}
        if words.get("dealer"):
            found["dealer"] = self.seat("dealer", words["dealer"])
        if "winner" in words:
            found["result"] = self.result(words["winner"], found.get("dealer"))
        drawn = found.get("result") == DRAW
        if words.get("by") and not drawn:
            if words["by"] not in BY_NAMES:
                raise self.wrong("by", f"must be {', '.join(BY_NAMES)}, or empty; translate under values.by")
            found["by"] = BY_NAMES.index(words["by"])
        if "names" in cells and not drawn:
            found["names"] = self.names(cells["names"])
        for name in _NUMBERS:
            if words.get(name) and not (drawn and name in OF_WINS):
                found[name] = self.number(name, words[name])
        self.by_role(found)
        return found

    def result(self, text: str, dealer: int | None) -> int:
        if text in _NO_WINNER:
            return DRAW
        if text in _WINNERS:
            return _WINNERS[text]
        seat = self.seat("winner", text)
        if dealer is None:
            raise self.wrong("winner", "is a seat, so the dealer's seat is needed too")
        return self.role("winner", seat, dealer)

    def by_role(self, found: dict[str, int]) -> None:
        """Wangs dealt by seat become wangs dealt by role."""
        for seat in range(4):
            held = found.pop(f"wangs_dealt_{seat}", None)
            if held is None:
                continue
            name = f"wangs_dealt_{seat}"
            if "dealer" not in found:
                raise self.wrong(name, "is by seat, so the dealer's seat is needed too")
            if seat >= self.seats:
                raise self.wrong(name, f"the table has {self.seats} seats")
            if self.seats == 4 and (seat - found["dealer"]) % 4 == 2:
                if held:
                    raise self.wrong(name, "the sitter is dealt nothing (is the dealer's seat right?)")
                continue
            found[f"wangs_dealt_{ROLES[self.role(name, seat, found['dealer'])]}"] = held


_COLUMNS = (
    "dealer",
    "result",
    "by",
    "names",
    *(name for name in _NUMBERS if not name[-1].isdigit()),
)


def _collect(path: Path, kind: str, rows: Iterator[_Row], mapped: Mapped, seats: int) -> Records:
    reader = _Reader(path, mapped, seats)
    columns: dict[str, list[int | None]] = {name: [] for name in _COLUMNS}
    games = 0
    for line, cells in rows:
        games += 1
        if games > MAX_RECORDS:
            raise RecordError(f"{path}: more than {MAX_RECORDS:,} games")
        found = reader.read(line, cells)
        for name, values in columns.items():
            values.append(found.get(name))
    if not games:
        raise RecordError(f"{path}: no game in it")
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))
    held = [name for name in columns if frame[name].null_count() < games]
    return Records(frame.select(held), kind)


# --- game logs --------------------------------------------------------------------------------------------


def _read_log(path: Path, stream: IO[str]) -> Records:
    from sim.logread import LogError, iter_log

    rows: list[dict[str, int | None]] = []
    skipped = 0
    try:
        for game in iter_log(stream):
            if game.events[-1]["type"] != "end":
                skipped += 1
                continue
            rows.append(_of_log(game.events))
    except LogError as error:
        line = re.match(r"line ([0-9]+):", str(error))
        number = line.group(1) if line else "?"
        raise RecordError(
            f"{path}:{number}: is no event of a game log (chehuzi replay FILE --check says why)"
        ) from None
    if not rows:
        raise RecordError(f"{path}: no finished game in it")
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return Records(frame.with_columns(pl.all().exclude("deal").cast(pl.Int64)), "log", skipped)


_COUNTED = {
    "draw": "draws",
    "discard": "discards",
    **{name: name for name in ("ti", "wei", "pao", "peng", "chi", "dead")},
}
"""Event to the column that counts it."""


def _of_log(events: Sequence[Mapping[str, Any]]) -> dict[str, int | None]:
    """Numbers of one logged game."""
    start = events[0]
    seats, dealer = int(start["seats"]), int(start["dealer"])
    order = [
        seat for seat in ((dealer + step) % seats for step in range(seats)) if str(seat) in start["hands"]
    ]
    role_of = {seat: number for number, seat in enumerate(order)}
    row: dict[str, int | None] = dict.fromkeys(("result", "by", "names", *OF_WINS))
    row["dealer"] = dealer
    row |= dict.fromkeys((*_COUNTED.values(), "chou_wei"), 0)
    row |= {f"option_{name}": 0 for name in OPTIONS}
    for seat in order:
        row |= _of_hand(ROLES[role_of[seat]], start["hands"][str(seat)])
    deck = "|".join(start["hands"][str(seat)] for seat in order) + "|" + start["wall"]
    row["deal"] = hash(deck)

    def count(name: str, more: int = 1) -> None:
        row[name] = (row[name] or 0) + more

    for event in events[1:]:
        kind = event["type"]
        if kind in _COUNTED and not (kind == "ti" and event["from"] == "deal"):  # rows count draws only
            count(_COUNTED[kind])
        if kind == "wei" and event["open"]:
            count("chou_wei")
        if kind in ("win", "peng", "chi"):
            count(f"option_{kind}")
        if kind == "pass":
            count(f"option_pass_{event['option']}")
        if kind == "chi":
            _count_chi(event["groups"], count)
        if kind == "draw_game":
            row["result"] = DRAW
        if kind == "win":
            row["result"] = role_of.get(event["seat"])
            row["by"] = BY_NAMES.index(event["by"])
            row |= {name: event[name] for name in ("huxi", "tun", "fan", "score")}
            row["names"] = sum(
                1 << FAN_NAMES.index(name) for name in set(event["names"]) if name in FAN_NAMES
            )
            row["xing"] = event["xing"]["count"] if event["xing"] else None
            row["wangs_win"] = sum(group["wangs"] for group in event["groups"])
    return row


def _of_hand(role: str, cards: str) -> dict[str, int | None]:
    counts = {card: cards.count(card) for card in set(cards)}
    wangs = counts.pop("王", 0)
    return {
        f"wangs_dealt_{role}": wangs,
        f"kans_{role}": sum(number == 3 for number in counts.values()),
        f"tis_{role}": sum(number == 4 for number in counts.values()),
        f"reds_{role}": sum(counts.get(card, 0) for card in "二七十贰柒拾"),
    }


def _count_chi(groups: Sequence[str], count: Any) -> None:
    from sim.cards import parse_cards

    kinds = set()
    for group in groups:
        ranks = sorted(kind % 10 for kind in parse_cards(group))
        if len(set(ranks)) == 1:
            kinds.add("option_chi_jiao")
        elif ranks == [1, 6, 9]:
            kinds.add("option_chi_two_seven_ten")
        elif ranks == [0, 1, 2]:
            kinds.add("option_chi_one_two_three")
        else:
            kinds.add("option_chi_run")
    for name in kinds:
        count(name)
    if len(groups) > 1:
        count("option_chi_bi")
