"""Best partitions of a few dozen rows: an integer program, solved by HiGHS through scipy.

x[i, j] = 1 if row j is in the class whose first row is i; so x[i, i] = 1 if row i is the first of a class.

    every row is in one class        sum_i x[i, j] = 1
    a class has k people             sum_p y[i, p] >= k x[i, i],  y[i, p] <= the x[i, j] of the rows j of person p
    a class is a simplex at eps      not all rows of S are in one class, for sets S of rows whose radius is above eps

Sets of two rows are forbidden at once, cliques of them together; larger ones when an answer holds one of them: with
boxes there are none, with balls a few.  The smallest eps for n classes or more is between what was found and what was
shown to be impossible; in the end nothing narrower than what was found is possible.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from kech.topology.filtration import Floats

MOST_ROWS = 40
MOST_NODES = 20_000  # of the tree that HiGHS searches for one answer
ROUNDING = 1e-12  # of a radius
HALVINGS = 8  # of the stretch between impossible and found, before asking for anything narrower at all

Term = tuple[int, float]  # a variable and its factor
Rule = tuple[list[Term], float, float]  # the sum of its terms lies between two numbers
Classes = list[tuple[int, ...]]


class TooHard(Exception):
    """Raised where the solver gives up a search."""


class Program:
    """Rows that are to be parted into classes of k people; `radius` tells the eps at which rows form a simplex."""

    def __init__(self, who: Sequence[int], k: int, radius: Callable[[tuple[int, ...]], float]) -> None:
        self.rows, self.k, self.radius = len(who), k, cache(radius)
        self.pairs = np.zeros((self.rows, self.rows))
        for pair in combinations(range(self.rows), 2):
            self.pairs[pair] = self.pairs[pair[::-1]] = self.radius(pair)
        self.variable = {pair: n for n, pair in enumerate(combinations_with_replacement(range(self.rows), 2))}
        self.count_rules = [*self.assign_rows_once(), *self.require_people(who)]
        self.forbidden: list[tuple[int, ...]] = []

    def assign_rows_once(self) -> Iterator[Rule]:
        """Rules: every row is in exactly one class, and in none that does not exist."""
        for j in range(self.rows):
            yield [(self.variable[i, j], 1.0) for i in range(j + 1)], 1.0, 1.0
        for i, j in self.variable:
            if i < j:
                yield [(self.variable[i, j], 1.0), (self.variable[i, i], -1.0)], -np.inf, 0.0

    def require_people(self, who: Sequence[int]) -> Iterator[Rule]:
        """Rules: every class has k people; a person with several rows after its first has a variable of their own."""
        self.variables = len(self.variable)
        for i in range(self.rows):
            people: list[Term] = []
            for person in dict.fromkeys(who[i:]):
                rows = [(self.variable[i, j], 1.0) for j in range(i, self.rows) if who[j] == person]
                if len(rows) > 1:
                    yield [*rows, (self.variables, -1.0)], 0.0, np.inf
                    rows, self.variables = [(self.variables, 1.0)], self.variables + 1
                people += rows
            yield [*people, (self.variable[i, i], -float(self.k))], 0.0, np.inf

    def steps(self, low: float) -> Iterator[tuple[float, Classes]]:
        """Each eps, from low on, at which more classes are possible than before, with as many as there can be."""
        count, most = 1, self.count_most_classes()
        while count <= most:
            eps = self.find_narrowest(count, low)
            classes = self.divide(eps, count, most=True)
            assert classes is not None
            yield eps, classes
            count, low = len(classes) + 1, eps

    def count_most_classes(self) -> int:
        """The largest number of classes, at any eps."""
        classes = self.divide(np.inf, 1, most=True)
        return 0 if classes is None else len(classes)

    def find_narrowest(self, count: int, low: float) -> float:
        """The smallest eps at which there are so many classes."""
        high, halvings = self.measure(self.divide(np.inf, count)), 0
        while low < high:
            halvings += 1
            limit = (low + high) / 2 if halvings <= HALVINGS else high
            classes = self.divide(limit, count, below=limit == high)
            if classes is not None:
                high = self.measure(classes)
            elif limit == high:
                return high
            else:
                low = limit
        return high

    def measure(self, classes: Classes | None) -> float:
        """The radius of the widest class."""
        return max((self.radius(rows) for rows in classes or ()), default=0.0)

    def divide(self, eps: float, count: int, *, below: bool = False, most: bool = False) -> Classes | None:
        """So many classes or more of radius eps, or less than eps; with `most`, as many as possible."""
        limit = eps - ROUNDING if below else eps + ROUNDING
        while True:
            sets = [rows for rows in self.forbidden if self.radius(rows) > limit]
            classes = self.solve(self.pairs > limit, count, sets, most)
            wide = [rows for rows in classes or () if self.radius(rows) > limit]
            if not wide:
                return classes
            self.forbidden += [self.find_small_conflict(rows, limit) for rows in wide]

    def find_small_conflict(self, rows: tuple[int, ...], limit: float) -> tuple[int, ...]:
        """A small set of these rows that is still too wide for one class."""
        for row in rows:
            fewer = tuple(other for other in rows if other != row)
            rows = fewer if self.radius(fewer) > limit else rows
        return rows

    def solve(self, apart: Any, count: int, sets: list[tuple[int, ...]], most: bool) -> Classes | None:
        """Classes without pairs that are apart and without these sets; None where there are none."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        firsts = [self.variable[i, i] for i in range(self.rows)]
        rules = [*self.count_rules, ([(first, 1.0) for first in firsts], float(count), np.inf)]
        rules += [*self.forbid_pairs(apart), *self.forbid_sets(sets)]
        goal, upper = np.zeros(self.variables), np.ones(self.variables)
        goal[firsts] = -float(most)
        upper[[n for (i, j), n in self.variable.items() if apart[i, j]]] = 0
        answer = milp(
            goal,
            integrality=np.ones(self.variables),
            bounds=Bounds(0, upper),
            constraints=LinearConstraint(*as_matrix(rules, self.variables)),
            options={"node_limit": MOST_NODES},
        )
        if answer.status not in {0, 2}:
            raise TooHard
        return None if answer.status else self.read_classes(answer.x)

    def forbid_pairs(self, apart: Any) -> Iterator[Rule]:
        """Rules: of rows that are pairwise too far apart, at most one is in a class."""
        for i in range(self.rows):
            near = [j for j in range(i + 1, self.rows) if not apart[i, j]]
            for clique in cover_by_cliques(apart, near):
                yield [*((self.variable[i, j], 1.0) for j in clique), (self.variable[i, i], -1.0)], -np.inf, 0.0

    def forbid_sets(self, sets: list[tuple[int, ...]]) -> Iterator[Rule]:
        """Rules: no class contains all rows of one of these sets."""
        for rows in sets:
            for i in range(min(rows) + 1):
                terms = [(self.variable[i, j], 1.0) for j in rows if j != i]
                allowed = len(rows) - 1 - (i in rows)
                yield [*terms, (self.variable[i, i], -float(allowed))], -np.inf, 0.0

    def read_classes(self, values: Floats) -> Classes:
        """The classes in a solution of the program."""
        classes: dict[int, list[int]] = {}
        for (i, j), n in self.variable.items():
            if values[n] > 0.5:
                classes.setdefault(i, []).append(j)
        return [tuple(rows) for rows in classes.values()]


