"""History oracle: random visits tables, released with all rows of a person together, and recounted by SQL.

Every row keeps a number of its own in a kept column, so that the written file joins the original; kech has no part in
it.
"""

import random
from dataclasses import replace

import kech
from kech.errors import GoalNotMet, TooManyPoints
from people_oracle import ROW, as_table, random_case

SUPPRESS = (0.0, 0.1, 0.4, 0.95)


def random_history_case(seed):
    """A random table of visits, and how many of its rows may be left out."""
    case, rng = random_case(seed), random.Random(seed)
    asked = {name: value for name, value in case.asked.items() if name not in ("cut", "suppress")}
    return replace(case, asked=asked | {"protect_history": True, "suppress": rng.choice(SUPPRESS)})


def write_release(case, path):
    """The certificate of the written file."""
    with kech.read_table(case.table, **case.roles) as table:
        return kech.make_release(table, k=case.k, **case.asked).write(path, ledger=False)


def join_file(database, case, path):
    """A table `joined`: of each released row its labels, its number and whose it is in truth."""
    database.register("original", as_table(list(enumerate(map(str, case.who))), [ROW, "person"]))
    labels = ", ".join(f"'{name}', r.\"{name}\"" for name in case.roles["quasi_identifiers"])
    database.execute(
        f"""CREATE OR REPLACE TABLE joined AS SELECT to_json(json_object({labels})) AS label,
        r.person_number AS number, o.person
        FROM read_csv('{path}', all_varchar = true) r JOIN original o ON CAST(r.{ROW} AS BIGINT) = o.{ROW}"""
    )


def count_histories(database, by):
    """How many people share each multiset of labels; `by` says whose rows are one history: number or person."""
    query = f"""SELECT count(*) FROM (SELECT {by}, list_sort(list(CAST(label AS VARCHAR))) AS history
        FROM joined GROUP BY {by}) GROUP BY history"""
    return [people for (people,) in database.execute(query).fetchall()]


def judge_history(database, seed, path):
    """What is false of one table; nothing where all is well."""
    case = random_history_case(seed)
    try:
        certificate = write_release(case, path)
    except GoalNotMet:
        return [] if is_rightly_refused(case) else [f"random_history_case({seed}): refused without need"]
    except TooManyPoints:
        return [] if "max_points" in case.asked else [f"random_history_case({seed}): too many points without a limit"]
    join_file(database, case, path)
    wrong, claims = [], certificate["claims"]
    for by in ("number", "person"):
        counted = count_histories(database, by)
        if min(counted) < case.k or claims["histories"] != {"k": min(counted), "people": sum(counted)}:
            wrong.append(f"random_history_case({seed}): histories by {by} are {sorted(counted)}")
    ((rows, pairs),) = database.execute("SELECT count(*), count(DISTINCT (number, person)) FROM joined").fetchall()
    if pairs != claims["histories"]["people"] or rows != claims["rows"]:
        wrong.append(f"random_history_case({seed}): {pairs} pairs of number and person, {rows} rows")
    if case.table.num_rows - rows > case.asked["suppress"] * case.table.num_rows + 1e-9:
        wrong.append(f"random_history_case({seed}): {case.table.num_rows - rows} rows are left out")
    return wrong


def is_rightly_refused(case):
    """Too few people; goals may need more; without rows to leave out, too few people may have as many rows."""
    goals = any(name in case.asked for name in ("l", "t", "alpha"))
    return len(set(case.who)) < case.k or goals or case.asked["suppress"] < SUPPRESS[-1]
