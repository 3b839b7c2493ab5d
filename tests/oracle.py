"""A slow, literal judge of one hand, written from the rules document alone.

It shares nothing with ``sim`` but the names of cards. All concealed cards, the winning one among them, are split into
groups in every way; any group that can hold the winning card may be taken as the one that does. Nothing is precomputed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sim.cards import WANG

NAMES = (
    "red", "one_red", "black", "zimo", "wang_diao", "wang_diao_wang", "wang_chuang", "wang_chuang_wang", "wang_zha",
    "wang_zha_wang",
)  # fmt: skip
RED_KINDS = {1, 6, 9, 11, 16, 19}

_COMMON: dict[str, Any] = {
    "table.seats": 4, "table.dealer_after_win": "winner", "table.dealer_after_draw": "next",
    "deal.heavenly_win": True, "turn.extra_quad": "skip_discard", "turn.peng_to_pao": "any_draw",
    "turn.chi_from_upstream_draw": True, "pass.blocks_chi": True, "pass.blocks_peng": True,
    "pass.own_discard_blocks_chi": True, "win.min_huxi": 15, "win.forced_first": True, "win.declare_special": True,
    "win.wang_limit.min_fan": {1: 2, 2: 4, 3: 8, 4: 16}, "win.wang_limit.special_only_from": 3, "wang.ti": True,
    "huxi.ti.small": 9, "huxi.ti.large": 12, "huxi.pao.small": 6, "huxi.pao.large": 9, "huxi.wei.small": 3,
    "huxi.wei.large": 6, "huxi.kan.small": 3, "huxi.kan.large": 6, "huxi.peng.small": 1, "huxi.peng.large": 3,
    "huxi.two_seven_ten.small": 3, "huxi.two_seven_ten.large": 6, "huxi.one_two_three.small": 3,
    "huxi.one_two_three.large": 6, "huxi.run.small": 0, "huxi.run.large": 0, "huxi.jiao.small": 0,
    "huxi.jiao.large": 0, "tun.base": 1, "tun.step": 3, "fan.red": 2, "fan.one_red": 3, "fan.black": 4,
    "fan.zimo": 2, "fan.wang_diao": 4, "fan.wang_diao_wang": 8, "fan.wang_chuang": 8, "fan.wang_chuang_wang": 16,
    "fan.wang_zha": 16, "fan.wang_zha_wang": 32, "fan.red_min": 10, "fan.special_includes_zimo": False,
    "xing.card": "follow", "xing.payment": "dealer_side", "xing.singles": 2, "draw.wang_payout.enabled": True,
    "draw.wang_payout.unit": 5, "stake": 1, "cap": 0,
}  # fmt: skip
PRESETS: dict[str, dict[str, Any]] = {
    "two_wang": _COMMON
    | {
        "deck.wangs": 2,
        "table.first_dealer": "owner",
        "win.wang_limit.mode": "none",
        "draw.wang_payout.all_in_one": 1,
    },
    "three_wang": _COMMON
    | {
        "deck.wangs": 3,
        "table.first_dealer": "owner",
        "win.wang_limit.mode": "none",
        "draw.wang_payout.all_in_one": 2,
    },
    "four_wang": _COMMON
    | {
        "deck.wangs": 4,
        "table.first_dealer": "random",
        "win.wang_limit.mode": "by_fan",
        "draw.wang_payout.all_in_one": 2,
    },
}


def rules_of(variant: str, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Keys of a preset (``+mode`` allowed) with overrides."""
    name, _, mode = variant.partition("+")
    rules = dict(PRESETS[name])
    if mode:
        rules["win.wang_limit.mode"] = mode
    for key, value in (overrides or {}).items():
        if key == "win.wang_limit.min_fan":
            value = {int(wangs): fan for wangs, fan in value.items()}
        if key.startswith("win.wang_limit.min_fan."):
            table = dict(rules["win.wang_limit.min_fan"])
            table[int(key.rpartition(".")[2])] = value
            rules["win.wang_limit.min_fan"] = table
        else:
            rules[key] = value
    return rules


def size(kind: int) -> str:
    return "large" if kind >= 10 else "small"


