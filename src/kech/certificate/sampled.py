"""Sampled: whether the k of a certificate is large enough for the differential privacy that it states.

In: the parameters of a certificate.  Out: complaints.  That rows were drawn at random, and that their maker fixed the
levels before, is stated by the maker: nobody can recount it.
"""

from collections.abc import Mapping
from math import ceil, exp, floor, lgamma, log, log1p
from typing import Any

STATED = ("dp_epsilon", "dp_delta", "dp_rate")
SEARCH = "dp_search"  # the part of epsilon that was spent to draw levels, where they were drawn
LIMITS = {"dp_epsilon": (0.0, 10.0), "dp_delta": (1e-16, 1.0), "dp_rate": (0.0009, 1.0)}  # each lies between these
SHOWN_AS_THEY_ARE = ("sensitive", "kept", "stated", "series", "person_number")  # parts of a certificate


def pick_sample(parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters of a sample with differential privacy, if there is one."""
    names = (*STATED, *([SEARCH] if SEARCH in parameters else []), "k")
    return {name: parameters[name] for name in names} if STATED[0] in parameters else None


def are_sample_figures_valid(parameters: Mapping[str, Any]) -> bool:
    """Whether all figures of a sample are there, and each is a number within its limits."""
    limits = LIMITS | ({SEARCH: (0.0, 10.0)} if SEARCH in parameters else {})
    return (
        all(
            type(parameters.get(name)) in (int, float) and low < parameters[name] <= high
            for name, (low, high) in limits.items()
        )
        and type(parameters.get("k")) is int
    )


def broken_sample(certificate: Mapping[str, Any]) -> list[str]:
    """Complaints where the certificate contradicts the differential privacy that it states."""
    parameters, broken = certificate["parameters"], []
    epsilon, delta, rate = (parameters[name] for name in STATED)
    k, epsilon = parameters["k"], epsilon - parameters.get(SEARCH, 0.0)
    if rate >= 1 or epsilon < -log1p(-rate):
        return [f"dp_epsilon: a sample at the rate {rate} has a larger one"]
    if find_delta(k, epsilon, rate, delta) > delta:
        broken.append(f"dp_delta: k = {k} is too small for it")
    if parameters.get("cut") != "domain" or any(certificate.get(part) for part in SHOWN_AS_THEY_ARE):
        broken.append("dp_epsilon: it holds only for --cut domain, of rows, with nothing published as it is")
    for axis in certificate["quasi_identifiers"]:
        if not (axis["axis"] in ("hierarchy", "ordered") or isinstance(axis.get("grid"), int | float)):
            broken.append(f"dp_epsilon: the labels of {axis['column']!r} follow from the rows")
    return broken


def find_delta(k: int, epsilon: float, rate: float, enough: float) -> float:
    """max P[Binomial(n, rate) > gamma n] over all n >= k / gamma - 1, with gamma = 1 - (1 - rate) / e^epsilon.

    Larger n are bounded by exp(-n D(gamma || rate)); where that is below `enough`, they are not looked at.
    """
    gamma = 1 - (1 - rate) / exp(epsilon)
    entropy = gamma * log(gamma / rate) + (1 - gamma) * log((1 - gamma) / (1 - rate))
    worst, n = 0.0, max(ceil(k / gamma) - 1, 1)
    while exp(-n * entropy) > enough:
        worst = max(worst, find_tail(n, floor(gamma * n) + 1, rate))
        n += 1
    return worst


def find_tail(n: int, least: int, rate: float) -> float:
    """P[Binomial(n, rate) >= least]."""
    total = 0.0
    for j in range(least, n + 1):
        ways = lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1)
        term = exp(ways + j * log(rate) + (n - j) * log1p(-rate))
        total += term
        if term < total * 1e-17:
            break
    return total
