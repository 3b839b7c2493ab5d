"""The keys of a variant: types, ranges, preset values, and what each says, in English and Chinese.

One field a key of the rules; the model is strict and frozen. The words serve the schema, ``variants diff`` and reports.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

Words = dict[str, str]


class Section(BaseModel):
    """Base of all sections: unknown keys and implicit conversions are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


def key(
    default: Any,
    rule: str,
    en: str,
    zh: str,
    values: dict[str, tuple[str, str]] | None = None,
    home: bool = False,
) -> Any:
    """A field with its rule number and words; ``{}`` in them stands for the value.

    ``values`` gives, for keys with few values, the whole sentence for each. ``home`` says that this field is where
    the code has the rule.
    """
    extra: Any = {"rule": rule, "en": en, "zh": zh}
    if values:
        extra |= {f"en:{value}": words[0] for value, words in values.items()}
        extra |= {f"zh:{value}": words[1] for value, words in values.items()}
    text = en.replace("{}", "…") if en else "; ".join(words[0] for words in (values or {}).values())
    description = f"Rule {rule}: {text}" if home else f"{text} ({rule})"
    return Field(default, description=description, json_schema_extra={"x-words": extra})


def flag(default: bool, rule: str, on: tuple[str, str], off: tuple[str, str]) -> Any:
    """A yes-or-no key with the sentence for each."""
    return key(default, rule, "", "", {"true": on, "false": off})


Fan = Annotated[StrictInt, Field(ge=1, le=100)]
HuxiValue = Annotated[StrictInt, Field(ge=0, le=100)]


class Deck(Section):
    """The cards."""

    wangs: Annotated[StrictInt, Field(ge=0, le=4)] = key(
        2, "1.1", "The deck holds {} wangs besides the 80 ordinary cards.", "除80张字牌外另加{}张王霸。"
    )


class TableRules(Section):
    """Seats and dealers."""

    seats: Literal[3, 4] = key(
        4,
        "1.12",
        "",
        "",
        {
            "3": ("Three seats, all of them play.", "三人三座，人人上场。"),
            "4": ("Four seats; the one opposite the dealer sits out.", "四人坐醒，庄家对家为醒家。"),
        },
    )
    first_dealer: Literal["owner", "random"] = key(
        "owner",
        "1.2",
        "",
        "",
        {
            "owner": ("The room's owner (seat 0) deals first.", "开局由房主坐庄。"),
            "random": ("The first dealer is drawn at random.", "开局随机坐庄。"),
        },
    )
    dealer_after_win: Literal["winner", "stays", "next"] = key(
        "winner",
        "1.2",
        "",
        "",
        {
            "winner": ("After a win the winner deals.", "胡牌后由胡家坐庄。"),
            "stays": ("After a win the dealer stays.", "胡牌后庄家不变。"),
            "next": ("After a win the next seat deals.", "胡牌后庄家轮到下家。"),
        },
    )
    dealer_after_draw: Literal["next", "stays"] = key(
        "next",
        "1.2",
        "",
        "",
        {
            "next": ("After a draw game the next seat deals.", "荒庄后庄流到下家。"),
            "stays": ("After a draw game the dealer stays.", "荒庄后庄家不变。"),
        },
    )


class Deal(Section):
    """The deal."""

    heavenly_win: StrictBool = flag(
        True,
        "1.13",
        ("The dealer may win on the dealt 21 cards.", "庄家起手21张可天胡。"),
        ("The dealer may not win on the dealt cards.", "不设天胡。"),
    )


class Turn(Section):
    """How turns go."""

    extra_quad: Literal["skip_discard", "replacement_draw"] = key(
        "skip_discard",
        "2.8",
        "",
        "",
        {
            "skip_discard": ("A further ti or pao is not followed by a discard.", "重跑、重提后不打牌。"),
            "replacement_draw": (
                "For each further dealt ti a replacement card is drawn at the start.",
                "起手每多一提，开局先补一张牌。",
            ),
        },
    )
    peng_to_pao: Literal["any_draw", "others_draw"] = key(
        "any_draw",
        "2.5",
        "",
        "",
        {
            "any_draw": (
                "A peng becomes a pao by a card that anyone draws.",
                "碰过的牌，任何人摸出第四张都可开跑。",
            ),
            "others_draw": (
                "A peng becomes a pao only by a card that another draws.",
                "碰过的牌，只有别人摸出第四张才可跑。",
            ),
        },
    )
    chi_from_upstream_draw: StrictBool = flag(
        True,
        "2.9",
        ("The next player may chi a card that the player before him drew.", "上家摸出不要的牌，下家可以吃。"),
        ("A drawn card may be chi'd by its drawer only.", "摸出的牌只有本人可以吃。"),
    )


