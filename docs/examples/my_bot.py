"""An own bot: keeps what goes together, discards what does not.

    chehuzi simulate two_wang --bots docs/examples/my_bot.py:MyBot,greedy,greedy --games 200
"""

SMALL, LARGE = "一二三四五六七八九十", "壹贰叁肆伍陆柒捌玖拾"


def friends(card, others):
    """How many of the other cards could make a group with this one."""
    size, twin = (SMALL, LARGE) if card in SMALL else (LARGE, SMALL)
    rank = size.index(card)
    near = [size[place] for place in range(max(0, rank - 2), min(10, rank + 3))]
    if rank in (1, 6, 9):  # 2, 7 and 10 make a run of their own
        near += [size[1], size[6], size[9]]
    near.append(twin[rank])
    return sum(other in near for other in others)


class MyBot:
    """One object a game: what you keep in ``self`` is there until the game ends."""

    def choose(self, view, options):
        """Pick one of the options; see docs/own-bot.md for what ``view`` tells."""
        values = self.values(view, options)
        return options[values.index(max(values))]

    def values(self, view, options):
        """What each option is worth; ``replay --explain`` shows it."""
        return [self.value(view, option) for option in options]

    def value(self, view, option):
        """A win first, then groups on the table, then a hand that hangs together."""
        if option.kind == "win":
            return 100 + option.score
        if option.kind == "peng":
            return 3 if view.hidden[option.card] == 0 else 1
        if option.kind == "chi":
            return 4 - 2 * len(option.groups)
        if option.kind == "discard":
            others = view.hand.replace(option.card, "", 1)
            # a card nobody can still collect is safer to give away
            return -friends(option.card, others) - 0.1 * view.hidden[option.card]
        return 0  # pass
