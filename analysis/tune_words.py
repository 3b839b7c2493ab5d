"""A certificate in words: Markdown in English and Chinese, one HTML page, and lines for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.compare_words import full_name
from analysis.metrics import METRICS, Text
from analysis.pages import Block, Code, Grid, Heading, Items, Paragraph, Picture, forest, markdown, page
from analysis.tables import format_difference
from analysis.tune_spec import overrides
from sim.parts import write_atomic

SHOWN = 40
"""Settings that a page lists; the certificate itself has all."""

_VERDICTS = {
    "met": Text("met", "达到"),
    "missed": Text("missed", "未达到"),
    "open": Text("open", "未定"),
}
_TONES = {"met": "good", "open": "open", "not_found": "bad", "impossible": "bad"}
_FATES = {
    "short": Text("short list", "入围"),
    "out": Text("misses a target", "确定不合目标"),
    "worse": Text("shown to be worse", "确定较差"),
    "rank": Text("not among the best", "排名靠后"),
}


def cell(held: Mapping[str, Any] | None, key: str, signed: bool = False) -> str:
    """Value or difference with its interval."""
    if held is None:
        return "–"
    value = held.get("value", held.get("difference"))
    if value is None:
        return "–"
    item = METRICS[key]
    text = format_difference(value, held["low"], held["high"], item, signed)
    if signed:
        return f"{text} pp" if item.unit == "share" else text
    return f"{text} %" if item.unit == "share" else text


def _plain(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value * 100:.3g} %" if METRICS[key].unit == "share" else f"{value:.4g}"


def goal_text(goal: Mapping[str, Any], lang: str) -> str:
    """A target, e.g. ``4.5 % to 5.5 %``."""
    low, high = (None if goal[end] is None else _plain(goal["metric"], goal[end]) for end in ("low", "high"))
    if low is not None and high is not None:
        return f"{low} to {high}" if lang == "en" else f"{low} 至 {high}"
    return f"≥ {low}" if high is None else f"≤ {high}"


def setting_text(setting: Mapping[str, Any]) -> str:
    """A setting as it would be written on the command line."""
    return ", ".join(overrides(setting))


def headline(document: Mapping[str, Any], lang: str) -> str:
    """Say in one sentence how the tuning ended."""
    verdict, winner = document["verdict"], document["chosen"] or document["nearest"]
    one = entry(document, winner)
    wanted = _wanted(document, lang)
    setting = f"`{setting_text(one['setting'])}`"
    got = "; ".join(
        f"{full_name(METRICS[key], lang)} {cell(one['values'][key], key)}" for key in one["values"]
    )
    level = f"{document['fresh']['level'] * 100:g} %"
    if lang == "zh":
        got = got.replace("; ", "；")
        return {
            "met": f"达到目标（{wanted}）：{setting}。新牌局上：{got}（各项合计 {level} 置信）。",
            "open": f"尚未证实（{wanted}）：最接近的是 {setting}；新牌局上：{got}。局数还不足以定论。",
            "not_found": f"未找到达到目标的方案（{wanted}）。最接近的是 {setting}；新牌局上：{got}。",
            "impossible": f"在给定的取值中不可能达到目标（{wanted}）：所有方案均被证实不合。"
            f"最接近的是 {setting}；新牌局上：{got}。",
        }[verdict]
    return {
        "met": f"Targets met ({wanted}) with {setting}. On fresh deals: {got} ({level} for all claims together).",
        "open": f"Not proven yet ({wanted}). The nearest is {setting}; on fresh deals: {got}. More games would decide it.",
        "not_found": f"No setting was found that meets the targets ({wanted}). The nearest is {setting}; on fresh deals: {got}.",
        "impossible": f"Impossible with these values ({wanted}): every setting was shown to miss. "
        f"The nearest reachable is {setting}; on fresh deals: {got}.",
    }[verdict]


def _wanted(document: Mapping[str, Any], lang: str) -> str:
    parts = [
        f"{full_name(METRICS[goal['metric']], lang)} {goal_text(goal, lang)}" for goal in document["targets"]
    ]
    for aim in document["objectives"]:
        name = full_name(METRICS[aim["metric"]], lang)
        parts.append(
            Text(
                f"{'least' if aim['sign'] > 0 else 'most'} {name}",
                f"{name}尽量{'小' if aim['sign'] > 0 else '大'}",
            )[lang]
        )
    return ("; " if lang == "en" else "；").join(parts)


def entry(document: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """Entry of the short list by its number."""
    found: Mapping[str, Any] = next(one for one in document["shortlist"] if one["number"] == number)
    return found


def blocks(document: Mapping[str, Any], lang: str) -> list[Block]:
    """The certificate as a document."""

    def t(en: str, zh: str) -> str:
        return en if lang == "en" else zh

    base, fresh = document["base"], document["fresh"]
    winner = document["chosen"] or document["nearest"]
    one = entry(document, winner)
    certain = document["verdict"] == "met"
    found: list[Block] = [
        Heading(1, t(f"Tuning of {base['title']['en']}", f"调整规则：{base['title']['zh']}")),
        Paragraph(headline(document, lang), _TONES[document["verdict"]]),
    ]
    if document["more_games"]:
        number = f"{document['more_games']:,}"
        found.append(
            Paragraph(
                t(
                    f"About {number} games of each setting on fresh deals would decide it, if the values stay as they are.",
                    f"若数值不变，每个方案约需 {number} 局新牌局方可定论。",
                )
            )
        )
    found += [
        Heading(
            2,
            t("What changes for players", "玩家须知的改动")
            if certain
            else t("The nearest setting, for players", "最接近的方案（对玩家而言）"),
        ),
        Items(tuple(one["words"][lang]))
        if one["words"][lang]
        else Paragraph(t("Nothing: the rules stay as they are.", "不变：规则照旧。")),
        Code(one["patch"]),
        Heading(2, t("Proof on fresh deals", "新牌局上的验证")),
        Paragraph(
            t(
                f"{fresh['games']:,} games of each, deals of seed {fresh['seed']} that the search never saw, bots {fresh['bots']}. "
                f"Each interval has level {fresh['value_level'] * 100:.4g} %, so that all {fresh['claims']} hold together, "
                f"and the differences below with them, at {fresh['level'] * 100:g} %.",
                f"每种 {fresh['games']:,} 局，发牌种子 {fresh['seed']}，搜索时从未用过；机器人 {fresh['bots']}。"
                f"每个区间取 {fresh['value_level'] * 100:.4g} % 水平，使 {fresh['claims']} 个结论连同下文各差值"
                f"合计仍有 {fresh['level'] * 100:g} % 置信。",
            )
        ),
        _short_table(document, lang),
    ]
    found += _pictures(document, lang)
    if len(document["shortlist"]) > 1:
        found.append(
            Paragraph(
                t(
                    "◆ on the Pareto front: no other setting of the short list is better in one column without being worse in another.",
                    "◆ 在帕累托前沿上：入围方案中没有哪个在一项上更好而其他项都不差。",
                )
            )
        )
    found += [
        Heading(2, t("Change from the base, on the same deals", "与原规则的差别（同一副牌局）")),
        _change_table(document, one, lang),
    ]
    found += _curse(document, one, lang)
    found += _robust(document, lang)
    found += _search(document, lang)
    found += [
        Heading(2, t("Check it again", "复核")),
        Code(document["check"]),
        Paragraph(
            t(
                "plays the same games again and compares every number; with `--seed N` it takes other deals and says whether the verdicts hold.",
                "重打同样的牌局并逐一核对数字；加 `--seed N` 则换一批牌局，看结论是否仍成立。",
            )
        ),
        Grid(
            (t("what", "项目"), "SHA-256"),
            (
                (t("base", "原规则"), f"`{base['digest']}`"),
                (t("setting", "方案") + f" {winner}", f"`{one['digest']}`"),
                (t("spec", "任务书") + f" {document['spec']['file']}", f"`{document['spec']['sha256']}`"),
                (t("engine", "引擎"), f"`{document['rules']}`"),
                (t("certificate", "证书"), f"`{document['sha256']}`"),
            ),
            right=2,
        ),
        Paragraph(document["tool"]),
    ]
    return found


def _short_table(document: Mapping[str, Any], lang: str) -> Grid:
    keys = list(document["base"]["values"])
    goals = {goal["metric"]: goal for goal in document["targets"]}
    head = [Text("setting", "方案")[lang]]
    for key in keys:
        wish = f" ({goal_text(goals[key], lang)})" if key in goals else ""
        head.append(full_name(METRICS[key], lang) + wish)
    head.append("")

    def line(name: str, held: Mapping[str, Any], mark: str) -> tuple[str, ...]:
        cells = []
        for key in keys:
            verdict = held["verdicts"].get(key)
            word = f" {_VERDICTS[verdict][lang]}" if verdict else ""
            cells.append(cell(held["values"][key], key) + word)
        return (name, *cells, mark)

    rows = [line(Text("base", "原规则")[lang], document["base"], "")]
    for one in document["shortlist"]:
        marks = ("◆ " if one["front"] else "") + ("★" if one["number"] == document["chosen"] else "")
        rows.append(line(f"{one['number']}: `{setting_text(one['setting'])}`", one, marks.strip()))
    return Grid(tuple(head), tuple(rows))


def _pictures(document: Mapping[str, Any], lang: str) -> list[Block]:
    goals = {goal["metric"]: (goal["low"], goal["high"]) for goal in document["targets"]}
    found: list[Block] = []
    for key in document["base"]["values"]:
        rows = []
        for name, held in (
            (Text("base", "原规则")[lang], document["base"]),
            *((f"{Text('setting', '方案')[lang]} {one['number']}", one) for one in document["shortlist"]),
        ):
            value = held["values"][key]
            if value["value"] is not None:
                rows.append(
                    (name, value["value"], value["low"], value["high"], held["verdicts"].get(key, ""))
                )
        if rows:
            title = full_name(METRICS[key], lang)
            svg = forest(rows, goals.get(key, (None, None)), title, METRICS[key].unit == "share")
            found.append(Picture(svg, title))
    return found


def _change_table(document: Mapping[str, Any], one: Mapping[str, Any], lang: str) -> Block:
    if not one["differences"]:
        return Paragraph(Text("The setting is the base itself.", "该方案即原规则。")[lang])
    heads = (
        Text("metric", "指标")[lang],
        Text("base", "原规则")[lang],
        Text("setting", "方案")[lang] + f" {one['number']}",
        Text("difference", "差")[lang],
        Text("correlation", "相关")[lang],
    )
    rows = tuple(
        (
            full_name(METRICS[key], lang),
            _plain(key, document["base"]["values"][key]["value"]),
            _plain(key, one["values"][key]["value"]),
            cell(held, key, signed=True),
            "–" if held["correlation"] is None else f"{held['correlation']:.2f}",
        )
        for key, held in one["differences"].items()
    )
    return Grid(heads, rows)


def _curse(document: Mapping[str, Any], one: Mapping[str, Any], lang: str) -> list[Block]:
    parts = [
        f"{full_name(METRICS[key], lang)} {_plain(key, one['searched'].get(key))} → {_plain(key, held['value'])}"
        for key, held in one["values"].items()
    ]
    return [
        Paragraph(
            Text(
                "In the search its values were (chosen there, so flattering) and on fresh deals: "
                + "; ".join(parts)
                + ".",
                "搜索时的数值（因择优而偏好）与新牌局上的数值：" + "；".join(parts) + "。",
            )[lang]
        )
    ]


def _robust(document: Mapping[str, Any], lang: str) -> list[Block]:
    if not document["robust"]:
        return []
    keys = [goal["metric"] for goal in document["targets"]]
    mixes = document["robust"]
    good = sum(all(verdict == "met" for verdict in mix["verdicts"].values()) for mix in mixes)
    own = all(
        verdict == "met"
        for verdict in entry(document, document["chosen"] or document["nearest"])["verdicts"].values()
    )
    total = Text(
        f"All targets are met under {good + own} of {len(mixes) + 1} mixes of bots, the one that was tuned for included.",
        f"{len(mixes) + 1} 种机器人组合（含调整时所用的一种）中，{good + own} 种达到全部目标。",
    )[lang]
    rows = tuple(
        (
            mix["bots"],
            *(f"{cell(mix['values'][key], key)} {_VERDICTS[mix['verdicts'][key]][lang]}" for key in keys),
        )
        for mix in mixes
    )
    return [
        Heading(2, Text("Under other bots", "换用其他机器人")[lang]),
        Paragraph(total),
        Grid((Text("bots", "机器人")[lang], *(full_name(METRICS[key], lang) for key in keys)), rows),
    ]


def _search(document: Mapping[str, Any], lang: str) -> list[Block]:
    search = document["search"]
    counts: dict[str, int] = {}
    for one in search["tried"]:
        counts[one["fate"]] = counts.get(one["fate"], 0) + 1
    fates = (", " if lang == "en" else "、").join(
        f"{_FATES[fate][lang]} {number}" for fate, number in counts.items()
    )
    whole = (
        Text("the whole grid", "全部组合")[lang]
        if search["complete"]
        else Text("a part of all settings", "部分组合")[lang]
    )
    found: list[Block] = [
        Heading(2, Text("What was tried", "搜索过程")[lang]),
        Paragraph(
            Text(
                f"{search['settings']:,} settings ({search['method']}, {whole}), {search['games']:,} games on shared deals. "
                f"Fates: {fates}. A setting is thrown out as missing a target with error {search['alpha']:g} over all settings, "
                "targets and rounds. Values of this section served the search only.",
                f"共 {search['settings']:,} 种方案（{search['method']}，{whole}），在相同牌局上打了 {search['games']:,} 局。"
                f"结果：{fates}。以“不合目标”淘汰的误差率合计 {search['alpha']:g}（对全部方案、目标与轮次）。本节数值仅供搜索。",
            )[lang]
        ),
        Grid(
            (
                Text("round", "轮")[lang],
                Text("settings", "方案数")[lang],
                Text("games each", "每方案局数")[lang],
                Text("seed", "种子")[lang],
            ),
            tuple(
                (str(number), f"{one['settings']:,}", f"{one['games']:,}", str(one["seed"]))
                for number, one in enumerate(search["rounds"], start=1)
            ),
        ),
    ]
    lines = []
    for reach in search["reach"]:
        low, high = (_plain(reach["metric"], reach[end]) for end in ("lowest", "highest"))
        name = full_name(METRICS[reach["metric"]], lang)
        lines.append(
            Text(
                f"{name}: {low} to {high} over the settings; {reach['within']} of {reach['of']} within the target.",
                f"{name}：各方案介于 {low} 与 {high} 之间；{reach['of']} 种中 {reach['within']} 种在目标内。",
            )[lang]
        )
    if lines:
        found.append(Items(tuple(lines)))
    keys = list(document["base"]["values"])
    rows = tuple(
        (
            str(one["number"]),
            f"`{setting_text(one['setting'])}`",
            *(
                cell(dict(zip(("value", "low", "high"), one["values"][key], strict=True)), key)
                if key in one["values"]
                else "–"
                for key in keys
            ),
            f"{one['games']:,}",
            _fate(one, lang),
        )
        for one in search["tried"][:SHOWN]
    )
    head = (
        "",
        Text("setting", "方案")[lang],
        *(full_name(METRICS[key], lang) for key in keys),
        Text("games", "局数")[lang],
        Text("fate", "结果")[lang],
    )
    found.append(Grid(head, rows, right=2))
    if len(search["tried"]) > SHOWN:
        rest = len(search["tried"]) - SHOWN
        found.append(
            Paragraph(
                Text(
                    f"{rest} more settings are in the certificate (JSON).",
                    f"其余 {rest} 种方案见证书（JSON）。",
                )[lang]
            )
        )
    return found


def _fate(one: Mapping[str, Any], lang: str) -> str:
    word, reason = _FATES[one["fate"]][lang], one["reason"]
    if one["fate"] == "out":
        return f"{word}: {full_name(METRICS[reason['missed']], lang)}"
    if one["fate"] == "worse":
        return Text(f"{word} than {reason['than']}", f"{word}（不如方案 {reason['than']}）")[lang]
    return word


def write_pages(document: Mapping[str, Any], folder: Path) -> None:
    """Write ``certificate.md``, ``certificate.zh.md`` and ``certificate.html``."""
    bodies = {lang: blocks(document, lang) for lang in ("en", "zh")}
    write_atomic(folder / "certificate.md", markdown(bodies["en"]).encode())
    write_atomic(folder / "certificate.zh.md", markdown(bodies["zh"]).encode())
    title = f"chehuzi tune: {document['base']['name']}"
    write_atomic(folder / "certificate.html", page(title, bodies).encode())


def lines(document: Mapping[str, Any], lang: str) -> list[str]:
    """What the terminal says: the verdict, the table as lines, the change in rule words."""
    winner = document["chosen"] or document["nearest"]
    one = entry(document, winner)
    found = [headline(document, lang).replace("`", "")]
    for name, held in (
        (Text("base", "原规则")[lang], document["base"]),
        *((f"{item['number']}: {setting_text(item['setting'])}", item) for item in document["shortlist"]),
    ):
        values = "; ".join(
            f"{full_name(METRICS[key], lang)} {cell(held['values'][key], key)}"
            + (f" ({_VERDICTS[held['verdicts'][key]][lang]})" if key in held["verdicts"] else "")
            for key in held["values"]
        )
        found.append(f"  {name}: {values}" if lang == "en" else f"  {name}：{values}")
    found += one["words"][lang]
    return found
