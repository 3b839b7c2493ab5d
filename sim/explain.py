"""One hand under the glass: its best win, every arrangement, its waits, and why it does not win.

The kernels of :mod:`sim.rules.arrange` say what a hand is worth; here the groups behind the number are found again
and put into words. One hand at a time, in plain Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sim.cards import KINDS, NO_CARD, RANKS, WANG, CardError, is_red, parse_cards, show_cards
from sim.groups import (
    GROUP_KINDS,
    GROUP_TYPE,
    GROUPS_OF,
    KAN,
    MAX_GROUPS_OF,
    N_GROUPS,
    PAIR,
    PAO,
    PENG,
    TI,
    TYPE_NAMES,
    WEI,
)
from sim.params import Params, compile_params
from sim.rows import FAN_NAMES
from sim.rules.arrange import (
    ALL,
    NO_GROUP,
    NO_SURE,
    PAIR_GIVEN,
    PLAN_LIFT,
    PLAN_PLAIN,
    PLAN_QUAD,
    T_CODE,
    T_GIVES,
    T_HUXI,
    T_LIFTS,
    T_REDS,
    T_SPECIAL,
    T_SURE,
    T_TYPE,
    T_WANGS,
    T_WHAT,
    best_cover,
    evaluate,
    plans_for,
)
from sim.rules.fan import BY_DEAL, BY_OTHER, BY_OWN, fan_of, names_mask, within_limit
from sim.rules.huxi import tun_of
from sim.state import (
    C_REDS,
    C_TRIES,
    CODE,
    HUXI,
    KANS,
    MELDS,
    OWNED,
    PENGS,
    POW3,
    QUADS,
    REDS,
    W_COVERED,
    W_ENOUGH,
    W_FOUND,
    W_HUXI,
    W_MOST_FAN,
    W_MOST_HUXI,
    W_REDS,
    W_SCORE,
    W_SPECIAL,
    WEIS,
    Table,
    change,
    clear,
    new_table,
    quota,
)
from sim.variant import Variant, load_variant

NOT_SEVEN = "not seven groups"
FEW_HUXI = "too few huxi"
LIMITED = "a limit"
HOLDS_WANG = "a wang holder on another's draw"

DRAWS = {"own": BY_OWN, "other": BY_OTHER, "deal": BY_DEAL}
MELD_NAMES = {
    "吃": "chi",
    "碰": "peng",
    "偎": "wei",
    "提": "ti",
    "跑": "pao",
    "chi": "chi",
    "peng": "peng",
    "wei": "wei",
    "ti": "ti",
    "pao": "pao",
}
_MELD_TYPES = {"peng": PENG, "wei": WEI, "ti": TI, "pao": PAO}
MAX_ARRANGEMENTS = 2000
SHORT = 4
MAX_TEXT = 400  # characters of a hand query; a legal one has far fewer


class QueryError(ValueError):
    """A hand query that asks about no legal hand; the message says what and what would be right."""


@dataclass(frozen=True, order=True)
class Group:
    """One group of an arrangement."""

    cards: tuple[int, ...]
    """Kinds, a wang as the card that it stands for."""
    type: int
    wang_cards: tuple[int, ...] = ()
    """Of ``cards``, those for which a wang stands."""
    huxi: int = 0
    exposed: bool = False
    winning: bool = False
    """Whether it holds the winning card."""

    @property
    def faces(self) -> list[int]:
        """The cards as they are, wangs as wangs, last."""
        kinds = list(self.cards)
        for kind in self.wang_cards:
            kinds.remove(kind)
        return kinds + [WANG] * len(self.wang_cards)

    def as_dict(self, ascii: bool = False) -> dict[str, object]:
        """The group as the contract of the hand query has it."""
        return {
            "type": TYPE_NAMES[self.type],
            "cards": show_cards(self.cards, ascii),
            "wangs": len(self.wang_cards),
            "faces": show_cards(self.faces, ascii),
            "huxi": self.huxi,
            "exposed": self.exposed,
            "winning": self.winning,
        }


@dataclass(frozen=True)
class Arrangement:
    """Seven groups and what they are worth."""

    groups: tuple[Group, ...]
    huxi: int
    tun: int
    fan: int
    score: int
    reds: int
    special: int
    names: tuple[str, ...]
    wins: bool
    """False where it has too few huxi or breaks a limit."""


@dataclass
class Hand:
    """A hand laid out on a table of its own."""

    variant: Variant
    params: Params
    table: Table
    concealed: list[int]
    melds: list[tuple[str, tuple[int, ...]]]
    win: int = NO_CARD
    by: int = BY_OWN
    index: int = 0
    """Seat of the table."""
    which: int = ALL
    """Which arrangements count under a forced move (:func:`sim.rules.arrange.evaluate`)."""

    @property
    def hand(self) -> Any:
        """Counts of concealed cards, shape (21,)."""
        return self.table.hand[self.index]

    @property
    def seat(self) -> Any:
        """Masks and sums, shape (SEAT_FIELDS,)."""
        return self.table.seat[self.index]


def group_number(cards: Sequence[int]) -> int | None:
    """Number of the run or jiao made of three cards, None if they make none."""
    wanted = sorted(cards)
    for group in range(N_GROUPS):
        if sorted(int(kind) for kind in GROUP_KINDS[group]) == wanted:
            return group
    return None


def _add_meld(p: Params, table: Table, name: str, cards: Sequence[int]) -> None:
    row = table.seat[0]
    number = int(row[MELDS])
    if name == "chi":
        group = group_number(cards)
        if group is None:
            raise QueryError(f"吃:{show_cards(cards)} is no run and no jiao")
        group_type, what = int(GROUP_TYPE[group]), group
        row[HUXI] += p.group_huxi[group]
    else:
        group_type, what = _MELD_TYPES[name], cards[0]
        size = 4 if group_type in (TI, PAO) else 3
        if len(cards) != size or len(set(cards)) != 1 or WANG in cards:
            raise QueryError(f"{name}:{show_cards(cards)} must be {size} alike, without a wang")
        row[HUXI] += p.huxi[group_type, cards[0] // RANKS]
        _mark(row, group_type, cards[0])
    table.melds[0, number] = (group_type, what, 1)
    row[MELDS] += 1
    row[OWNED] += len(cards)
    row[REDS] += sum(int(is_red(kind)) for kind in cards)


def _mark(row: Any, group_type: int, kind: int) -> None:
    if group_type in (TI, PAO):
        row[QUADS] += 1
    elif group_type == WEI:
        row[WEIS] |= 1 << kind
    elif group_type == PENG:
        row[PENGS] |= 1 << kind


def parse_meld(text: str) -> tuple[str, tuple[int, ...]]:
    """Read ``碰:壹壹壹`` or ``peng:b1 b1 b1``.

    Raises
    ------
    QueryError
        If it is no exposed group.
    """
    name, colon, cards = text.replace("：", ":").partition(":")
    kind = MELD_NAMES.get(name.strip().lower())
    if not colon or kind is None:
        raise QueryError(
            f"table group {text[:40]!r} must be 吃, 碰, 偎, 提 or 跑 (chi peng wei ti pao), a colon, cards"
        )
    try:
        return kind, tuple(parse_cards(cards))
    except CardError as error:
        raise QueryError(f"table group {text[:40]!r}: {error}") from None


def _check_counts(variant: Variant, cards: Sequence[int]) -> None:
    for kind in range(KINDS):
        if cards.count(kind) > 4:
            raise QueryError(f"{cards.count(kind)} cards {show_cards([kind])}: there are four of each kind")
    wangs = int(str(variant.flat()["deck.wangs"]))
    if cards.count(WANG) > wangs:
        raise QueryError(f"{cards.count(WANG)} wangs: {variant.name} has {wangs}")


def _check_size(hand: Hand) -> None:
    owned = int(hand.seat[OWNED]) - (1 if hand.win == WANG else 0)
    limit = int(quota(hand.seat))
    # a hand with a quad may be short of cards: it is answered ("not seven groups"), one without is a slip
    short = SHORT if hand.seat[QUADS] else 0
    least, most = (21 - short, limit + 1) if hand.by == BY_DEAL else (20 - short, limit)
    if not least <= owned <= most:
        what = "cards dealt" if hand.by == BY_DEAL else "cards without the winning card"
        right = f"{least}" if least == most else f"{least} to {most}"
        raise QueryError(f"{owned} {what}, concealed and exposed; with these groups {right} is right")


def lay_out(
    variant: Variant,
    hand: str | Sequence[int],
    table: Sequence[str] = (),
    win: str | int | None = None,
    draw: str | None = None,
) -> Hand:
    """Check a hand query and lay the hand out.

    Parameters
    ----------
    variant : Variant
    hand : str or sequence of int
        Concealed cards, without the winning card.
    table : sequence of str
        Exposed groups, ``碰:壹壹壹``.
    win : str or int, optional
        The winning card.
    draw : str, optional
        ``own``, ``other`` or ``deal``.

    Raises
    ------
    QueryError, CardError
        If the query asks about no legal hand.
    """
    if isinstance(hand, str) and len(hand) > MAX_TEXT:
        raise QueryError(f"a hand of {len(hand)} characters: at most 24 cards are possible")
    if len(table) > 7:
        raise QueryError(f"{len(table)} exposed groups: a win has seven groups in all")
    concealed = parse_cards(hand) if isinstance(hand, str) else list(hand)
    melds = [parse_meld(text) for text in table]
    drawn = parse_cards(win) if isinstance(win, str) else ([] if win is None else [win])
    if draw is not None and draw not in DRAWS:
        raise QueryError(f"draw {draw!r} must be own, other or deal")
    if draw == "deal" and drawn:
        raise QueryError(
            "a heavenly win (draw deal) has no winning card: leave win out and give all dealt cards as hand"
        )
    if len(drawn) > 1:
        raise QueryError(f"win {show_cards(drawn)} must be one card")
    if draw == "other" and drawn == [WANG]:
        raise QueryError(
            "draw other with 王: a drawn wang goes into the drawer's hand, nobody else may win on it"
        )
    if draw in ("own", "other") and not drawn:
        raise QueryError(f"draw {draw} needs a winning card (win)")
    everything = concealed + [kind for _, cards in melds for kind in cards] + drawn
    _check_counts(variant, everything)
    params = compile_params(variant)
    board = new_table()
    clear(board)
    for kind in concealed:
        change(board.hand[0], board.seat[0], kind, 1)
    board.seat[0][OWNED] = len(concealed)
    for name, cards in melds:
        _add_meld(params, board, name, cards)
    laid = Hand(variant, params, board, sorted(concealed), melds, by=DRAWS[draw or "own"])
    for kind in range(KINDS):
        if board.hand[0][kind] == 4:  # four alike are laid down as a ti at once
            change(board.hand[0], board.seat[0], kind, -4)
            board.seat[0][OWNED] -= 4
            _add_meld(params, board, "ti", [kind] * 4)
    if drawn:
        laid.win = drawn[0]
        if drawn == [WANG]:
            change(board.hand[0], board.seat[0], WANG, 1)
            board.seat[0][OWNED] += 1
    _check_size(laid)
    return laid


# --- arrangements ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    group: Group
    code: int
    wangs: int
    reds: int
    pair: int
    quad: int


def _digit(code: int, kind: int) -> int:
    return code // int(POW3[kind]) % 3


def _alike(p: Params, kind: int, natural: int, total: int, group_type: int) -> Group:
    value = 0 if group_type == PAIR else int(p.huxi[group_type, kind // RANKS])
    return Group((kind,) * total, group_type, (kind,) * (total - natural), value)


def _wang_pieces(p: Params, wangs: int) -> Iterator[_Piece]:
    """Groups of wangs alone; one stand-in for each size and colour."""
    for kind in (0, 1, RANKS, RANKS + 1):
        red = int(is_red(kind))
        for total, group_type in ((2, PAIR), (3, KAN), (4, TI)):
            if total <= wangs and not (total == 4 and not p.wang_ti):
                group = _alike(p, kind, 0, total, group_type)
                yield _Piece(group, 0, total, total * red, int(total == 2), int(total == 4))
    if wangs >= 3:
        for number in range(N_GROUPS):
            kinds = tuple(int(kind) for kind in GROUP_KINDS[number])
            reds = sum(int(is_red(kind)) for kind in kinds)
            group = Group(kinds, int(GROUP_TYPE[number]), kinds, int(p.group_huxi[number]))
            yield _Piece(group, 0, 3, reds, 0, 0)


def _lowest_pieces(p: Params, code: int, wangs: int) -> Iterator[_Piece]:
    """Every group with the lowest free card that is left."""
    if code == 0:
        yield from _wang_pieces(p, wangs)
        return
    kind = next(kind for kind in range(KINDS) if _digit(code, kind))
    held = _digit(code, kind)
    red = int(is_red(kind))
    for natural in range(held, 0, -1):
        for total, group_type in ((2, PAIR), (3, KAN), (4, TI)):
            used = total - natural
            if 0 <= used <= wangs and not (total == 4 and not p.wang_ti):
                group = _alike(p, kind, natural, total, group_type)
                rest = code - natural * int(POW3[kind])
                yield _Piece(group, rest, used, used * red, int(total == 2), int(total == 4))
    for row in range(MAX_GROUPS_OF):
        number = int(GROUPS_OF[kind, row, 0])
        if number < 0:
            break
        others = [int(GROUPS_OF[kind, row, 1]), int(GROUPS_OF[kind, row, 2])]
        seen: set[tuple[int, ...]] = set()
        for mask in range(4):
            taken = [other for bit, other in enumerate(others) if mask >> bit & 1]
            missing = list(others)
            for other in taken:
                missing.remove(other)
            if len(missing) > wangs or tuple(missing) in seen:
                continue
            rest = code - int(POW3[kind])
            possible = True
            for other in taken:
                possible = possible and _digit(rest, other) > 0
                rest -= int(POW3[other])
            if not possible:
                continue
            seen.add(tuple(missing))
            kinds = tuple(int(k) for k in GROUP_KINDS[number])
            group = Group(kinds, int(GROUP_TYPE[number]), tuple(missing), int(p.group_huxi[number]))
            yield _Piece(group, rest, len(missing), sum(int(is_red(k)) for k in missing), 0, 0)


def _can_cover(p: Params, table: Table, code: int, wangs: int, pair: int, quad: int) -> bool:
    return bool(best_cover(p, table, code, wangs, pair, quad))


def _covers(
    p: Params, table: Table, code: int, wangs: int, pair: int, quad: int
) -> Iterator[tuple[tuple[Group, ...], int]]:
    """All covers of free cards and wangs as (groups, red wangs); every branch leads to one."""
    if code == 0 and wangs == 0:
        if pair == 0 and quad == 0:
            yield (), 0
        return
    for piece in _lowest_pieces(p, code, wangs):
        if piece.pair > pair or piece.quad > quad:
            continue
        rest = (piece.code, wangs - piece.wangs, pair - piece.pair, quad - piece.quad)
        if _can_cover(p, table, *rest):
            for groups, reds in _covers(p, table, *rest):
                yield (piece.group, *groups), reds + piece.reds


def _best_cover_groups(
    p: Params, table: Table, code: int, wangs: int, pair: int, quad: int, reds: int, huxi: int
) -> tuple[Group, ...]:
    """One cover with exactly this huxi and number of red wangs, which must be the best for that number."""
    if code == 0 and wangs == 0:
        return ()
    for piece in _lowest_pieces(p, code, wangs):
        left = reds - piece.reds
        if piece.pair > pair or piece.quad > quad or left < 0:
            continue
        rest = (piece.code, wangs - piece.wangs, pair - piece.pair, quad - piece.quad)
        wanted = huxi - piece.group.huxi  # below 0 it must not be taken for the mark of no cover
        if wanted >= 0 and _can_cover(p, table, *rest) and int(table.cover[left]) == wanted:
            return (piece.group, *_best_cover_groups(p, table, *rest, left, wanted))
    raise AssertionError("a cover that the tables promise was not found")


def _fixed_groups(hand: Hand) -> list[Group]:
    """Exposed groups and concealed kans."""
    p = hand.params
    groups = []
    for number in range(int(hand.seat[MELDS])):
        group_type, what = (int(value) for value in hand.table.melds[hand.index, number, :2])
        if group_type <= PENG:
            kinds = (what,) * (4 if group_type <= PAO else 3)
            value = int(p.huxi[group_type, what // RANKS])
        else:
            kinds = tuple(int(kind) for kind in GROUP_KINDS[what])
            value = int(p.group_huxi[what])
        groups.append(Group(kinds, group_type, (), value, exposed=True))
    groups += [_alike(p, kind, 3, 3, KAN) for kind in range(KINDS) if int(hand.seat[KANS]) >> kind & 1]
    return groups


def _replaced(groups: list[Group], old_type: int, kind: int, new: Group) -> list[Group]:
    result = list(groups)
    for place, group in enumerate(result):
        if group.type == old_type and group.cards[0] == kind:
            result[place] = new
            return result
    raise AssertionError("the group to lift is not there")


def _first_group(hand: Hand, row: Any) -> Group | None:
    """The winning card's group of a noted way, None where the card is one of the rest."""
    p = hand.params
    group_type = int(row[T_TYPE])
    if group_type == NO_GROUP:
        return None
    what = int(row[T_WHAT])
    used = int(hand.hand[WANG]) - int(row[T_WANGS])
    if group_type <= PENG or group_type == PAIR:
        total = {TI: 4, PAO: 4, PAIR: 2}.get(group_type, 3)
        value = 0 if group_type == PAIR else int(p.huxi[group_type, what // RANKS])
        return Group((what,) * total, group_type, (what,) * used, value, winning=True)
    kinds = tuple(int(kind) for kind in GROUP_KINDS[what])
    missing = list(kinds)
    if hand.win != WANG:
        missing.remove(hand.win)
    taken = int(hand.seat[CODE]) - int(row[T_CODE])
    for kind in range(KINDS):
        for _ in range(_digit(taken, kind)):
            missing.remove(kind)
    return Group(kinds, group_type, tuple(missing), int(p.group_huxi[what]), winning=True)


def _bases(hand: Hand, row: Any) -> Iterator[tuple[list[Group], int, int, int, int]]:
    """Ways to complete a noted way: (fixed groups, wangs left, pair, quad, red wangs so far)."""
    p = hand.params
    fixed = _fixed_groups(hand)
    first = _first_group(hand, row)
    if first is not None:
        lifted = int(row[T_LIFTS])
        if lifted == NO_GROUP:
            fixed = [*fixed, first]
        else:
            fixed = _replaced(fixed, lifted, first.cards[0], first)
    wangs, gives = int(row[T_WANGS]), int(row[T_GIVES])
    pair = 0 if gives == PAIR_GIVEN else 1
    plans = int(plans_for(p, hand.table.win, gives, wangs))
    for plan in (1, 2, 4, 8):
        if not plans & plan:
            continue
        if plan == PLAN_LIFT:
            for group in fixed:
                if group.type in (KAN, WEI) and not group.winning and not group.wang_cards:
                    kind = group.cards[0]
                    lifted_group = Group((kind,) * 4, TI, (kind,), int(p.huxi[TI, kind // RANKS]))
                    yield (
                        _replaced(fixed, group.type, kind, lifted_group),
                        wangs - 1,
                        pair,
                        0,
                        int(row[T_REDS]) + int(is_red(kind)),
                    )
        else:
            need_pair = 0 if plan == PLAN_PLAIN else pair
            yield fixed, wangs, need_pair, int(plan == PLAN_QUAD), int(row[T_REDS])


def _names(p: Params, by: int, special: int, reds: int) -> tuple[str, ...]:
    mask = int(names_mask(p, by, special, reds))
    return tuple(name for bit, name in enumerate(FAN_NAMES) if mask >> bit & 1)


def _arrangement(hand: Hand, row: Any, groups: Sequence[Group], red_wangs: int) -> Arrangement:
    p, win = hand.params, hand.table.win
    huxi = sum(group.huxi for group in groups)
    reds = int(win[C_REDS]) + red_wangs
    special = int(row[T_SPECIAL])
    fan = int(fan_of(p, win, special, reds))
    sure = huxi if int(row[T_SURE]) == NO_SURE else huxi - int(row[T_HUXI]) + int(row[T_SURE])
    enough = min(huxi, sure) >= p.min_huxi
    tun = int(tun_of(p, huxi)) if huxi >= p.min_huxi else 0
    wins = enough and bool(within_limit(p, win, special, fan))
    names = _names(p, hand.by, special, reds)
    return Arrangement(tuple(sorted(groups)), huxi, tun, fan, tun * fan, reds, special, names, wins)


def _evaluate(hand: Hand) -> bool:
    return bool(evaluate(hand.params, hand.hand, hand.seat, hand.win, hand.by, hand.which, hand.table))


def all_arrangements(hand: Hand, limit: int = MAX_ARRANGEMENTS) -> list[Arrangement]:
    """Every arrangement into seven groups, best first, also those that do not win.

    Wangs alone in a group stand for one kind of each size and colour. At most ``limit`` are listed.
    """
    _evaluate(hand)
    rows = [hand.table.tries[number].copy() for number in range(int(hand.table.win[C_TRIES]))]
    context = hand.table.win.copy()

    def found() -> Iterator[Arrangement]:
        for row in rows:
            for fixed, wangs, pair, quad, red in _bases(hand, row):
                for groups, reds in _covers(hand.params, hand.table, int(row[T_CODE]), wangs, pair, quad):
                    yield _arrangement(hand, row, [*fixed, *groups], red + reds)

    distinct: dict[tuple[Group, ...], Arrangement] = {}
    for arrangement in islice(found(), 20 * limit):
        distinct.setdefault(arrangement.groups, arrangement)
        if len(distinct) >= limit:
            break
    hand.table.win[:] = context
    return sorted(
        distinct.values(),
        key=lambda a: (not a.wins, -a.score, -a.huxi, -a.special, [g.cards for g in a.groups]),
    )


def best_arrangement(hand: Hand) -> Arrangement | None:
    """The arrangement that is scored (5.3), or None if the hand does not win."""
    if not _evaluate(hand):
        return None
    p, table = hand.params, hand.table
    win = table.win.copy()
    rows = [table.tries[number].copy() for number in range(int(win[C_TRIES]))]
    for row in rows:
        if int(row[T_SPECIAL]) != int(win[W_SPECIAL]):
            continue
        for fixed, wangs, pair, quad, red in _bases(hand, row):
            left = int(win[W_REDS]) - int(win[C_REDS]) - red
            if not 0 <= left <= wangs or not _can_cover(p, table, int(row[T_CODE]), wangs, pair, quad):
                continue
            huxi = int(win[W_HUXI]) - sum(group.huxi for group in fixed)
            if huxi >= 0 and int(table.cover[left]) == huxi:
                groups = _best_cover_groups(p, table, int(row[T_CODE]), wangs, pair, quad, left, huxi)
                arrangement = _arrangement(hand, row, [*fixed, *groups], red + left)
                table.win[:] = win
                if (arrangement.wins, arrangement.score, arrangement.huxi) == (
                    True,
                    win[W_SCORE],
                    win[W_HUXI],
                ):
                    return arrangement
    raise AssertionError("the arrangement that was scored was not found again")


# --- answers -----------------------------------------------------------------------------------------


def _why_not(hand: Hand) -> dict[str, object]:
    """The first reason of the contract, with what was reached."""
    p, win = hand.params, hand.table.win
    wangs = int(hand.hand[WANG])
    if not win[W_COVERED]:
        return {"reason": NOT_SEVEN}
    if not win[W_ENOUGH]:
        return {
            "reason": FEW_HUXI,
            "detail": f"at most {int(win[W_MOST_HUXI])} huxi, {p.min_huxi} are needed",
        }
    if not win[W_FOUND]:
        if int(p.min_fan[min(wangs, 4)]):
            need = int(p.min_fan[min(wangs, 4)])
            detail = f"at most {int(win[W_MOST_FAN])} fan, {need} are needed with {wangs} wangs"
        else:
            detail = f"with {wangs} wangs only a wang special wins"
        return {"reason": LIMITED, "detail": detail}
    return {"reason": HOLDS_WANG, "detail": "whoever holds a wang wins only on an own draw"}


def judge(hand: Hand) -> dict[str, object]:
    """Answer to a hand query with a winning card (or a deal), as the contract has it."""
    best = best_arrangement(hand)
    if best is None or (hand.by == BY_OTHER and hand.hand[WANG]):
        return {"win": False, **_why_not(hand)}
    return {
        "win": True,
        "score": best.score,
        "tun": best.tun,
        "fan": best.fan,
        "huxi": best.huxi,
        "names": list(best.names),
        "groups": [group.as_dict() for group in best.groups],
        "red_cards": best.reds,
    }


def waits(hand: Hand) -> list[dict[str, object]]:
    """One row a kind (and the wang) that wins, on an own draw and on another's.

    ``unseen`` counts the cards of the kind that are neither in the hand nor in its groups.
    """
    known = list(hand.concealed) + [kind for _, cards in hand.melds for kind in cards]
    texts = [f"{name}:{show_cards(cards)}" for name, cards in hand.melds]
    rows = []
    total_wangs = int(hand.params.wangs)
    for kind in range(KINDS + 1):
        unseen = (total_wangs if kind == WANG else 4) - known.count(kind)
        if unseen <= 0:
            continue
        row: dict[str, object] = {"card": show_cards([kind]), "unseen": unseen, "own": None, "other": None}
        for draw in ("own", "other"):
            if kind == WANG and draw == "other":
                continue
            answer = judge(lay_out(hand.variant, hand.concealed, texts, kind, draw))
            if answer["win"]:
                row[draw] = {key: answer[key] for key in ("huxi", "tun", "fan", "score", "names")}
        if row["own"] or row["other"]:
            rows.append(row)
    return rows


def answer_query(query: Mapping[str, Any]) -> dict[str, object]:
    """Answer one hand query given as a mapping (a line of a batch file).

    Parameters
    ----------
    query : mapping
        ``variant``, ``hand``, ``table``, ``win``, ``draw``; other fields are kept in the answer.

    Raises
    ------
    QueryError, CardError, VariantError
        With a message that explains itself.
    """
    for name, kind in (("variant", str), ("hand", str)):
        if not isinstance(query.get(name), kind):
            raise QueryError(f"field {name!r} must be a text")
    table = query.get("table") or []
    if not isinstance(table, list) or not all(isinstance(text, str) for text in table):
        raise QueryError("field 'table' must be a list of texts like 碰:壹壹壹")
    win, draw = query.get("win"), query.get("draw")
    for name, value in (("win", win), ("draw", draw)):
        if value is not None and not isinstance(value, str):
            raise QueryError(f"field {name!r} must be a text or null")
    hand = lay_out(load_variant(query["variant"]), query["hand"], table, win or None, draw)
    asked = {"variant", "hand", "table", "win", "draw"}
    kept = {name: value for name, value in query.items() if name not in asked}
    if draw is None and not win:
        return {"waits": waits(hand), **kept}
    return {**judge(hand), **kept}
