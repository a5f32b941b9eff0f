"""Which cells of some suites are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.errors import ParameterError
from shoal_bench.data_sets import find_data_set, is_present
from shoal_bench.runner import Task
from shoal_bench.suite import Row, Suite
from shoal_bench.tiers import Tier

ALL = "all"


@dataclass(frozen=True)
class Choice:
    """What is asked of some suites; whatever is not named is all that the tier has.

    Attributes
    ----------
    tier : Tier
        How much is measured.
    data_sets, rows, methods : sequence of str
        Only these.
    peers : sequence of str
        Also the rows of these foreign tools, or ``all``; a peer's row that is named is wanted without.
    seeds : tuple of int
        Other seeds than the tier's.
    n_texts : int, optional
        Another size of sample than the tier's.
    """

    tier: Tier
    data_sets: Sequence[str] = ()
    rows: Sequence[str] = ()
    methods: Sequence[str] = ()
    peers: Sequence[str] = ()
    seeds: tuple[int, ...] = ()
    n_texts: int | None = None

    def tasks(self, suites: Sequence[Suite], omit_missing: bool = False) -> tuple[list[Task], list[str]]:
        """Return what is to be measured, whether or not the results have it.

        Parameters
        ----------
        suites : sequence of Suite
            The tables.
        omit_missing : bool, default=False
            Omit data sets whose files are not there.

        Returns
        -------
        tasks : list of Task
            A cell that two tables ask for is there twice.
        missing : list of str
            The data sets that were omitted.

        Raises
        ------
        ParameterError
            If a name is in none of the suites, or nothing is left.
        DataError
            If a data set is not there.
        """
        self._check_names(suites)
        wanted = list(self._wanted(suites))
        if not wanted:
            raise ParameterError("no row is left to run; omit --row, --method or --data-set, or add --peer.")
        names = dict.fromkeys(name for _, name in wanted)
        missing = [name for name in names if omit_missing and not is_present(name)]
        data_sets = {name: find_data_set(name) for name in names if name not in missing}
        for name, data_set in data_sets.items():
            if not is_present(name):
                data_set.load()  # says what is missing, and the remedy
        tasks = []
        for row, name in wanted:
            for seed in (self.seeds or self.tier.seeds) if name in data_sets else ():
                data_set = data_sets[name]
                cell = row.cell(data_set, self.tier, seed, self.n_texts)
                tasks.append(Task(cell, data_set.sha256, row.name, row.cost, cell.n_texts or data_set.n_texts))
        return tasks, missing

    def _wanted(self, suites: Sequence[Suite]) -> Iterator[tuple[Row, str]]:
        """Yield the rows and data sets that are asked for."""
        for suite in suites:
            for name in self.data_sets or suite.data_sets_in(self.tier):
                if name in suite.data_sets:
                    yield from ((row, name) for row in suite.rows if self._wants(row))

    def _wants(self, row: Row) -> bool:
        """Tell whether a row is asked for."""
        by_peer = row.peer is None or ALL in self.peers or row.peer in self.peers or row.name in self.rows
        by_name = not self.rows or row.name in self.rows
        by_method = not self.methods or row.method in self.methods
        in_tier = row.runs_in(self.tier) or (row.runnable and row.name in self.rows)
        return in_tier and by_peer and by_name and by_method

    def _check_names(self, suites: Sequence[Suite]) -> None:
        """Refuse a name that none of the suites has."""
        rows = [row for suite in suites for row in suite.rows if row.runnable]
        for what, given, known in (
            ("data set", self.data_sets, [name for suite in suites for name in suite.data_sets]),
            ("row", self.rows, [row.name for row in rows]),
            ("method", self.methods, [row.method for row in rows if row.method]),
            ("peer", [name for name in self.peers if name != ALL], [row.peer for row in rows if row.peer]),
        ):
            for name in given:
                if name not in known:
                    there = ", ".join(dict.fromkeys(known)) or "none"
                    raise ParameterError(f"the suite has no {what} {name!r} that can be run; it has: {there}.")
