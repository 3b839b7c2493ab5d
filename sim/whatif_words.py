"""Explained play in words: the options of a decision, what each is worth, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sim.cards import FACES, RANKS, WANG, parse_cards
from sim.explain import group_number
from sim.gamelog import Event
from sim.groups import GROUP_KINDS, GROUPS_OF, PENG
from sim.own_bot import Option, SeatView
from sim.params import Params
from sim.replay_text import columns, plain, wrap
from sim.replay_words import describe, recode, seat_name
from sim.whatif import Decision, Estimate, Game, Outcome, Valued

WORDS = {
    "zh": {
        "win": "胡",
        "peng": "碰",
        "chi": "吃",
        "discard": "打",
        "pass": "过",
        "head": "{seat}（{player}）怎么选：设想 {worlds} 副看不见的牌，各打到底（{by} 代打），± 为 95 % 区间",
        "score": "{} 分",
        "wins": "胜 {}",
        "own": "自评 {:.4g}",
        "only": "选得对：比次优的 {other} 多 {gain} 分{joint}。",
        "as_good": "平均最好；{other} 差 {gain} 分{joint}，分不出高下。",
        "equal": "与 {other} 一样好。",
        "better": "{other} 更好，多 {gain} 分{joint}。",
        "maybe": "{other} 看来更好，多 {gain} 分{joint}，但还在误差之内。",
        "joint": "（各选项合计 95 %）",
        "because": "选 {one}，自己胜 {win}，别家胜 {loss}；选 {other}，自己胜 {win2}，别家胜 {loss2}。",
        "pair": "拆对 {}",
        "run": "拆了整句 {}",
        "friends": "与 {} 有搭",
        "alone": "孤张",
        "out": "别家不会有",
        "no_peng": "只剩一张未见，没人能碰",
        "unseen": "{} 张未见",
        "next": "下家放过或打过，不能吃",
        "lays": "摆下 {} 门",
        "huxi": "得 {} 息",
        "pair_gone": "对子出手",
        "kept": "留着对子",
        "no_more_peng": "以后不能再碰 {}",
        "no_more_chi": "以后不能再吃 {}",
        "now": "{tun} 囤 × {fan} 番 = {score}",
        "later": "等更大的胡",
        "deck": "同一副牌，从第 {} 步起改选，由{}打完：",
        "players": "原来的打法",
        "by": "（不认识的 {} 由 {} 代打）",
        "wins_game": "{} 胡",
        "draw_game": "荒庄",
        "was": "（实际）",
        "goes_on": "接下来：",
        "step": "第 {} 步",
        "none": "这一局没有要选的。",
    },
    "en": {
        "win": "win",
        "peng": "peng",
        "chi": "chi",
        "discard": "discard",
        "pass": "pass",
        "head": "{seat} ({player}) decides: {worlds} worlds with the unseen cards dealt anew, each played "
        "to the end by {by}; ± is a 95 % interval",
        "score": "{}",
        "wins": "wins {}",
        "own": "own value {:.4g}",
        "only": "Well chosen: {gain} more than the next best, {other}{joint}.",
        "as_good": "The best on average, but {other} is {gain} less{joint}, as good within the error.",
        "equal": "As good as {other}.",
        "better": "{other} is better, by {gain}{joint}.",
        "maybe": "{other} looks better, by {gain}{joint}, which is within the error.",
        "joint": " (95 % for all options together)",
        "because": "With {one} the seat wins {win}, others {loss}; with {other} it wins {win2}, others {loss2}.",
        "pair": "breaks the pair {}",
        "run": "breaks {}",
        "friends": "goes with {}",
        "alone": "nothing goes with it",
        "out": "nobody else can hold one",
        "no_peng": "one left unseen: no peng",
        "unseen": "{} unseen",
        "next": "the next player may not chi it",
        "lays": "groups laid down: {}",
        "huxi": "huxi: {}",
        "pair_gone": "the pair leaves the hand",
        "kept": "keeps the pair",
        "no_more_peng": "no peng of {} any more",
        "no_more_chi": "no chi of {} any more",
        "now": "{tun} tun × {fan} fan = {score}",
        "later": "waits for a better win",
        "deck": "On the same deck, choosing anew at step {}, {}:",
        "players": "the same players go on",
        "by": " ({} is not known here, {} plays for it)",
        "wins_game": "{} wins",
        "draw_game": "draw game",
        "was": " (as it was)",
        "goes_on": "It goes on:",
        "step": "step {}",
        "none": "There was nothing to decide in this game.",
    },
}


def option_text(option: Option, lang: str, ascii: bool = False) -> str:
    """An option in words: ``打 五``, ``吃 二：一二三 二七十``."""
    text = WORDS[lang][option.kind]
    if option.card is not None:
        text += f" {recode(option.card, ascii)}"
    if option.groups:
        groups = (" / " if ascii else " ").join(recode(group, ascii) for group in option.groups)
        text += f"{'：' if lang == 'zh' else ': '}{groups}"
    return text


# --- facts of the cards ----------------------------------------------------------------------------------


def _free(view: SeatView) -> list[int]:
    kinds = parse_cards(view.hand)
    return [kind for kind in kinds if kind != WANG and kinds.count(kind) <= 2]


def _runs_broken(kind: int, free: Sequence[int]) -> str:
    """A whole group of the free cards that holds the kind, which is there once."""
    for row in GROUPS_OF[kind]:
        if row[0] < 0:
            break
        rest = list(free)
        kinds = [int(other) for other in GROUP_KINDS[int(row[0])]]
        if all(rest.count(other) >= kinds.count(other) for other in kinds):
            return "".join(FACES[other] for other in kinds)
    return ""


def _friends(kind: int, free: Sequence[int]) -> str:
    """Other free kinds that make a group with this one and a third card."""
    others = {int(other) for row in GROUPS_OF[kind] if row[0] >= 0 for other in row[1:]}
    return "".join(FACES[other] for other in sorted(others - {kind}) if other in free)


def _discard_facts(view: SeatView, option: Option, lang: str, ascii: bool) -> Iterator[str]:
    words, kind = WORDS[lang], FACES.index(str(option.card))
    free = _free(view)
    broken, friends = _runs_broken(kind, free), _friends(kind, free)
    if free.count(kind) == 2:
        yield words["pair"].format(recode(FACES[kind] * 2, ascii))
    elif broken:
        yield words["run"].format(recode(broken, ascii))
    elif friends:
        yield words["friends"].format(recode(friends, ascii))
    else:
        yield words["alone"]
    hidden = view.hidden[FACES[kind]]
    yield words["out"] if hidden == 0 else words["no_peng"] if hidden == 1 else words["unseen"].format(hidden)
    following = view.others[view.order[1]]
    passed = view.rules["pass.blocks_chi"] and option.card in following.passed
    discarded = view.rules["pass.own_discard_blocks_chi"] and option.card in following.discarded
    if hidden and (passed or discarded):
        yield words["next"]


def facts(view: SeatView, option: Option, p: Params, lang: str, ascii: bool = False) -> list[str]:
    """What the cards say about an option, as the deciding seat sees them.

    Parameters
    ----------
    view : SeatView
    option : Option
        One of the decision's.
    p : Params
    lang : str
        ``zh`` or ``en``.
    ascii : bool
        Cards in ASCII.
    """
    words = WORDS[lang]
    card = "" if option.card is None else recode(option.card, ascii)
    if option.kind == "discard":
        return list(_discard_facts(view, option, lang, ascii))
    if option.kind == "win":
        return [words["now"].format(tun=option.tun, fan=option.fan, score=option.score)]
    if option.kind == "chi":
        numbers = [group_number(parse_cards(group)) for group in option.groups]
        huxi = sum(int(p.group_huxi[number]) for number in numbers if number is not None)
        return [words["lays"].format(len(option.groups)), words["huxi"].format(huxi)]
    if option.kind == "peng":
        huxi = int(p.huxi[PENG, FACES.index(str(option.card)) // RANKS]) if card else 0
        return [words["huxi"].format(huxi), words["pair_gone"]]
    if view.decision == "win":
        return [words["later"]]
    if view.decision == "peng":
        blocks = [words["no_more_peng"].format(card)] if view.rules["pass.blocks_peng"] else []
        return [words["kept"], *blocks]
    return [words["no_more_chi"].format(card)] if view.rules["pass.blocks_chi"] else []


# --- a decision in words -----------------------------------------------------------------------------------


def _signed(value: Estimate) -> str:
    return f"{value.mean:+.1f} ± {value.half:.1f}"


def _share(value: Estimate) -> str:
    return f"{100 * value.mean:.0f} ± {100 * value.half:.0f} %"


def _gain(value: Estimate) -> str:
    return f"{abs(value.mean):.1f} ± {value.half:.1f}"


def verdict(decision: Decision, lang: str, ascii: bool = False) -> list[str]:
    """Whether the choice was the best one, and what makes the difference."""
    words, options = WORDS[lang], decision.options
    chosen = options[decision.chosen]
    if decision.best != decision.chosen:
        other = options[decision.best]
        gain = decision.joint(other.gain)
        key = "better" if gain.mean > gain.half else "maybe"
    else:
        other = options[next(place for place in decision.ranked if place != decision.chosen)]
        gain = decision.joint(other.gain)
        key = "only" if -gain.mean > gain.half else "as_good"
        if gain.mean == gain.half == 0:
            key = "equal"
    names = [option_text(each.option, lang, ascii) for each in (chosen, other)]
    joint = words["joint"] if len(options) > 2 else ""
    lines = [words[key].format(other=names[1], gain=_gain(gain), joint=joint)]
    if key != "equal":
        lines.append(
            words["because"].format(
                one=names[0],
                win=_share(chosen.wins),
                loss=_share(chosen.losses),
                other=names[1],
                win2=_share(other.wins),
                loss2=_share(other.losses),
            )
        )
    return lines


def _row(valued: Valued, lang: str, facts_told: Sequence[str]) -> tuple[str, str]:
    """Numbers and facts of an option."""
    words = WORDS[lang]
    numbers = [words["score"].format(_signed(valued.score)), words["wins"].format(_share(valued.wins))]
    if valued.own is not None:
        numbers.append(words["own"].format(valued.own))
    return "  ".join(numbers), ("，" if lang == "zh" else ", ").join(facts_told)


def explain_lines(
    decision: Decision, p: Params, lang: str, ascii: bool = False, numbered: bool = False
) -> list[str]:
    """A decision with its options, the best first, and the reason; lines of at most 100 columns.

    Parameters
    ----------
    decision : Decision
    p : Params
    lang : str
        ``zh`` or ``en``.
    ascii : bool
        Cards in ASCII.
    numbered : bool
        With the number of each option.
    """
    words = WORDS[lang]
    head = words["head"].format(
        seat=seat_name(decision.seat, lang),
        player=plain(decision.player),
        worlds=decision.worlds,
        by=decision.by,
    )
    lines = wrap(head, "   ")
    names = [option_text(valued.option, lang, ascii) for valued in decision.options]
    width = max(columns(name) for name in names)
    told = [
        _row(valued, lang, facts(decision.view, valued.option, p, lang, ascii)) for valued in decision.options
    ]
    room = max(columns(numbers) for numbers, _ in told)
    mark = ">" if ascii else "✓"
    for place in decision.ranked:
        numbers, why = told[place]
        left = f"   {mark if place == decision.chosen else ' '} "
        if numbered:
            left += f"{place:>2}  "
        left += names[place] + " " * (width - columns(names[place])) + "  " + numbers
        left += " " * (room - columns(numbers)) + "  "
        lines += wrap(why, left) if columns(left) < 75 else [left.rstrip(), *wrap(why, " " * 12)]
    for sentence in verdict(decision, lang, ascii):
        lines += wrap(sentence, "   ")
    return lines


def page_note(decision: Decision, p: Params, lang: str) -> dict[str, Any]:
    """A decision for the page: ``head``, ``rows`` (chosen, option, score, wins, own value, facts), ``reason``."""
    words = WORDS[lang]
    rows = []
    for place in decision.ranked:
        valued = decision.options[place]
        own = "" if valued.own is None else words["own"].format(valued.own)
        told = ("，" if lang == "zh" else ", ").join(facts(decision.view, valued.option, p, lang))
        rows.append(
            [
                int(place == decision.chosen),
                option_text(valued.option, lang),
                words["score"].format(_signed(valued.score)),
                words["wins"].format(_share(valued.wins)),
                own,
                told,
            ]
        )
    head = words["head"].format(
        seat=seat_name(decision.seat, lang),
        player=decision.player,
        worlds=decision.worlds,
        by=decision.by,
    )
    return {"head": head, "rows": rows, "reason": verdict(decision, lang)}


# --- another option in words ---------------------------------------------------------------------------------


def _outcome_text(outcome: Outcome, lang: str) -> str:
    words = WORDS[lang]
    who = (
        words["draw_game"]
        if outcome.winner is None
        else words["wins_game"].format(seat_name(outcome.winner, lang))
    )
    scores = "  ".join(
        f"{seat_name(seat, lang)} {score:+d}" for seat, score in sorted(outcome.scores.items())
    )
    return f"{who}   {scores}"


def whatif_lines(
    game: Game, decision: Decision, outcomes: Sequence[Outcome], lang: str, ascii: bool = False
) -> list[str]:
    """A decision explained, and the game played on from it on its own deck.

    Parameters
    ----------
    game : Game
    decision : Decision
    outcomes : sequence of Outcome
        The options played on; with two of them, the actual one first, the course of the other is told.
    lang, ascii
        As in :func:`explain_lines`.
    """
    words = WORDS[lang]
    step = words["step"].format(decision.event)
    lines = [f"{step}  {describe(game.events[decision.event], lang, ascii)}"]
    lines += explain_lines(decision, game.params, lang, ascii, numbered=True)
    head = words["deck"].format(decision.event, words["players"])
    if game.replaced:
        head += words["by"].format(plain(", ".join(game.replaced)), decision.by)
    lines += ["", *wrap(head, "   ")]
    names = [option_text(valued.option, lang, ascii) for valued in decision.options]
    width = max(columns(names[outcome.place]) for outcome in outcomes)
    for outcome in outcomes:
        name = names[outcome.place]
        left = f"     {outcome.place:>2}  {name}{' ' * (width - columns(name))}  "
        was = words["was"] if outcome.place == decision.chosen else ""
        lines.append(left + _outcome_text(outcome, lang) + was)
    if len(outcomes) == 2:
        lines += ["", f"   {words['goes_on']}"]
        lines += _course(outcomes[1].events, decision.event, lang, ascii)
    return lines


def _course(events: Sequence[Event], first: int, lang: str, ascii: bool) -> list[str]:
    lines = []
    for number in range(first, len(events)):
        step = WORDS[lang]["step"].format(number)
        lines += wrap(describe(events[number], lang, ascii), f"     {step}  ")
    return lines


def no_decision(lang: str) -> str:
    """For a game without a choice."""
    return WORDS[lang]["none"]