def cover_by_cliques(apart: Any, rows: Sequence[int]) -> Iterator[list[int]]:
    """Cliques of rows that are pairwise apart, until every such pair is in one."""
    covered = set[tuple[int, int]]()
    for index, a in enumerate(rows):
        for b in rows[index + 1 :]:
            if apart[a, b] and (a, b) not in covered:
                clique = [a, b]
                clique += grow_clique(apart, clique, rows)
                covered |= {(c, d) for c in clique for d in clique if c < d}
                yield clique


def grow_clique(apart: Any, clique: Sequence[int], rows: Sequence[int]) -> list[int]:
    """Further rows that are apart from all of a clique and from each other."""
    more: list[int] = []
    for row in rows:
        if row not in clique and all(apart[row, other] for other in (*clique, *more)):
            more.append(row)
    return more


def as_matrix(rules: Sequence[Rule], variables: int) -> tuple[Any, Floats, Floats]:
    """Rules as a sparse matrix with a lower and an upper end for each row."""
    from scipy.sparse import csr_array

    line = np.repeat(np.arange(len(rules)), [len(terms) for terms, _, _ in rules])
    column, factor = zip(*(term for terms, _, _ in rules for term in terms), strict=True)
    matrix = csr_array((np.array(factor), (line, np.array(column))), shape=(len(rules), variables))
    return matrix, np.array([low for _, low, _ in rules]), np.array([high for _, _, high in rules])
