"""Gradient boosting, learned from some rows and tested on others; run by the Python of its own environment.

JSON in: {"train", "test": .npz files with x and y, perhaps with weights of the rows to learn from, "number": whether y
is a number}.  JSON out: {"score"}: R2 or AUC.
"""

import json
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score

OPTIONS = {"max_iter": 150, "learning_rate": 0.08, "early_stopping": False, "random_state": 1}  # nothing is drawn


def main() -> None:
    """Learn and predict."""
    job = json.loads(sys.argv[1])
    train, test = np.load(job["train"]), np.load(job["test"])
    print(json.dumps({"score": score(train, test, is_number=job["number"])}))


def score(train, test, *, is_number: bool) -> float:
    """R2 of a number, AUC of yes and no."""
    weights = train.get("weights")
    if is_number:
        model = HistGradientBoostingRegressor(**OPTIONS).fit(train["x"], train["y"], sample_weight=weights)
        return float(r2_score(test["y"], model.predict(test["x"])))
    model = HistGradientBoostingClassifier(**OPTIONS).fit(train["x"], train["y"], sample_weight=weights)
    return float(roc_auc_score(test["y"], model.predict_proba(test["x"])[:, 1]))


if __name__ == "__main__":
    main()
