"""A slow, plain referee of whole games, written from the rules document alone.

It keeps the table itself from the ``start`` event, follows a log, and at each point knows what must come next: forced
moves, who is asked in which order, what is blocked, what a win is worth (by :mod:`oracle`), who pays whom.
:class:`Explorer` goes on from where a log stops, through every choice that the rules leave.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

from oracle import THREES, judge, rules_of

from sim.cards import FACES, WANG, parse_cards

Event = dict[str, Any]


class FaultError(Exception):
    """The log departs from the rules here."""


def one(card: str) -> int:
    return parse_cards(card)[0]


class Referee:
    """One game."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = list(events)
        self.at = 0
        first = self.take("start")
        self.rules = rules_of(first["variant"], first["overrides"])
        self.seats = self.rules["table.seats"]
        self.dealer = first["dealer"]
        self.sitter = (self.dealer + 2) % 4 if self.seats == 4 else None
        self.need(first["seats"] == self.seats and first["sitter"] == self.sitter, "1.12: seats or sitter")
        self.order = self.turn_order(self.dealer)
        self.hands = {seat: Counter(parse_cards(first["hands"][str(seat)])) for seat in self.order}
        self.wall = parse_cards(first["wall"])
        self.melds: dict[int, list[dict[str, Any]]] = {seat: [] for seat in self.order}
        self.no_peng: dict[int, set[int]] = {seat: set() for seat in self.order}
        self.passed_peng: dict[int, set[int]] = {seat: set() for seat in self.order}
        self.no_chi: dict[int, set[int]] = {seat: set() for seat in self.order}
        self.dead: set[int] = set()
        self.check_deal(first)

    # --- small helpers -----------------------------------------------------------------------------------

    def turn_order(self, first: int) -> list[int]:
        order, seat = [], first
        while len(order) < 3:
            if seat != self.sitter:
                order.append(seat)
            seat = (seat + 1) % self.seats
        return order

    def following(self, seat: int) -> int:
        return self.turn_order((seat + 1) % self.seats)[0]

    def need(self, condition: object, words: str) -> None:
        if not condition:
            shown = self.events[min(self.at, len(self.events)) - 1] if self.at else {}
            raise FaultError(f"event {self.at - 1}: {words}: {json.dumps(shown, ensure_ascii=False)[:200]}")

    def peek(self) -> Event:
        if self.at >= len(self.events):
            raise FaultError("the log ends too early")
        return self.events[self.at]

    def take(self, *types: str, **fields: Any) -> Event:
        event = self.peek()
        self.at += 1
        self.need(event.get("type") in types, f"{' or '.join(types)} expected")
        for name, value in fields.items():
            self.need(name in event and event[name] == value, f"{name} must be {value!r}")
        return event

    def takes(self, option: str, options: int = 1) -> bool:
        """Whether the seat that is asked takes what it is offered (one of ``options`` ways)."""
        return self.peek()["type"] == option

    def owned(self, seat: int) -> int:
        return sum(self.hands[seat].values()) + sum(len(meld["cards"]) for meld in self.melds[seat])

    def quads(self, seat: int) -> int:
        return sum(meld["type"] in ("ti", "pao") for meld in self.melds[seat])

    def quota(self, seat: int) -> int:
        return 20 + max(0, self.quads(seat) - 1)

    def free(self, seat: int) -> list[int]:
        return [kind for kind, count in self.hands[seat].items() if kind != WANG and 1 <= count <= 2]

    def meld_of(self, seat: int, name: str, kind: int) -> dict[str, Any] | None:
        return next((m for m in self.melds[seat] if m["type"] == name and m["cards"][0] == kind), None)

    def value(
        self, seat: int, win: int | None, draw: str, melds: Sequence[dict[str, Any]] | None = None
    ) -> Event:
        hand = sorted(self.hands[seat].elements())
        table = [(meld["type"], meld["cards"]) for meld in (self.melds[seat] if melds is None else melds)]
        return self.judged(hand, table, win, draw)

    def judged(
        self, hand: list[int], table: Sequence[Any], win: int | None, draw: str, declare: bool = True
    ) -> Event:
        rules = self.rules if declare else {**self.rules, "win.declare_special": False}
        return judge(rules, hand, table, win, draw)

    # --- the deal ----------------------------------------------------------------------------------------

    def check_deal(self, first: Event) -> None:
        wangs = self.rules["deck.wangs"]
        cards = Counter(self.wall) + sum(self.hands.values(), Counter())
        self.need(
            cards == Counter(dict.fromkeys(range(20), 4) | ({WANG: wangs} if wangs else {})), "1.1: deck"
        )
        sizes = [sum(self.hands[seat].values()) for seat in self.order]
        self.need(sizes == [21, 20, 20], "1.13: hands")
        self.need(set(first["hands"]) == {str(seat) for seat in self.order}, "1.13: who gets cards")

    def dealt_ti(self) -> None:
        for seat in self.order:
            kinds = {kind for kind, count in self.hands[seat].items() if count == 4 and kind != WANG}
            while kinds:
                event = self.take("ti", seat=seat, base="deal", **{"from": "deal"})
                self.need(one(event["card"]) in kinds, "1.7: dealt ti")
                kinds.discard(one(event["card"]))
                self.lay_dealt(seat, one(event["card"]))

    def lay_dealt(self, seat: int, kind: int) -> None:
        del self.hands[seat][kind]
        self.melds[seat].append({"type": "ti", "cards": [kind] * 4})

    def replacements(self) -> None:
        for seat in self.order:
            extra = 1 if seat == self.dealer else 0
            while self.owned(seat) < self.quota(seat) + extra and self.wall:
                card = self.wall.pop(0)
                self.take("draw", seat=seat, card=FACES[card], hidden=True)
                self.hands[seat][card] += 1
                if card != WANG and self.hands[seat][card] == 4:
                    self.take("ti", seat=seat, card=FACES[card], base="deal", **{"from": "deal"})
                    self.lay_dealt(seat, card)

    # --- the game ----------------------------------------------------------------------------------------

    def run(self) -> None:
        turn = self.opening()
        while turn is not None:
            turn = self.draw(turn)

    def opening(self) -> int | None:
        """All that comes before the first draw; the seat that draws, None if the game is over."""
        self.dealt_ti()
        if self.rules["turn.extra_quad"] == "replacement_draw":
            self.replacements()
        if self.rules["deal.heavenly_win"]:
            value = self.value(self.dealer, None, "deal")
            if self.asked_win(self.dealer, None, "deal", value):
                return None
        return self.act(self.dealer)

    def asked_win(self, seat: int, card: int | None, by: str, value: Event) -> bool:
        """If the win is legal it must be taken or passed here; True if the game is over."""
        if not value["win"]:
            return False
        face = None if card is None else FACES[card]
        if self.takes("win"):
            worth = {name: value[name] for name in ("score", "huxi", "tun")}
            event = self.take("win", seat=seat, card=face, by=by, **worth)
            self.check_win(event, value)
            self.settle_win(seat, card, event.get("fan", value["fan"]), value["score"])
            return True
        self.take("pass", seat=seat, option="win", card=face)
        return False

    def act(self, seat: int) -> int | None:
        """The count rule; the seat that draws next, None if the game is over."""
        if self.owned(seat) > self.quota(seat) and seat not in self.dead:
            if not self.free(seat):
                self.take("dead", seat=seat)
                self.dead.add(seat)
            else:
                return self.discard(seat)
        return self.following(seat)

    def discard(self, seat: int) -> int | None:
        card = self.which_discard(seat)
        self.need(card in self.free(seat), "2.8: a free card must be discarded")
        self.remove(seat, [card])
        if self.rules["pass.own_discard_blocks_chi"]:
            self.no_chi[seat].add(card)
        others = self.turn_order(seat)[1:]
        for other in others:
            if self.hands[other][card] == 3 or self.meld_of(other, "wei", card):
                return self.pao(other, card)
        return self.claims(seat, card, others, [self.following(seat)])

    def which_discard(self, seat: int) -> int:
        return one(self.take("discard", seat=seat)["card"])

    def draw(self, seat: int) -> int | None:
        self.need(self.wall, "2.6: the wall is empty")
        card = self.wall.pop(0)
        event = self.take("draw", seat=seat, card=FACES[card])
        if card == WANG:
            self.need(not event.get("hidden"), "1.4: a drawn wang is shown")
            return self.draw_wang(seat)
        if self.hands[seat][card] in (2, 3) or self.meld_of(seat, "wei", card):
            return self.draw_forced(seat, card, event)
        self.need(not event.get("hidden"), "2.6: a card that nobody must lay is shown")
        for place, other in enumerate(self.turn_order(seat)):
            if other in self.dead or (place and self.hands[other][WANG]):
                continue
            by = "own" if place == 0 else "other"
            if self.asked_win(other, card, by, self.value(other, card, by)):
                return None
        if not self.wall:
            return self.draw_game()
        for place, other in enumerate(self.turn_order(seat)):
            kan_or_wei = self.hands[other][card] == 3 or self.meld_of(other, "wei", card)
            lifts = self.meld_of(other, "peng", card) and (
                place or self.rules["turn.peng_to_pao"] == "any_draw"
            )
            if (place and kan_or_wei) or lifts:
                return self.pao(other, card)
        asked = [seat]
        if self.rules["turn.chi_from_upstream_draw"]:
            asked.append(self.following(seat))
        return self.claims(seat, card, self.turn_order(seat)[1:], asked)

    def draw_wang(self, seat: int) -> int | None:
        if seat not in self.dead and self.asked_win(seat, WANG, "own", self.value(seat, WANG, "own")):
            return None
        self.hands[seat][WANG] += 1
        return self.after_gain(seat)

    def after_gain(self, seat: int) -> int | None:
        return self.act(seat) if self.wall else self.draw_game()

    def draw_forced(self, seat: int, card: int, drawn: Event) -> int | None:
        forced_first = self.rules["win.forced_first"]
        best = self.value(seat, card, "own") if seat not in self.dead else {"win": False}
        special = best["win"] and all(
            any(name.startswith("wang_") for name in names) for names in best["names"]
        )
        may_be_special = best["win"] and any(
            any(n.startswith("wang_") for n in names) for names in best["names"]
        )
        before = best["win"] and (not forced_first or special)
        if not before and may_be_special and self.asked_before_forced():
            before = True  # equal in score and huxi: the larger wang special is preferred
        if before and self.asked_win(seat, card, "own", best):
            self.need(not drawn.get("hidden"), "2.6: a declared card lies open")
            return None
        after = {"win": False}
        if forced_first and seat not in self.dead:
            hand = sorted(self.hands[seat].elements())
            table = [(meld["type"], meld["cards"]) for meld in self.melds[seat]]
            after = self.judged(hand, table, card, "own", declare=False)
        self.lay_forced(seat, card, drawn)
        if self.asked_win(seat, card, "own", after):
            return None
        return self.after_gain(seat)

    def asked_before_forced(self) -> bool:
        return self.peek()["type"] in ("win", "pass")

    def lay_forced(self, seat: int, card: int, drawn: Event) -> None:
        wei = self.meld_of(seat, "wei", card)
        if self.hands[seat][card] == 3 or wei:
            base = "wei" if wei else "kan"
            self.take("ti", seat=seat, card=FACES[card], base=base, **{"from": "draw"})
            self.need(drawn.get("hidden"), "2.3: the card of a ti is not shown")
            if wei:
                wei.update(type="ti", cards=[card] * 4)
            else:
                self.remove(seat, [card] * 3)
                self.melds[seat].append({"type": "ti", "cards": [card] * 4})
            return
        is_open = card in self.passed_peng[seat]
        self.take("wei", seat=seat, card=FACES[card], open=is_open)
        self.need(bool(drawn.get("hidden")) is not is_open, "2.2: a chou wei is open, a wei is not")
        self.remove(seat, [card] * 2)
        self.melds[seat].append({"type": "wei", "cards": [card] * 3})

    def pao(self, seat: int, card: int) -> int | None:
        base = "kan" if self.hands[seat][card] == 3 else "wei" if self.meld_of(seat, "wei", card) else "peng"
        self.take("pao", seat=seat, card=FACES[card], base=base)
        if base == "kan":
            self.remove(seat, [card] * 3)
            self.melds[seat].append({"type": "pao", "cards": [card] * 4})
        else:
            meld = self.meld_of(seat, base, card)
            assert meld
            meld.update(type="pao", cards=[card] * 4)
        return self.act(seat)

    def leaves_discard(self, seat: int, used: int) -> bool:
        cards = sum(self.hands[seat][kind] for kind in self.free(seat))
        return self.owned(seat) + 1 <= self.quota(seat) or cards > used

    def claims(self, source: int, card: int, others: Sequence[int], asked: Sequence[int]) -> int | None:
        """Peng, then chi by position, then nobody."""
        for other in others:
            pair = self.hands[other][card] == 2 and other not in self.dead
            if pair and card not in self.no_peng[other] and self.leaves_discard(other, 2):
                if self.takes("peng"):
                    self.take("peng", seat=other, card=FACES[card])
                    self.remove(other, [card] * 2)
                    self.melds[other].append({"type": "peng", "cards": [card] * 3})
                    return self.act(other)
                self.take("pass", seat=other, option="peng", card=FACES[card])
                self.passed_peng[other].add(card)
                if self.rules["pass.blocks_peng"]:
                    self.no_peng[other].add(card)
        for other in asked:
            options = (
                [] if card in self.no_chi[other] or other in self.dead else self.chi_options(other, card)
            )
            if options:
                if self.takes("chi", len(options)):
                    return self.chi(other, card, options)
                self.take("pass", seat=other, option="chi", card=FACES[card])
            if self.rules["pass.blocks_chi"]:
                self.no_chi[other].add(card)
        return self.following(source)

    def chi_options(self, seat: int, card: int) -> list[tuple[tuple[int, ...], ...]]:
        """Every set of groups that use the card, all free cards of its kind and other free cards (2.9, 2.11)."""
        held = self.hands[seat][card]
        if held > 2:
            return []
        free = Counter({kind: self.hands[seat][kind] for kind in self.free(seat)})
        free[card] += 1
        holders = [cards for _, cards in THREES if card in cards]
        found = set()

        def extend(chosen: list[tuple[int, ...]], left: Counter[int], start: int) -> None:
            if left[card] == 0:
                used = 3 * len(chosen) - 1
                if self.leaves_discard(seat, used):
                    found.add(tuple(sorted(tuple(sorted(cards)) for cards in chosen)))
                return
            for place in range(start, len(holders)):
                need = Counter(holders[place])
                if all(left[kind] >= count for kind, count in need.items()):
                    extend([*chosen, holders[place]], left - need, place)

        extend([], free, 0)
        return sorted(found)

    def chi(self, seat: int, card: int, options: list[tuple[tuple[int, ...], ...]]) -> int | None:
        groups = self.which_chi(seat, card, options)
        self.need(
            all(cards[0] == card for cards in groups), "2.9: the claimed kind comes first in its groups"
        )
        self.need(tuple(sorted(tuple(sorted(cards)) for cards in groups)) in options, "2.9: no option")
        self.remove(seat, [kind for cards in groups for kind in cards][1:])
        self.melds[seat] += [{"type": "chi", "cards": cards} for cards in groups]
        return self.act(seat)

    def which_chi(self, seat: int, card: int, options: list[tuple[tuple[int, ...], ...]]) -> list[list[int]]:
        event = self.take("chi", seat=seat, card=FACES[card])
        return [parse_cards(text) for text in event["groups"]]

    def remove(self, seat: int, cards: Iterable[int]) -> None:
        for card in cards:
            self.need(self.hands[seat][card] > 0, "a card that is not in the hand")
            self.hands[seat][card] -= 1
            if not self.hands[seat][card]:
                del self.hands[seat][card]

    # --- the end -----------------------------------------------------------------------------------------

    def cards_of(self, seat: int, card: int | None) -> Counter[int]:
        """All the winner's cards, the winning one (unless just laid in a ti or wei) among them."""
        mine = Counter(self.hands[seat])
        for meld in self.melds[seat]:
            mine.update(meld["cards"])
        laid = self.at >= 2 and self.events[self.at - 2]["type"] in ("ti", "wei")
        if card is not None and not laid:
            mine[card] += 1
        return mine

    def check_win(self, event: Event, value: Event) -> None:
        self.need(event["fan"] * event["tun"] == event["score"], "4: fan")
        self.need(set(event["names"]) in value["names"], f"4: names must be one of {value['names']}")
        seat, card = event["seat"], None if event["card"] is None else one(event["card"])
        groups = [parse_cards(group["cards"]) for group in event["groups"]]
        self.need(len(groups) == 7, "5.2: seven groups")
        self.need(sum(group["huxi"] for group in event["groups"]) == event["huxi"], "3: huxi of the groups")
        faces = Counter(kind for group in event["groups"] for kind in parse_cards(group["faces"]))
        self.need(faces == self.cards_of(seat, card), "5.2: the groups are all the cards of the hand")
        xing = self.xing(seat, card)
        if xing is None:
            self.need(event["xing"] is None, "2.13: no xing")
        else:
            shown, count = xing
            self.need(event["xing"]["count"] == count, f"2.13: there are {count} of the xing card")
            face = None if shown is None else FACES[shown]
            self.need(event["xing"]["card"] == face, "2.13: the xing card")

    def xing(self, seat: int, card: int | None) -> tuple[int | None, int] | None:
        """The xing card and how many of its kind the winner has; None without xing (2.13)."""
        mode = self.rules["xing.card"]
        if mode == "none":
            return None
        owned = self.cards_of(seat, card)
        del owned[WANG]
        if mode == "flip" and self.wall:
            card = self.wall[0]
        kind = card
        if card in (None, WANG):
            most = max(owned.values())
            kind = min(kind for kind, count in owned.items() if count == most)
        return card, owned[kind]

    def settle_win(self, winner: int, card: int | None, fan: int, score: int) -> None:
        xing = self.xing(winner, card)
        single = 0 if xing is None else xing[1] * fan
        second = single if self.rules["xing.singles"] == 2 else 0
        payment = self.rules["xing.payment"] if self.seats == 4 else "winner_only"
        owed: list[tuple[int, int, int, str]] = []
        for loser in (seat for seat in self.order if seat != winner):
            owed.append((loser, winner, score, "win"))
            if payment == "winner_only":
                owed.append((loser, winner, single + second, "xing"))
            elif payment == "any_winner" or winner == self.dealer:
                owed += [(loser, winner, single, "xing"), (loser, self.sitter, second, "xing")]
            elif loser == self.dealer:
                owed.append((loser, winner, single, "xing"))
            else:
                owed.append((loser, winner, single + second, "xing"))
        if payment == "dealer_side" and winner != self.dealer:
            owed.append((self.sitter, winner, second, "xing"))
        self.check_end(owed)

    def draw_game(self) -> None:
        wangs = {seat: self.hands[seat][WANG] for seat in self.order}
        self.take("draw_game", wangs={str(seat): wangs[seat] for seat in sorted(wangs)})
        owed: list[tuple[int, int, int, str]] = []
        if self.rules["draw.wang_payout.enabled"]:
            for payer, number in wangs.items():
                for payee in [*self.order, *([] if self.sitter is None else [self.sitter])]:
                    if not number or payee == payer or wangs.get(payee, 0):
                        continue
                    if payee == self.sitter and payer == self.dealer:
                        continue
                    factor = 1
                    if number == self.rules["deck.wangs"] and payee != self.sitter:
                        factor = self.rules["draw.wang_payout.all_in_one"]
                    owed.append((payer, payee, self.rules["draw.wang_payout.unit"] * number * factor, "wang"))
        self.check_end(owed)

    def due(self, owed: list[tuple[int, int, int, str]]) -> dict[tuple[int, int, str], int]:
        """Stake and cap applied; one amount a payer, payee and reason."""
        stake, cap = self.rules["stake"], self.rules["cap"]
        due: Counter[tuple[int, int, str]] = Counter()
        for payer, payee, amount, reason in owed:
            amount *= stake
            if reason != "wang" and cap:
                amount = min(amount, cap - due[payer, payee, "win"] - due[payer, payee, "xing"])
            due[payer, payee, reason] += amount
        return {key: amount for key, amount in due.items() if amount}

    def scores_of(self, due: dict[tuple[int, int, str], int]) -> dict[str, int]:
        scores = dict.fromkeys((str(seat) for seat in range(self.seats)), 0)
        for (payer, payee, _), amount in due.items():
            scores[str(payer)] -= amount
            scores[str(payee)] += amount
        return scores

    def check_end(self, owed: list[tuple[int, int, int, str]]) -> None:
        right = self.due(owed)
        event = self.take("end")
        found = Counter(
            {(payer, payee, reason): amount for payer, payee, amount, reason in event["transfers"]}
        )
        self.need(len(found) == len(event["transfers"]), "one transfer a payer, payee and reason")
        self.need(dict(found) == right, f"3.9: transfers must be {right}")
        scores = self.scores_of(right)
        self.need(event["scores"] == scores, f"3.9: scores must be {scores}")
        self.need(self.at == len(self.events), "nothing comes after the end")