class Pass(Section):
    """What passing costs."""

    blocks_chi: StrictBool = flag(
        True,
        "2.10",
        ("A kind passed as chi may not be chi'd later.", "吃牌过张后，同张不能再吃。"),
        ("Passing a chi has no consequence.", "吃牌过张不受限制。"),
    )
    blocks_peng: StrictBool = flag(
        True,
        "2.10",
        ("A kind passed as peng may not be peng'd later.", "忍碰后，同张不能再碰。"),
        ("After passing a peng the kind may be peng'd later.", "忍碰后，同张仍可再碰。"),
    )
    own_discard_blocks_chi: StrictBool = flag(
        True,
        "2.10",
        ("A kind that one discarded oneself may not be chi'd later.", "自己打过的牌，同张不能再吃。"),
        ("One may chi a kind that one has discarded.", "自己打过的牌仍可再吃。"),
    )


WangCount = Literal[1, 2, 3, 4]
MinFan = dict[WangCount, Annotated[StrictInt, Field(ge=1, le=1_000_000)]]


class WangLimit(Section):
    """Limits for holders of wangs."""

    mode: Literal["none", "by_fan", "by_wang"] = key(
        "none",
        "1.10",
        "",
        "",
        {
            "none": ("Holding wangs does not limit the win.", "有王不限胡。"),
            "by_fan": ("With wangs a win needs a least number of fan.", "按番限胡：有王须够番才可胡牌。"),
            "by_wang": (
                "With many wangs only a wang special wins.",
                "按王限胡：王多时只能王钓、王闯、王炸。",
            ),
        },
    )
    min_fan: MinFan = key(
        {1: 2, 2: 4, 3: 8, 4: 16},
        "1.10",
        "Under the fan limit a win needs at least {}.",
        "按番限胡时，{}起胡。",
        home=True,
    )
    special_only_from: Annotated[StrictInt, Field(ge=1, le=5)] = key(
        3,
        "1.11",
        "Under the wang limit only a wang special wins from {} wangs on.",
        "按王限胡时，{}个王起只能王钓、王闯、王炸。",
        home=True,
    )

    @field_validator("min_fan", mode="after")
    @classmethod
    def _whole_table(cls, value: dict[int, int]) -> dict[int, int]:
        if sorted(value) != [1, 2, 3, 4]:
            raise ValueError(
                "must give the least fan for 1, 2, 3 and 4 wangs, e.g. {1: 2, 2: 4, 3: 8, 4: 16}"
            )
        table = {wangs: value[wangs] for wangs in (1, 2, 3, 4)}
        if list(table.values()) != sorted(table.values()):
            raise ValueError("must not fall as the number of wangs grows, e.g. {1: 2, 2: 4, 3: 8, 4: 16}")
        return table


class Win(Section):
    """What a win needs."""

    min_huxi: Annotated[StrictInt, Field(ge=0, le=1000)] = key(
        15, "5.1", "A win needs at least {} huxi.", "{}胡息起胡。", home=True
    )
    forced_first: StrictBool = flag(
        True,
        "5.3",
        ("A win on a card that makes a wei or ti must use it there.", "摸成偎或提的牌，须按偎、提来胡。"),
        (
            "A win comes before a compulsory wei or ti and may use the card anywhere.",
            "先问胡再偎、提，摸到的牌可任意组合。",
        ),
    )
    declare_special: StrictBool = flag(
        True,
        "5.3",
        (
            "A wang special that was sure before the draw may be declared instead of the wei or ti.",
            "摸牌前已听死王钓、王闯、王炸的，可不偎不提直接胡。",
        ),
        ("A wei or ti always comes before a wang special.", "必须先偎、提，不能直接胡王钓、王闯、王炸。"),
    )
    wang_limit: WangLimit = WangLimit()


class Wang(Section):
    """What wangs may do."""

    ti: StrictBool = flag(
        True,
        "5.3",
        ("Wangs may make a ti or lift a wei or kan to one.", "王可以凑成提，也可以把偎、坎补成提。"),
        ("No four alike with a wang, wang zha included.", "王不能凑成四张，也没有王炸。"),
    )


class Sizes(Section):
    """A value for small and one for large groups."""

    small: HuxiValue
    large: HuxiValue


def _sizes(small: int, large: int, rule: str, text: str) -> Any:
    """A field of two values; the runs and jiao without huxi have their rules elsewhere."""
    description = f"Rule {rule}: huxi of a {text}" if rule else f"Huxi of a {text}"
    return Field(Sizes(small=small, large=large), description=description)