def threes() -> list[tuple[str, tuple[int, int, int]]]:
    """Every run (1.8) and jiao (1.9)."""
    found = []
    for shift in (0, 10):
        for rank in range(8):
            name = "one_two_three" if rank == 0 else "run"
            found.append((name, (shift + rank, shift + rank + 1, shift + rank + 2)))
        found.append(("two_seven_ten", (shift + 1, shift + 6, shift + 9)))
    for kind in range(20):
        found.append(("jiao", (kind, kind, (kind + 10) % 20)))
    return found


THREES = threes()


class Judge:
    """One hand with its winning card."""

    def __init__(
        self,
        rules: Mapping[str, Any],
        hand: Sequence[int],
        table: Sequence[tuple[str, Sequence[int]]],
        win: int | None,
        draw: str,
    ) -> None:
        self.rules = rules
        self.draw = draw
        self.win = win
        natural = [kind for kind in hand if kind != WANG]
        self.wangs = len(hand) - len(natural) + (win == WANG)
        units = [(name, list(cards)) for name, cards in table]
        pool = {kind: natural.count(kind) for kind in set(natural)}
        for kind in [kind for kind, count in pool.items() if count == 4]:
            units.append(("ti", [kind] * 4))  # four alike are laid down at once (1.7)
            del pool[kind]
        self.kans = sorted(kind for kind, count in pool.items() if count == 3)
        for kind in self.kans:
            del pool[kind]
        self.pool = pool
        self.units = units
        self.owned = len(hand) + sum(len(cards) for _, cards in table) + (win is not None)
        self.reds = sum(kind in RED_KINDS for kind in natural)
        self.reds += sum(kind in RED_KINDS for _, cards in table for kind in cards)
        self.reds += win in RED_KINDS
        self.laid = sum(name in ("ti", "pao") for name, _ in units)
        self._split = cache(self._split_uncached)

    def value(self, name: str, kind: int) -> int:
        return int(self.rules[f"huxi.{name}.{size(kind)}"])

    # --- the winning card's group -------------------------------------------------------------------------

    def three_name(self, natural: int, winning: bool) -> str:
        """What three alike count as (chapter 3)."""
        if not winning or self.draw == "deal":
            return "kan"
        if self.draw == "own":
            return "wei"
        return "peng" if natural == 3 else "kan"

    def special_of(self, natural: int, total: int, kind: int) -> str | None:
        """Rules 4.5 to 4.10 for the group that holds the winning card."""
        if self.draw != "own":
            return None
        if self.win == WANG:
            return (
                {2: "wang_diao_wang", 3: "wang_chuang_wang", 4: "wang_zha_wang"}[total]
                if natural == 0
                else None
            )
        if natural == 1 and kind == self.win:
            return {2: "wang_diao", 3: "wang_chuang", 4: "wang_zha"}[total]
        return None

    def alike(self, natural: int, total: int, kind: int, winning: bool) -> tuple[int, str | None, int]:
        """Huxi, special, and huxi as counted beforehand, of a group of equal cards."""
        special = self.special_of(natural, total, kind) if winning else None
        if total == 2:
            return 0, special, 0
        name = "ti" if total == 4 else self.three_name(natural, winning)
        sure = int(self.rules["huxi.ti.small" if total == 4 else "huxi.wei.small"])
        return self.value(name, kind), special, sure

    # --- all splits ---------------------------------------------------------------------------------------

    def moves(self, counts: tuple[int, ...], wangs: int, chosen: bool) -> Iterator[tuple[Any, ...]]:
        """Groups with the first card left: (counts, wangs, reds, huxi, pair, quad, chosen, special, sure, forced)."""
        first = next((kind for kind in range(20) if counts[kind]), None)
        kinds = range(20) if first is None else [first]
        for kind in kinds:
            for total in (2, 3, 4):
                naturals = [0] if first is None else range(1, min(total, counts[kind]) + 1)
                for natural in naturals:
                    used = total - natural
                    if used > wangs or (total == 4 and not (used and self.rules["wang.ti"])):
                        continue
                    if total < 4 and natural > total:
                        continue
                    rest = list(counts)
                    rest[kind] -= natural
                    red = used * (kind in RED_KINDS)
                    holds = (natural > 0 and kind == self.win) or (used > 0 and self.win == WANG)
                    for winning in {False, holds and not chosen}:
                        huxi, special, sure = self.alike(natural, total, kind, winning)
                        forced = kind == self.win and natural == 3
                        yield (
                            tuple(rest), wangs - used, red, huxi, int(total == 2), int(total == 4),
                            chosen or winning, special, sure if winning else huxi, winning and forced,
                        )  # fmt: skip
        for name, cards in THREES:
            if first is not None and first not in cards:
                continue
            for mask in range(8):
                natural_cards = [card for place, card in enumerate(cards) if mask >> place & 1]
                missing = [card for place, card in enumerate(cards) if not mask >> place & 1]
                if (first in natural_cards) != (first is not None) or len(missing) > wangs:
                    continue
                if first is None and natural_cards:
                    continue
                rest = list(counts)
                for card in natural_cards:
                    rest[card] -= 1
                if min(rest) < 0:
                    continue
                red = sum(card in RED_KINDS for card in missing)
                huxi = self.value(name, cards[0])
                holds = self.win in natural_cards or (bool(missing) and self.win == WANG)
                for winning in {False, holds and not chosen}:
                    yield (
                        tuple(rest), wangs - len(missing), red, huxi, 0, 0, chosen or winning, None, huxi, False,
                    )  # fmt: skip

    def _split_uncached(
        self, counts: tuple[int, ...], wangs: int, chosen: bool, pairs: int, quads: int
    ) -> frozenset[tuple[int, int, str | None, int, bool]]:
        """All ways to use up these cards: (huxi, red wangs, special, huxi beforehand, forced group used)."""
        if not any(counts) and wangs == 0:
            return frozenset({(0, 0, None, 0, False)}) if chosen and pairs == quads == 0 else frozenset()
        found = set()
        for rest, left, red, huxi, pair, quad, taken, special, sure, forced in self.moves(
            counts, wangs, chosen
        ):
            if pair > pairs or quad > quads:
                continue
            for more in self._split(rest, left, taken, pairs - pair, quads - quad):
                found.add(
                    (huxi + more[0], red + more[1], special or more[2], sure + more[3], forced or more[4])
                )
        return frozenset(found)

    def layouts(self) -> Iterator[tuple[int, int, int, bool, int, bool]]:
        """What kans and exposed groups may become: (huxi, red wangs, wangs used, X used, quads made, wang may be X)."""
        fixed = [("kan", kind) for kind in self.kans]
        plain = 0
        for name, cards in self.units:
            if name in ("wei", "peng"):
                fixed.append((name, cards[0]))
            elif name == "chi":
                kind_of = next(n for n, c in THREES if sorted(c) == sorted(cards))
                two = max(cards, key=list(cards).count) if kind_of == "jiao" else cards[0]
                plain += self.value(kind_of, two)
            else:
                plain += self.value(name, cards[0])
        whole = plain + sum(self.value(name, kind) for name, kind in fixed)
        yield whole, 0, 0, False, 0, False
        for name, kind in fixed:
            rest = whole - self.value(name, kind)
            if name != "peng" and self.wangs and self.rules["wang.ti"]:
                yield rest + self.value("ti", kind), int(kind in RED_KINDS), 1, False, 1, self.win == WANG
            if kind == self.win:
                if self.draw == "own" and name == "peng" and self.rules["turn.peng_to_pao"] == "others_draw":
                    continue
                made = "ti" if self.draw == "own" and name != "peng" else "pao"
                yield rest + self.value(made, kind), 0, 0, True, 1, False

    def arrangements(self) -> Iterator[tuple[int, int, str | None, int, bool]]:
        """All arrangements of seven groups: (huxi, reds, special, huxi beforehand, forced group used)."""
        for quads_made in (0, 1):
            quads = self.laid + quads_made
            if self.owned != (20 + quads if quads else 21):
                continue
            pairs = 1 if quads else 0
            for huxi, red, used, took_card, quad, wang_won in self.layouts():
                if quad > quads_made:
                    continue
                counts = [self.pool.get(kind, 0) for kind in range(20)]
                if self.win is not None and self.win != WANG and not took_card:
                    counts[self.win] += 1
                for chosen in {
                    took_card or self.draw == "deal",
                    took_card or self.draw == "deal" or wang_won,
                }:
                    splits = self._split(tuple(counts), self.wangs - used, chosen, pairs, quads_made - quad)
                    for more in splits:
                        yield (
                            huxi + more[0],
                            self.reds + red + more[1],
                            more[2],
                            huxi + more[3],
                            more[4] or took_card,
                        )

    # --- the verdict --------------------------------------------------------------------------------------

    def forced(self) -> bool:
        """Whether the card goes into a ti or wei of the drawer (2.6 steps 2 and 3)."""
        if self.draw != "own" or self.win is None or self.win == WANG or not self.rules["win.forced_first"]:
            return False
        own_wei = any(name == "wei" and cards[0] == self.win for name, cards in self.units)
        return self.win in self.kans or own_wei or self.pool.get(self.win, 0) == 2

    def allowed(self) -> Iterator[tuple[int, int, str | None, int]]:
        forced = self.forced()
        took_by_peng = forced and any(n == "peng" and c[0] == self.win for n, c in self.units)
        assert not took_by_peng
        for huxi, reds, special, sure, forced_used in self.arrangements():
            if not forced or forced_used:
                yield huxi, reds, special, huxi
            elif special and self.rules["win.declare_special"]:
                yield huxi, reds, special, sure

    def fan(self, reds: int, special: str | None) -> int:
        rules = self.rules
        fan = 1
        if reds >= rules["fan.red_min"]:
            fan *= rules["fan.red"]
        if reds == 1:
            fan *= rules["fan.one_red"]
        if reds == 0:
            fan *= rules["fan.black"]
        if special:
            fan *= rules[f"fan.{special}"]
        if self.draw != "other" and (not special or rules["fan.special_includes_zimo"]):
            fan *= rules["fan.zimo"]
        return int(fan)

    def within(self, fan: int, special: str | None) -> bool:
        mode = self.rules["win.wang_limit.mode"]
        if mode == "by_fan" and self.wangs:
            return fan >= self.rules["win.wang_limit.min_fan"][min(self.wangs, 4)]
        if mode == "by_wang" and self.wangs >= self.rules["win.wang_limit.special_only_from"]:
            return special is not None
        return True

    def verdict(self) -> dict[str, Any]:
        """The answer of the contract, without the groups."""
        found = set(self.allowed())
        if not found:
            return {"win": False, "reason": "not seven groups"}
        least = self.rules["win.min_huxi"]
        enough = [one for one in found if min(one[0], one[3]) >= least]
        if not enough:
            return {"win": False, "reason": "too few huxi"}
        best: tuple[int, int, int] | None = None
        names: list[set[str]] = []
        for huxi, reds, special, _ in enough:
            fan = self.fan(reds, special)
            if not self.within(fan, special):
                continue
            tun = self.rules["tun.base"] + (huxi - least) // self.rules["tun.step"]
            rank = (tun * fan, huxi, tun)
            if best is None or rank[:2] > best[:2]:
                best, names = rank, []
            if rank[:2] == best[:2]:
                names.append(self.names(reds, special))
        if best is None:
            return {"win": False, "reason": "a limit"}
        if self.draw == "other" and self.wangs:
            return {"win": False, "reason": "a wang holder on another's draw"}
        score, huxi, tun = best
        return {
            "win": True, "score": score, "huxi": huxi, "tun": tun, "fan": score // tun if tun else None, "names": names,
        }  # fmt: skip

    def names(self, reds: int, special: str | None) -> set[str]:
        found = set()
        if reds >= self.rules["fan.red_min"]:
            found.add("red")
        if reds == 1:
            found.add("one_red")
        if reds == 0:
            found.add("black")
        if special:
            found.add(special)
        if self.draw != "other" and (not special or self.rules["fan.special_includes_zimo"]):
            found.add("zimo")
        return found


def judge(
    rules: Mapping[str, Any],
    hand: Sequence[int],
    table: Sequence[tuple[str, Sequence[int]]],
    win: int | None,
    draw: str,
) -> dict[str, Any]:
    """Judge one hand; see :class:`Judge`. ``names`` lists every set of names that the best value may have."""
    return Judge(rules, hand, table, win, draw).verdict()
