"""Words of the replay, in Chinese and English: events, groups, seats and fan names.

One place for all of them, so that the text replay, the page and the complaints of the log check speak alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sim.cards import FACES, card_name, parse_cards, show_cards
from sim.groups import TYPE_NAMES, TYPE_ZH

Lang = Literal["zh", "en"]
LANGS: tuple[Lang, Lang] = ("zh", "en")

ROLES = {
    "zh": {"dealer": "庄家", "next": "下家", "third": "上家", "sitter": "醒家"},
    "en": {"dealer": "dealer", "next": "next", "third": "third", "sitter": "sitter"},
}

TYPES: dict[str, dict[str, str]] = {
    "zh": dict(zip(TYPE_NAMES, TYPE_ZH, strict=True)) | {"chi": "吃"},
    "en": {name: name for name in TYPE_NAMES}
    | {"chi": "chi", "two_seven_ten": "2-7-10", "one_two_three": "1-2-3"},
}

FANS = {
    "zh": {
        "red": "红胡",
        "one_red": "一点朱",
        "black": "黑胡",
        "zimo": "自摸",
        "wang_diao": "王钓",
        "wang_diao_wang": "王钓王",
        "wang_chuang": "王闯",
        "wang_chuang_wang": "王闯王",
        "wang_zha": "王炸",
        "wang_zha_wang": "王炸王",
    },
    "en": {
        "red": "red",
        "one_red": "one red",
        "black": "black",
        "zimo": "zimo (own draw)",
        "wang_diao": "wang diao",
        "wang_diao_wang": "wang diao wang",
        "wang_chuang": "wang chuang",
        "wang_chuang_wang": "wang chuang wang",
        "wang_zha": "wang zha",
        "wang_zha_wang": "wang zha wang",
    },
}

OPTIONS = {
    "zh": {
        "win": "胡",
        "peng": "碰",
        "chi": "吃",
        "pao": "跑",
        "ti": "提",
        "wei": "偎",
        "discard": "打牌",
    },
    "en": {
        "win": "win",
        "peng": "peng",
        "chi": "chi",
        "pao": "pao",
        "ti": "ti",
        "wei": "wei",
        "discard": "discard",
    },
}

VARIANTS = {
    "zh": {"two_wang": "双王", "three_wang": "三王", "four_wang": "四王", "base": "基本玩法"},
    "en": {
        "two_wang": "two wangs",
        "three_wang": "three wangs",
        "four_wang": "four wangs",
        "base": "base rules",
    },
}

REASONS = {
    "zh": {"win": "胡牌", "xing": "醒", "wang": "王霸"},
    "en": {"win": "win", "xing": "xing", "wang": "wangs"},
}


def check_lang(lang: str) -> Lang:
    """``lang`` itself, if the replay speaks it.

    Raises
    ------
    ValueError
        For anything but ``zh`` and ``en``.
    """
    for known in LANGS:
        if lang == known:
            return known
    raise ValueError(f"language {lang!r} must be zh or en")


def role_of(dealer: int, sitter: int | None, seats: int, seat: int) -> str:
    """Key of :data:`ROLES` for a seat: dealer, next, third or sitter, in turn order from the dealer."""
    if seat == sitter:
        return "sitter"
    if seat == dealer:
        return "dealer"
    return "next" if seat == (dealer + 1) % seats else "third"


def seat_name(seat: int, lang: str) -> str:
    """``0号`` or ``seat 0``."""
    return f"{seat}号" if lang == "zh" else f"seat {seat}"


def recode(cards: str, ascii: bool) -> str:
    """Chinese card text as it is, or in ASCII tokens."""
    return show_cards(parse_cards(cards), True) if ascii else cards


def _card(event: Mapping[str, Any], ascii: bool) -> str:
    card = event.get("card")
    return card_name(FACES.index(card), ascii) if isinstance(card, str) and card in FACES else "?"


def _groups(event: Mapping[str, Any], ascii: bool, join: str) -> str:
    groups: Sequence[str] = event.get("groups", [])
    return join.join(recode(group, ascii) for group in groups)


def describe(event: Mapping[str, Any], lang: str = "zh", ascii: bool = False) -> str:
    """One event in a few words, with its seat.

    Parameters
    ----------
    event : mapping
        Of a game log.
    lang : str
        ``zh`` or ``en``.
    ascii : bool
        Cards as ``s1``…``s10``, ``b1``…``b10``, ``w``.
    """
    seat = event.get("seat")
    who = f"{seat_name(seat, lang)} " if isinstance(seat, int) else ""
    tell = _tell_zh if lang == "zh" else _tell_en
    return who + tell(event, ascii)


def _tell_zh(event: Mapping[str, Any], ascii: bool) -> str:
    kind, card = event["type"], _card(event, ascii)
    if kind == "win":
        how = {"own": f"自摸 {card}，胡牌", "other": f"胡他人摸出的 {card}", "deal": "天胡"}
        return how.get(str(event.get("by")), "胡牌")
    if kind == "pass":
        return f"不{OPTIONS['zh'].get(str(event.get('option')), '要')} {'' if card == '?' else card}（过）"
    base = TYPES["zh"].get(str(event.get("base")), "")
    texts = {
        "start": "发牌",
        "draw": f"摸 {card}" + ("（暗）" if event.get("hidden") else ""),
        "discard": f"打出 {card}",
        "ti": f"提 {card}" + ("（起手）" if event.get("from") == "deal" else f"（{base}提）"),
        "wei": f"偎 {card}" + ("（臭偎，明示）" if event.get("open") else ""),
        "pao": f"跑 {card}（{base}跑）",
        "peng": f"碰 {card}",
        "chi": f"吃 {card}：{_groups(event, ascii, '，下火 ')}",
        "dead": "无牌可打，死手",
        "draw_game": "牌墙已尽，荒庄",
        "end": "结算",
    }
    return texts.get(kind, str(kind))


def _tell_en(event: Mapping[str, Any], ascii: bool) -> str:
    kind, card = event["type"], _card(event, ascii)
    if kind == "win":
        how = {
            "own": f"draws {card} and wins",
            "other": f"wins on another's draw, {card}",
            "deal": "wins on the deal (heavenly win)",
        }
        return how.get(str(event.get("by")), "wins")
    if kind == "pass":
        option = OPTIONS["en"].get(str(event.get("option")), "claim")
        return f"passes the {option}" + (
            "" if card == "?" else f" of {card}" if option != "win" else f" on {card}"
        )
    base = TYPES["en"].get(str(event.get("base")), "")
    dash = " - " if ascii else " – "
    texts = {
        "start": "the deal",
        "draw": f"draws {card}" + (" (hidden)" if event.get("hidden") else ""),
        "discard": f"discards {card}",
        "ti": f"lays a ti of {card} " + ("(dealt)" if event.get("from") == "deal" else f"(from a {base})"),
        "wei": f"lays a {'chou wei, open,' if event.get('open') else 'wei'} of {card}",
        "pao": f"lays a pao of {card} (from a {base})",
        "peng": f"pengs {card}",
        "chi": f"chis {card}: {_groups(event, ascii, ', bi ')}",
        "dead": f"has no card to discard{dash}dead hand",
        "draw_game": f"the wall is empty{dash}draw game",
        "end": "the payments",
    }
    return texts.get(kind, str(kind))