class Explorer(Referee):
    """A referee that follows the beginning of a log and then goes through every continuation.

    Between two draws nothing is pending, so there a position is copied (:meth:`fork`); within a turn the choices are
    written down as numbers and every way to make them is tried by going through the turn again.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.given = len(events)
        super().__init__(events)
        self.choices: list[int] = []
        self.widths: list[int] = []
        self.place = 0
        self.option = 0
        self.found: Counter[str] = Counter()
        self.ending: tuple[str, dict[str, int]] | None = None
        self.known: dict[Any, Event] = {}

    def fork(self) -> Explorer:
        """The same position, to go on from independently."""
        other = copy(self)
        other.events = list(self.events)
        if self.exploring:  # nothing looks further back than two events
            other.events = self.events[-2:]
            other.at, other.given = len(other.events), 0
        other.wall = list(self.wall)
        other.hands = {seat: Counter(hand) for seat, hand in self.hands.items()}
        other.melds = {seat: [dict(meld) for meld in melds] for seat, melds in self.melds.items()}
        for name in ("no_peng", "passed_peng", "no_chi"):
            setattr(other, name, {seat: set(kinds) for seat, kinds in getattr(self, name).items()})
        other.dead = set(self.dead)
        return other

    @property
    def exploring(self) -> bool:
        return self.at >= self.given

    def judged(
        self, hand: list[int], table: Sequence[Any], win: int | None, draw: str, declare: bool = True
    ) -> Event:
        groups = sorted((name, tuple(cards)) for name, cards in table)
        key = (tuple(hand), tuple(groups), win, draw, declare)
        if key not in self.known:
            self.known[key] = super().judged(hand, table, win, draw, declare)
        return self.known[key]

    def choice(self, decision: str, number: int) -> int:
        """The next choice, 0 to ``number`` - 1; new ones begin with 0."""
        if self.place == len(self.choices):
            self.choices.append(0)
            self.widths.append(number)
            self.found[decision] += 1
        self.place += 1
        return self.choices[self.place - 1]

    def need(self, condition: object, words: str) -> None:
        if not self.exploring:
            super().need(condition, words)

    def take(self, *types: str, **fields: Any) -> Event:
        if not self.exploring:
            return super().take(*types, **fields)
        self.events.append({"type": types[0], **fields})
        self.at += 1
        return self.events[-1]

    def takes(self, option: str, options: int = 1) -> bool:
        if not self.exploring:
            return super().takes(option)
        self.option = self.choice(f"{option}?", 1 + options) - 1
        return self.option >= 0

    def which_discard(self, seat: int) -> int:
        if not self.exploring:
            return super().which_discard(seat)
        free = sorted(self.free(seat))
        card = free[self.choice("discard?", len(free))]
        self.take("discard", seat=seat, card=FACES[card])
        return card

    def which_chi(self, seat: int, card: int, options: list[tuple[tuple[int, ...], ...]]) -> list[list[int]]:
        if not self.exploring:
            return super().which_chi(seat, card, options)
        groups = [sorted(cards, key=lambda kind: kind != card) for cards in options[self.option]]
        self.take("chi", seat=seat, card=FACES[card], groups=["".join(FACES[k] for k in g) for g in groups])
        return groups

    def asked_before_forced(self) -> bool:
        return self.exploring or super().asked_before_forced()

    def check_win(self, event: Event, value: Event) -> None:
        if not self.exploring:
            super().check_win(event, value)

    def check_end(self, owed: list[tuple[int, int, int, str]]) -> None:
        self.ending = (self.events[self.at - 1]["type"], self.scores_of(self.due(owed)))

    def count(self, turn: int | None = None) -> Counter[str]:
        """All continuations: decisions of each kind, endings of each kind, and the sum of each seat's scores.

        ``turn`` is the seat that draws next; None at the very beginning.
        """
        choices: list[int] = []
        widths: list[int] = []
        while True:
            trial = self.fork()
            trial.choices, trial.widths, trial.place = choices, widths, 0
            following = trial.opening() if turn is None else trial.draw(turn)
            if following is None:
                assert trial.ending is not None, "the log ends with the game"
                kind, scores = trial.ending
                self.found[kind] += 1
                self.found.update({f"seat {seat}": score for seat, score in scores.items()})
            else:
                trial.count(following)
            while choices and choices[-1] + 1 == widths[-1]:
                choices.pop()
                widths.pop()
            if not choices:
                return self.found
            choices[-1] += 1


def check_game(events: Sequence[Event]) -> list[str]:
    """What is wrong with the log of one game; nothing if it keeps the rules."""
    try:
        Referee(events).run()
    except FaultError as fault:
        return [str(fault)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return [f"not a log: {error!r}"]
    return []


def split_games(lines: Iterable[str]) -> Iterator[list[Event]]:
    """Games of a log file."""
    game: list[Event] = []
    for line in lines:
        event = json.loads(line)
        if event["type"] == "start" and game:
            yield game
            game = []
        game.append(event)
    if game:
        yield game
