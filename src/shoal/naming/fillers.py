"""English words that people say and that say nothing."""

from __future__ import annotations

# They never start or end a keyword; inside a phrase they may be. Unlike function words they are no part of the lists
# by which texts are compared, because there they may matter.
_LIST = """
able actually advise already anymore appreciate ask asking assist assistance believe bit came come comes completely
currently dear exactly explain far feel fine find got guys happen happened happening happens hello help helping hey
hi hope idea kind know knows later least little look looking looks lot mean means necessary nice ok okay possible
possibly pretty proper properly quickly regarding said say saying says see seem seemed seems seen simply soon sorry
stuff supposed sure tell thank thanks think thinking thought told understand unable various wanted wanting went
wonder wondering yes
"""
FILLERS = frozenset(_LIST.split())