class Huxi(Section):
    """Huxi of the groups."""

    ti: Sizes = _sizes(9, 12, "3.1", "ti")
    pao: Sizes = _sizes(6, 9, "3.3", "pao")
    wei: Sizes = _sizes(3, 6, "3.2", "wei")
    kan: Sizes = _sizes(3, 6, "3.7", "kan")
    peng: Sizes = _sizes(1, 3, "3.4", "peng")
    two_seven_ten: Sizes = _sizes(3, 6, "3.5", "2-7-10")
    one_two_three: Sizes = _sizes(3, 6, "3.6", "1-2-3")
    run: Sizes = _sizes(0, 0, "", "run other than 1-2-3 and 2-7-10")
    jiao: Sizes = _sizes(0, 0, "", "jiao")


class Tun(Section):
    """From huxi to tun."""

    base: Annotated[StrictInt, Field(ge=0, le=100)] = key(
        1, "3.8", "A win with just enough huxi is {} tun.", "刚够起胡算{}囤。"
    )
    step: Annotated[StrictInt, Field(ge=1, le=100)] = key(
        3, "3.8", "Each further {} huxi add one tun.", "每多{}胡息加1囤。"
    )


class FanRules(Section):
    """Fan names and their factors."""

    red: Fan = key(2, "4.1", "Red multiplies by {}.", "红胡{}番。", home=True)
    one_red: Fan = key(3, "4.2", "One red card multiplies by {}.", "一点朱{}番。", home=True)
    black: Fan = key(4, "4.3", "Black multiplies by {}.", "黑胡{}番。", home=True)
    zimo: Fan = key(2, "4.4", "An own draw multiplies by {}.", "自摸{}番。")
    wang_diao: Fan = key(4, "4.5", "Wang diao multiplies by {}.", "王钓{}番。", home=True)
    wang_diao_wang: Fan = key(8, "4.6", "Wang diao wang multiplies by {}.", "王钓王{}番。", home=True)
    wang_chuang: Fan = key(8, "4.7", "Wang chuang multiplies by {}.", "王闯{}番。", home=True)
    wang_chuang_wang: Fan = key(16, "4.8", "Wang chuang wang multiplies by {}.", "王闯王{}番。", home=True)
    wang_zha: Fan = key(16, "4.9", "Wang zha multiplies by {}.", "王炸{}番。", home=True)
    wang_zha_wang: Fan = key(32, "4.10", "Wang zha wang multiplies by {}.", "王炸王{}番。", home=True)
    red_min: Annotated[StrictInt, Field(ge=0, le=30)] = key(
        10, "4.1", "Red needs at least {} red cards.", "红字满{}张算红胡。"
    )
    special_includes_zimo: StrictBool = flag(
        False,
        "4.4",
        ("An own draw multiplies a wang special too.", "王钓、王闯、王炸另乘自摸番。"),
        ("A wang special stands in place of the own draw.", "王钓、王闯、王炸不再另算自摸。"),
    )


class Xing(Section):
    """The xing bonus."""

    card: Literal["follow", "flip", "none"] = key(
        "follow",
        "2.13",
        "",
        "",
        {
            "follow": ("The xing card is the winning card.", "跟醒：以胡的牌为醒。"),
            "flip": ("The xing card is the next wall card.", "翻醒：翻开墩上下一张为醒。"),
            "none": ("There is no xing.", "不计醒。"),
        },
    )
    payment: Literal["dealer_side", "any_winner", "winner_only"] = key(
        "dealer_side",
        "2.13",
        "",
        "",
        {
            "dealer_side": (
                "The dealer and the sitter share the xing, won or lost.",
                "庄家和醒家各算一份醒，输赢都算。",
            ),
            "any_winner": (
                "The losers pay xing to the winner and to the sitter, whoever wins.",
                "不论谁胡，输家都付胡家和醒家各一份醒。",
            ),
            "winner_only": ("All xing goes to the winner.", "醒钱全归胡家。"),
        },
    )
    singles: Literal[1, 2] = key(
        2,
        "2.13",
        "",
        "",
        {"1": ("Single xing.", "单醒。"), "2": ("Double xing.", "双醒。")},
    )


class WangPayout(Section):
    """What holders of wangs pay in a draw game."""

    enabled: StrictBool = flag(
        True,
        "1.3",
        ("In a draw game holders of wangs pay those without.", "荒庄时，有王的赔给无王的。"),
        ("In a draw game nobody pays.", "荒庄不赔王。"),
    )
    unit: Annotated[StrictInt, Field(ge=0, le=10_000)] = key(
        5, "1.3", "Each wang costs {} in a draw game.", "荒庄每张王赔{}。"
    )
    all_in_one: Annotated[StrictInt, Field(ge=1, le=100)] = key(
        1,
        "1.3",
        "Who holds every wang pays the two other players {} times.",
        "所有王在一人手里时，赔左右家乘{}倍。",
    )


