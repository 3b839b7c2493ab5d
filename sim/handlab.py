"""The hand lab: reports on one hand for people, for notebooks and for files of queries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.cards import CardError, show_cards
from sim.explain import (
    FEW_HUXI,
    HOLDS_WANG,
    LIMITED,
    NOT_SEVEN,
    Arrangement,
    Group,
    Hand,
    QueryError,
    all_arrangements,
    answer_query,
    judge,
    lay_out,
    waits,
)
from sim.groups import TYPE_NAMES, TYPE_ZH
from sim.rows import FAN_NAMES
from sim.variant import VariantError, load_variant

if TYPE_CHECKING:
    import polars as pl

FAN_ZH = ("红胡", "一点朱", "黑胡", "自摸", "王钓", "王钓王", "王闯", "王闯王", "王炸", "王炸王")
_REASONS_ZH = {
    NOT_SEVEN: "凑不成七方门子",
    FEW_HUXI: "胡息不够",
    LIMITED: "受限胡约束",
    HOLDS_WANG: "手中有王，只能自摸",
}
MAX_LINE = 20_000  # characters of a batch line


@dataclass
class Report:
    """What the hand lab found about one hand under one variant."""

    hand: Hand
    answer: dict[str, Any]
    """With a winning card or a deal: the answer of the contract. Else empty."""
    waits: list[dict[str, Any]] = field(default_factory=list)
    arrangements: list[Arrangement] = field(default_factory=list)

    def as_dict(self, ascii: bool = False) -> dict[str, Any]:
        """The JSON document of the contract, with every arrangement where they were asked for."""
        document = dict(self.answer) if self.answer else {"waits": self.waits}
        if ascii and "groups" in document:
            best = list(document["groups"])
            document["groups"] = [_ascii_group(group) for group in best]
        if self.arrangements:
            document["arrangements"] = [
                {
                    "wins": found.wins,
                    "score": found.score,
                    "tun": found.tun,
                    "fan": found.fan,
                    "huxi": found.huxi,
                    "names": list(found.names),
                    "groups": [group.as_dict(ascii) for group in found.groups],
                }
                for found in self.arrangements
            ]
        return document

    def frame(self) -> pl.DataFrame:
        """Waits or arrangements as a polars frame, one row each."""
        import polars as pl

        if self.waits or not self.answer:
            return pl.DataFrame(
                [
                    {
                        "card": row["card"],
                        "unseen": row["unseen"],
                        "draw": draw,
                        **{key: row[draw][key] for key in ("huxi", "tun", "fan", "score", "names")},
                    }
                    for row in self.waits
                    for draw in ("own", "other")
                    if row[draw]
                ],
                schema={
                    "card": pl.String,
                    "unseen": pl.Int64,
                    "draw": pl.String,
                    "huxi": pl.Int64,
                    "tun": pl.Int64,
                    "fan": pl.Int64,
                    "score": pl.Int64,
                    "names": pl.List(pl.String),
                },
            )
        return pl.DataFrame(
            [
                {
                    "wins": found.wins,
                    "huxi": found.huxi,
                    "tun": found.tun,
                    "fan": found.fan,
                    "score": found.score,
                    "names": list(found.names),
                    "groups": [_group_text(group) for group in found.groups],
                }
                for found in self.arrangements
            ],
            schema={
                "wins": pl.Boolean,
                "huxi": pl.Int64,
                "tun": pl.Int64,
                "fan": pl.Int64,
                "score": pl.Int64,
                "names": pl.List(pl.String),
                "groups": pl.List(pl.String),
            },
        )


def _ascii_group(group: Mapping[str, Any]) -> dict[str, Any]:
    from sim.cards import parse_cards

    return {
        **group,
        "cards": show_cards(parse_cards(group["cards"]), ascii=True),
        "faces": show_cards(parse_cards(group["faces"]), ascii=True),
    }


def report(
    variant: str,
    cards: str,
    melds: Sequence[str] = (),
    winning: str | None = None,
    draw: str | None = None,
    overrides: Sequence[str] = (),
    show_all: bool = True,
) -> Report:
    """Look at one hand.

    Parameters
    ----------
    variant : str
        Preset name, ``preset+mode`` or path of a YAML file.
    cards : str
        Concealed cards, without the winning card.
    melds : sequence of str
        Exposed groups, ``碰:壹壹壹``.
    winning : str, optional
        The winning card; without it (and without ``draw="deal"``) the waits are found.
    draw : str, optional
        ``own`` (the default with a winning card), ``other`` or ``deal``.
    overrides : sequence of str
        ``key=value`` overrides of the variant.
    show_all : bool
        Also list every arrangement.

    Returns
    -------
    Report
        ``.answer``, ``.waits``, ``.arrangements``; ``.frame()`` for polars.

    Raises
    ------
    QueryError, CardError, VariantError
    """
    if winning is not None and draw is None:
        draw = "own"
    hand = lay_out(load_variant(variant, overrides), cards, melds, winning, draw)
    if draw is None:
        return Report(hand, {}, waits(hand))
    answer = judge(hand)
    return Report(hand, answer, arrangements=all_arrangements(hand) if show_all else [])


def answer_batch(path: str | Path) -> Iterator[tuple[str, bool]]:
    """Answer a file of hand queries, one JSON line each, in order.

    Yields
    ------
    (line, good)
        The answer as JSON; for a query that makes no sense an object with ``error`` and False.

    Raises
    ------
    QueryError
        If the file is no text.
    """
    name = Path(path)
    try:
        with name.open("rb") as file:
            number = 0
            while data := file.readline(4 * MAX_LINE):
                number += 1
                if len(data) == 4 * MAX_LINE and not data.endswith(b"\n"):
                    while (rest := file.readline(4 * MAX_LINE)) and not rest.endswith(b"\n"):
                        pass
                    why = f"{name.name}:{number}: a line of more than {MAX_LINE} characters; no query has as many"
                    yield json.dumps({"error": why}, ensure_ascii=False), False
                    continue
                text = data.decode("utf-8-sig" if number == 1 else "utf-8")
                if text.strip():
                    yield _answer_line(text, f"{name.name}:{number}")
    except UnicodeDecodeError:
        raise QueryError(f"{name}: not a UTF-8 text") from None


def _dumps(document: Mapping[str, object]) -> str:
    text = json.dumps(document, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, which a query may hold and no stream can write
        return json.dumps(document)
    return text


def _answer_line(text: str, where: str) -> tuple[str, bool]:
    try:
        if len(text) > MAX_LINE:
            raise QueryError(f"a line of {len(text)} characters; a query has at most {MAX_LINE}")
        query = json.loads(text)
        if not isinstance(query, dict):
            raise QueryError("a query must be a JSON object")
        return _dumps(answer_query(query)), True
    except (QueryError, CardError, VariantError) as error:
        return _dumps({"error": f"{where}: {error}"}), False
    except (ValueError, RecursionError):
        return json.dumps({"error": f"{where}: not valid JSON"}, ensure_ascii=False), False


# --- for people --------------------------------------------------------------------------------------


def _group_text(group: Group, ascii: bool = False) -> str:
    text = show_cards(group.cards, ascii)
    if group.wang_cards:
        stands = show_cards(group.wang_cards, ascii)
        text = f"{show_cards(group.faces, ascii)} ({'w' if ascii else '王'}={stands})"
    return text


def _names_text(names: Sequence[str], lang: str) -> str:
    if lang == "zh":
        return " ".join(FAN_ZH[FAN_NAMES.index(name)] for name in names) or "无名堂"
    return ", ".join(names) or "no name"


def _group_rows(groups: Sequence[Group], lang: str, ascii: bool) -> list[tuple[str, str, str, str]]:
    rows = []
    for group in groups:
        where = ""
        if group.winning:
            where = {"en": "winning card", "zh": "胡的牌"}[lang]
        elif group.exposed:
            where = {"en": "on the table", "zh": "已下桌"}[lang]
        kind = TYPE_ZH[group.type] if lang == "zh" else TYPE_NAMES[group.type].replace("_", " ")
        rows.append((kind, _group_text(group, ascii), str(group.huxi), where))
    return rows


def print_reports(reports: Sequence[Report], lang: str, ascii: bool = False) -> None:
    """Print reports to stdout, one below the other."""
    from rich.console import Console

    console = Console(highlight=False)
    for number, item in enumerate(reports):
        if number:
            console.print()
        if len(reports) > 1:
            console.print(item.hand.variant.name, style="bold")
        _print_report(console, item, lang, ascii)


def _print_report(console: Any, item: Report, lang: str, ascii: bool) -> None:
    if not item.answer:
        _print_waits(console, item, lang, ascii)
        return
    answer = item.answer
    if not answer["win"]:
        reason = _REASONS_ZH[answer["reason"]] if lang == "zh" else answer["reason"]
        detail = f" ({answer['detail']})" if lang == "en" and answer.get("detail") else ""
        console.print({"en": f"no win: {reason}{detail}", "zh": f"不能胡：{reason}"}[lang])
    else:
        names = _names_text(answer["names"], lang)
        console.print(
            {
                "en": f"win: {answer['huxi']} huxi, {answer['tun']} tun × {answer['fan']} fan ({names}) "
                f"= {answer['score']}",
                "zh": f"胡牌：{answer['huxi']} 胡息，{answer['tun']} 囤 × {answer['fan']} 番（{names}）"
                f"＝ {answer['score']}",
            }[lang]
        )
        from sim.explain import best_arrangement

        best = best_arrangement(item.hand)
        if best is not None:
            _print_groups(console, best.groups, lang, ascii)
    if item.arrangements:
        _print_arrangements(console, item.arrangements, lang, ascii)


def _print_groups(console: Any, groups: Sequence[Group], lang: str, ascii: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    heads = {"en": ("group", "cards", "huxi", ""), "zh": ("门子", "牌", "胡息", "")}[lang]
    for head, side in zip(heads, ("left", "left", "right", "left"), strict=True):
        table.add_column(head, justify=side)  # type: ignore[arg-type]
    for row in _group_rows(groups, lang, ascii):
        table.add_row(*row)
    console.print(table)


def _print_arrangements(console: Any, found: Sequence[Arrangement], lang: str, ascii: bool) -> None:
    console.print({"en": f"{len(found)} arrangements:", "zh": f"共 {len(found)} 种组法："}[lang])
    for one in found:
        groups = "  ".join(_group_text(group, ascii) for group in one.groups)
        value = {
            "en": f"{one.huxi} huxi × {one.fan} fan = {one.score}"
            if one.wins
            else f"{one.huxi} huxi, no win",
            "zh": f"{one.huxi} 胡息 × {one.fan} 番 ＝ {one.score}"
            if one.wins
            else f"{one.huxi} 胡息，不能胡",
        }[lang]
        console.print(f"  {value}: {groups}", soft_wrap=True)


def _print_waits(console: Any, item: Report, lang: str, ascii: bool) -> None:
    from rich.table import Table

    from sim.cards import parse_cards

    if not item.waits:
        console.print(
            {"en": "waits for nothing: no card completes this hand", "zh": "没有听牌：摸什么都不能胡"}[lang]
        )
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    heads = {
        "en": ("card", "unseen", "draw", "huxi", "tun", "fan", "score", "names"),
        "zh": ("听", "未见", "谁摸", "胡息", "囤", "番", "得分", "名堂"),
    }[lang]
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number in (0, 2, 7) else "right")
    draws = {"en": {"own": "own", "other": "another's"}, "zh": {"own": "自摸", "other": "别家"}}[lang]
    for row in item.waits:
        for draw in ("own", "other"):
            if row[draw]:
                value = row[draw]
                table.add_row(
                    show_cards(parse_cards(row["card"]), ascii),
                    str(row["unseen"]),
                    draws[draw],
                    *(str(value[key]) for key in ("huxi", "tun", "fan", "score")),
                    _names_text(value["names"], lang),
                )
    console.print(table)
