"""The four decisions of the game, and what a choice means.

========== ========================= =====================================
decision   asked                     choice
========== ========================= =====================================
D_WIN      a win on the card         ``TAKE`` or ``PASS``
D_PENG     a peng                    ``TAKE`` or ``PASS``
D_CHI      one of the chi options    ``PASS``, or 1 + number of the option
D_DISCARD  a discard                 a kind of which one or two are held
========== ========================= =====================================
"""

D_NONE, D_WIN, D_PENG, D_CHI, D_DISCARD = range(5)
DECISION_NAMES = ("none", "win", "peng", "chi", "discard")
PASS, TAKE = 0, 1