class Draw(Section):
    """Draw games."""

    wang_payout: WangPayout = WangPayout()


class Bilingual(Section):
    """A text in both languages."""

    en: Annotated[StrictStr, Field(max_length=200)]
    zh: Annotated[StrictStr, Field(max_length=200)]


_HUXI_WORDS = {
    "ti": ("3.1", "ti", "提"),
    "pao": ("3.3", "pao", "跑"),
    "wei": ("3.2", "wei", "偎"),
    "kan": ("3.7", "kan", "坎"),
    "peng": ("3.4", "peng", "碰"),
    "two_seven_ten": ("3.5", "2-7-10", "二七十"),
    "one_two_three": ("3.6", "1-2-3", "一二三"),
    "run": ("1.8", "other run", "普通一句话"),
    "jiao": ("1.9", "jiao", "绞"),
}


class Rules(Section):
    """Every key of a variant; its dotted names are those of the rules document."""

    title: Bilingual | None = None
    about: Bilingual | None = None
    deck: Deck = Deck()
    table: TableRules = TableRules()
    deal: Deal = Deal()
    turn: Turn = Turn()
    pass_: Pass = Field(default=Pass(), alias="pass")
    win: Win = Win()
    wang: Wang = Wang()
    huxi: Huxi = Huxi()
    tun: Tun = Tun()
    fan: FanRules = FanRules()
    xing: Xing = Xing()
    draw: Draw = Draw()
    stake: Annotated[StrictInt, Field(ge=1, le=10_000)] = key(
        1, "3.9", "Every payment is multiplied by {}.", "底分为{}。"
    )
    cap: Annotated[StrictInt, Field(ge=0, le=1_000_000_000)] = key(
        0,
        "3.9",
        "One payer pays one payee at most {} for a win and xing (0: no cap).",
        "每家胡钱连醒钱最多付{}（0为不封顶）。",
    )

    @model_validator(mode="after")
    def _winnable(self) -> Rules:
        limit = self.win.wang_limit
        if limit.mode == "by_wang" and limit.special_only_from == 1 and not self.deck.wangs:
            raise ValueError("win.wang_limit.mode by_wang needs wangs in the deck")
        return self


def _walk(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        dotted = prefix + (field.alias or name)
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            found |= _walk(kind, f"{dotted}.")
        elif dotted not in ("title", "about"):
            found[dotted] = field
    return found


FIELDS: dict[str, Any] = _walk(Rules)
"""Dotted key to pydantic field, in the order of the rules."""

KEYS: tuple[str, ...] = tuple(FIELDS)

SECTIONS: frozenset[str] = frozenset(
    ".".join(parts[:length])
    for parts in (name.split(".") for name in KEYS)
    for length in range(1, len(parts))
)


def rule_of(dotted: str) -> str:
    """Number of the rule that a key belongs to."""
    if dotted.startswith("huxi."):
        return _HUXI_WORDS[dotted.split(".")[1]][0]
    return str(FIELDS[dotted].json_schema_extra["x-words"]["rule"])


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{wangs}: {fan}" for wangs, fan in value.items())
    return str(value)


def describe(dotted: str, value: object, lang: str = "en") -> str:
    """What a key says with this value, as one sentence for players.

    Parameters
    ----------
    dotted : str
        A key of the rules.
    value : object
        One of its legal values.
    lang : str
        ``en`` or ``zh``.
    """
    if dotted.startswith("huxi."):
        _, group, size = dotted.split(".")
        _, en, zh = _HUXI_WORDS[group]
        if lang == "zh":
            return f"{'大字' if size == 'large' else '小字'}{zh}算{value}胡息。"
        return f"A {size} {en} counts {value} huxi."
    words: Words = FIELDS[dotted].json_schema_extra["x-words"]
    if isinstance(value, dict):
        chinese = lang == "zh"
        parts = [
            f"{wangs}王{fan}番"
            if chinese
            else f"{fan} fan with {wangs} wang{'' if str(wangs) == '1' else 's'}"
            for wangs, fan in value.items()
        ]
        return words[lang].replace("{}", ("、" if chinese else ", ").join(parts))
    template = words.get(f"{lang}:{_shown(value)}") or words[lang]
    return template.replace("{}", _shown(value))
