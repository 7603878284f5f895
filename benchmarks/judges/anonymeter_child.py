"""anonymeter's three attacks on files; run by the Python of its own environment.

JSON in: {"original", "control", "twin", "secret", "attacks"}: CSV files with equal columns.  JSON out: for each attack
how often it was right, its interval, how often on the control, and how many guesses it could make.
"""

import json
import logging
import sys
import warnings

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from anonymeter.evaluators import singling_out_evaluator as singling_out

COLUMNS = 3  # of a condition that singles out


def main() -> None:
    """Attack as the job says, and print the figures."""
    job = json.loads(sys.argv[1])
    files = [pd.read_csv(job[name]) for name in ("original", "control", "twin")]
    original, control, twin = (as_plain(file) for file in files)
    known = [name for name in original.columns if name != job["secret"]]
    most = min(len(original), len(control))  # nobody is attacked twice
    halves = known[: len(known) // 2], known[len(known) // 2 :]
    attacks = {
        "singling out": lambda: single_out(original, twin, control, job["attacks"]),
        "linkability": lambda: (
            measure(LinkabilityEvaluator(original, twin, aux_cols=halves, n_attacks=most, control=control).evaluate())
            | {"guesses": most}
        ),
        "inference": lambda: (
            measure(
                InferenceEvaluator(
                    original, twin, aux_cols=known, secret=job["secret"], n_attacks=most, control=control
                ).evaluate()
            )
            | {"guesses": most}
        ),
    }
    print(json.dumps({name: attack() for name, attack in attacks.items()}))


def as_plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Text as objects, which anonymeter's distance knows."""
    return frame.astype({name: object for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])})


def single_out(original: pd.DataFrame, twin: pd.DataFrame, control: pd.DataFrame, attacks: int) -> dict:
    """Conditions on several columns; where anonymeter finds fewer than were asked for, how many it found."""
    found = []
    generate = singling_out._generate_singling_out_queries

    def count_queries(*values, **fields):
        queries = generate(*values, **fields)
        found.append(len(queries))
        return queries

    singling_out._generate_singling_out_queries = count_queries
    evaluator = SinglingOutEvaluator(
        original, twin, n_attacks=attacks, n_cols=COLUMNS, control=control, max_attempts=200_000, seed=1
    )
    return measure(evaluator.evaluate(mode="multivariate")) | {"guesses": found[0]}


def measure(evaluator) -> dict:
    """Rates with their intervals of 95 %, and the risk that anonymeter computes of them."""
    results, risk = evaluator.results(), evaluator.risk()
    return {
        "attack": results.attack_rate.value,
        "attack_error": results.attack_rate.error,
        "control": results.control_rate.value,
        "control_error": results.control_rate.error,
        "baseline": results.baseline_rate.value,
        "risk": risk.value,
        "risk_interval": list(risk.ci),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    np.random.seed(1)  # anonymeter draws from it
    main()
