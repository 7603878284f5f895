"""Sampling: the k with which a random sample of rows, printed at fixed levels, is (epsilon, delta)-differentially
private.

In: epsilon, delta and the sampling rate.  Out: the smallest k of the theorem, which docs/explanation/claims/sampled.md
proves (Li, Qardaji and Su 2012; Bild, Kuhn and Prasser 2018).
"""

from math import ceil, expm1, floor, log, log1p

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
TERMS = 64  # of a tail: each term is at most half of the one before, and the last stands for all that follow


def smallest_epsilon(rate: float) -> float:
    """The smallest epsilon of a sample: without a row, an output is at most 1 / (1 - rate) times as probable.

    >>> round(smallest_epsilon(0.5), 4)
    0.6931
    """
    return -log1p(-rate)


def smallest_k(epsilon: float, delta: float, rate: float) -> int:
    """The smallest k, 2 or more, with which a sample is (epsilon, delta)-differentially private.

    Let a class have n rows, of which j are in the sample.  Outputs with j > gamma n are more than e^epsilon times as
    probable as without one of the rows.  Classes of fewer than k are not published, so with

        gamma = 1 - (1 - rate) e^-epsilon,   n_k = ceil(k / gamma) - 1,

        delta(k) = max_{n >= n_k} P[Binomial(n, rate) > gamma n]

    bounds the probability of such an output, for every n.  No n with exp(-n D(gamma || rate)) <= delta matters
    (Chernoff; D is the relative entropy).  Let w be the largest n with a larger probability than delta.  Then
    n_k > w means k > gamma (w + 1).

    >>> [smallest_k(1, 1e-5, rate) for rate in (0.632, 0.1, 0.05)]
    [61, 7, 5]
    """
    gamma = rate - (1 - rate) * expm1(-epsilon)
    entropy = gamma * log(gamma / rate) - (1 - gamma) * epsilon
    rows = np.arange(1, ceil(-log(delta) / entropy) + 1)
    worst = int(rows[upper_tails(rows, gamma, rate) > delta].max(initial=0))
    return max(floor(gamma * (worst + 1)) + 1, 2)


def upper_tails(rows: Ints, gamma: float, rate: float) -> Floats:
    """P[Binomial(n, rate) > gamma n] for each n of `rows`, which are 1, 2, 3 and so on."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(rows))])  # of factorials
    first = np.floor(gamma * rows).astype(np.int64) + 1
    within = np.minimum(first, rows)
    term = np.exp(
        logs[rows] - logs[within] - logs[rows - within] + within * log(rate) + (rows - within) * log1p(-rate)
    ) * (first <= rows)
    total = term.copy()
    for further in range(TERMS):
        above = within + further
        term = term * np.maximum(rows - above, 0) / (above + 1) * rate / (1 - rate)
        total += term
    return np.asarray(total + term)
