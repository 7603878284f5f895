"""What a reader must be told: what a released file gives away beside its classes."""

import json
import random
import re
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kech
from by_hand import certify

ROLES = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "keep": ["visit", "hour"]}


def people(rows=300, seed=1):
    """60 % of the rows are unique on one kept column, nearly all on two."""
    draw = random.Random(seed)
    visits = draw.sample(range(rows * 3 // 5), rows * 3 // 5)
    visits += draw.choices(visits, k=rows - len(visits))
    return pa.table(
        {
            "age": [20 + 5 * (i // 6) % 60 for i in range(rows)],
            "disease": ["hiv" if 20 + 5 * (i // 6) % 60 < 25 else draw.choice(["flu", "cold"]) for i in range(rows)],
            "visit": [f"v{i}" for i in visits],
            "hour": [f"h{draw.randrange(rows)}" for _ in range(rows)],
        }
    )


@pytest.fixture(scope="module", params=["csv", "parquet"])
def released(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("released") / f"safe.{request.param}"
    with kech.read_table(people(), **ROLES) as table:
        release = kech.make_release(table, k=3, grid="exact")
        document = release.write(path, ledger=False)
    return path, document


def rows_of(path):
    frame = pd.read_csv(path, dtype=str) if path.suffix == ".csv" else pd.read_parquet(path)
    return list(frame.itertuples(index=False, name=None)), list(frame.columns)


def recounted(path):
    """By hand: rows that are unique, and rows of classes with one disease."""
    rows, columns = rows_of(path)
    age, disease = columns.index("age"), columns.index("disease")
    held = {}
    for row in rows:
        held.setdefault(row[age], []).append(row[disease])
    shared = {label: values for label, values in held.items() if len(set(values)) == 1}
    unique = sum(times == 1 for times in Counter(rows).values())
    return unique, len(rows), shared


def test_verify_names_columns_and_counts_rows(released, run):
    path, _ = released
    unique, rows, shared = recounted(path)
    figures = kech.verify_release(path)

    assert [figures[name] for name in ("quasi_identifiers", "sensitive", "kept")] == list(ROLES.values())
    assert (figures["unique_rows"], figures["unique_share"]) == (unique, unique / rows)
    assert shared and figures["one_value"]["disease"] == {
        "rows": sum(map(len, shared.values())),
        "classes": len(shared),
    }
    shown = " ".join(run("verify", path).out.split())
    assert "Quasi-identifiers: age" in shown and "Kept: visit, hour" in shown
    assert f"{unique:,} rows ({unique / rows:.1%}) are unique on all published columns together" in shown
    assert f"{sum(map(len, shared.values()))} rows, in 1 class, share one disease" in shown and len(shared) == 1
    assert "hiv" not in shown
    assert "some class" not in shown


def test_columns_of_your_own_are_told_of_too(released):
    path, _ = released
    figures = kech.verify_release(path, quasi_identifiers=["age"], sensitive=["disease"], k=3)
    certified = kech.verify_release(path)
    same = ("kept", "unique_rows", "one_value", "identifying", "identifying_together")
    assert {name: figures[name] for name in same} == {name: certified[name] for name in same}


def test_a_public_report_hides_values_and_a_private_one_names_them(released):
    path, _ = released
    unique, _, shared = recounted(path)
    public = kech.make_report(path)
    with kech.read_table(people(), **ROLES) as original:
        private = kech.make_report(path, original=original)
    rows = sum(map(len, shared.values()))
    counted = rf'<span class="given">{rows}</span></td><td[^>]*>{len(shared)}</td>'

    for made in (public, private):
        assert re.search(counted, made.html)
        assert f"({unique:,}) are unique on all published columns together" in made.html
        assert "In some class" not in made.html
    assert "values" not in public.figures["exposure"]["one_value"]["disease"]
    assert "hiv" not in public.html
    listed = Counter({values[0]: 0 for values in shared.values()})
    for values in shared.values():
        listed[values[0]] += len(values)
    found = private.figures["exposure"]["one_value"]["disease"]["values"]
    assert {each["value"]: each["rows"] for each in found} == listed
    assert "hiv" in private.html


SETS = {"column": "town", "axis": "set", "values": 9}


@pytest.mark.parametrize(("k", "alone", "shown"), [(5, 2, "<5"), (5, 3, "<5"), (5, 5, 5), (5, 0, 0), (2, 2, "<3")])
def test_few_unique_rows_are_not_counted_in_public(tmp_path, k, alone, shown):
    rows = [(f"t{i // k}", f"v{i}" if i < alone else "same") for i in range(3 * k)]
    path = certify(tmp_path / "t.csv", ("town", "visit"), rows, [SETS], kept=["visit"], parameters={"k": k})
    exposure = kech.make_report(path).figures["exposure"]
    assert exposure["unique_rows"] == shown
    assert exposure["unique_share"] == (None if isinstance(shown, str) else alone / 15)


@pytest.mark.parametrize(("alone", "shown"), [(0, 0), (1, "<3"), (2, "<3"), (3, 3)])
def test_few_rows_that_share_a_value_are_not_counted_in_public(tmp_path, alone, shown):
    rows = [*((f"t{i}", "hiv") for i in range(alone)), ("a", "flu"), ("a", "hiv")]
    path = certify(tmp_path / "t.csv", ("town", "disease"), rows, [SETS], sensitive=["disease"])
    found = kech.make_report(path)
    assert found.figures["exposure"]["one_value"]["disease"] == {"rows": shown, "classes": alone}
    assert "hiv" not in found.html


def test_spellings_of_one_disease_are_one_value(tmp_path):
    rows = pa.table({"age": [1] * 4, "disease": ["hiv", "HIV", "hiv ", "Hiv"]})
    with kech.read_table(rows, quasi_identifiers=["age"], sensitive=["disease"]) as table:
        kech.make_release(table, k=4).write(tmp_path / "safe.csv")
    assert kech.verify_release(tmp_path / "safe.csv")["one_value"]["disease"]["rows"] == 4


# Columns that point at rows together


def test_two_columns_that_are_unique_together_are_told_of(released, run, tmp_path):
    path, _ = released
    figures = kech.verify_release(path)
    assert (figures["identifying"], figures["identifying_together"]) == ([], [["visit", "hour"]])
    assert "unique on them together" in " ".join(run("verify", path).out.split())
    assert "together they are unique in nearly every row" in kech.make_report(path).html

    with kech.read_table(people(), **ROLES) as table:
        release = kech.make_release(table, k=3, grid="exact")
        told = release.summarize("again.csv", release.write(tmp_path / "again.csv", ledger=False))
        assert (told["identifying"], told["identifying_together"]) == ([], [["visit", "hour"]])
        assert kech.inspect_table(table).identifying_together == (("visit", "hour"),)


def test_the_terminal_warns_of_them(run, tmp_path):
    people().to_pandas().to_csv(tmp_path / "people.csv", index=False)
    words = ["--qi", "age", "--sensitive", "disease", "--keep", "visit", "hour", "--k", "3"]
    doubt = "Warning: visit, hour: published as they are, and nearly every row is unique on them together"
    shown = run("release", tmp_path / "people.csv", "-o", tmp_path / "safe.csv", *words).out
    warned = run("inspect", tmp_path / "people.csv", *words[:-2]).out
    assert all(doubt in " ".join(said.split()) for said in (shown, warned))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_three_columns_may_be_needed(tmp_path, suffix):
    rows = {
        "age": [1] * 216,
        **{name: [str(i // step % 6) for i in range(216)] for name, step in (("a", 1), ("b", 6), ("c", 36))},
    }
    rows["d"] = [None] * 216
    with kech.read_table(pa.table(rows), quasi_identifiers=["age"], keep=["a", "b", "c", "d"]) as table:
        release = kech.make_release(table, k=2)
        document = release.write(tmp_path / f"safe.{suffix}", ledger=False)
        told = release.summarize(tmp_path / f"safe.{suffix}", document)
    verified = kech.verify_release(tmp_path / f"safe.{suffix}")
    assert told["identifying_together"] == verified["identifying_together"] == [["a", "b", "c", "d"]]


DIGITS = {"a": lambda i: i % 6, "b": lambda i: i // 6}


def test_rows_without_values_do_not_count(tmp_path):
    columns = {name: [None] * 60 + [str(turn(i)) for i in range(30)] for name, turn in DIGITS.items()}
    rows = pa.table({"age": [1] * 90, **columns})
    with kech.read_table(rows, quasi_identifiers=["age"], keep=["a", "b"]) as table:
        release = kech.make_release(table, k=2)
        document = release.write(tmp_path / "safe.csv", ledger=False)
        assert release.summarize(tmp_path / "safe.csv", document)["identifying_together"] == [["a", "b"]]
    assert kech.verify_release(tmp_path / "safe.csv")["identifying_together"] == [["a", "b"]]


@pytest.mark.parametrize(
    ("cells", "orders"),
    [
        (["1", "1.0", "1", "+1"], None),
        (["2020-01-01", "2020-01-01T00:00", "2020-01-01 00:00:00", "2020-01-01"], None),
        (["HIV", "hiv", "HIV ", "hiv."], None),
        (["low", "low", "low", "low"], {"dose": ["low", "high"]}),
    ],
)
def test_one_value_is_what_l_counts(cells, orders, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["town,dose", *(f"a,{cell}" for cell in cells)]) + "\n", "utf-8")
    found = kech.verify_release(path, quasi_identifiers=["town"], sensitive=["dose"], axes=orders)

    assert found["l"] == {"dose": 1}
    assert found["one_value"]["dose"] == {"rows": 4, "classes": 1}


@pytest.mark.parametrize(("kind", "shared"), [("number", 1), ("text", 0)])
def test_the_attack_reads_values_as_the_certificate_does(tmp_path, kind, shared):
    rows = [("a", cell) for cell in ("1", "1.0", "1")]
    how = {"sensitive": ["dose"], "values": {"dose": {"kind": kind}}}
    path = certify(tmp_path / "t.csv", ("town", "dose"), rows, [SETS], **how)
    people = pa.table({"town": ["a"] * 3, "dose": ["1", "1.0", "1"]})
    with kech.read_table(people, quasi_identifiers=["town"], sensitive=["dose"]) as table:
        (found,) = kech.run_attacks(path, table, attacks=["homogeneity"])
    assert found.note == f"{shared} of 1 classes hold one value"
    assert (found.targets, found.hits) == (3, 3 * shared)


def many_columns(rows=240):
    """Twelve columns of few values, then two that are unique together; one that is mostly empty text."""
    few = {f"few{i}": [str(row % (i + 2)) for row in range(rows)] for i in range(12)}
    late = {"tens": [f"t{row // 16}" for row in range(rows)], "ones": [f"o{row % 16}" for row in range(rows)]}
    sparse = {"sparse": ["" if row % 4 else f"s{row}" for row in range(rows)]}
    return pa.table({"age": [1] * rows, **few, **late, **sparse})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_release_and_verify_look_at_the_same_pairs(tmp_path, suffix):
    rows = many_columns()
    kept = rows.column_names[1:]
    with kech.read_table(rows, quasi_identifiers=["age"], keep=kept) as table:
        release = kech.make_release(table, k=2)
        told = release.summarize(tmp_path / f"safe.{suffix}", release.write(tmp_path / f"safe.{suffix}", ledger=False))
        found = kech.inspect_table(table).identifying_together
    verified = kech.verify_release(tmp_path / f"safe.{suffix}")

    assert told["identifying"] == verified["identifying"] == ["sparse"]
    assert told["identifying_together"] == verified["identifying_together"]
    assert ["tens", "ones"] in told["identifying_together"]
    assert list(map(list, found)) == told["identifying_together"]


def test_a_value_that_is_given_away_is_said_with_its_share_its_remedy_and_its_price(run, folder, monkeypatch):
    """Rows of a file are counted here by pandas, and the remedy is tried."""
    path, safe, better = (folder / f"{name}.csv" for name in ("people", "safe", "better"))
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(20, 90, 200), "sex": rng.choice(["f", "m"], 200), "stroke": rng.random(200) < 0.06}
    pd.DataFrame(columns).assign(stroke=lambda rows: rows["stroke"].astype(int)).to_csv(path, index=False)
    words = (path, "--qi", "age", "sex", "--sensitive", "stroke", "--k", 4, "--effort", "quick", "--no-ledger")
    found = run("release", *words, "-o", safe, "--json").json
    alike = pd.read_csv(safe).groupby(["age", "sex"])["stroke"].transform("nunique") == 1
    assert 0 < found["given_away"]["stroke"] == alike.mean() < 1
    said = f"{100 * alike.mean():.3g}\u00a0% of the published rows have their stroke value given away"
    shown = run("release", *words, "-o", safe).out
    assert said in shown and f"--l 2 mends it: the loss becomes about {found['loss_with_l_2']:.4f} or less" in shown
    assert said in run("preview", *words[:-1]).out
    assert said in run("verify", safe).out and "a missing value counts as one" in shown
    page = kech.make_report(safe).html
    stated = json.loads(safe.with_name("safe.csv.certificate.json").read_text("utf-8"))["loss_with_l_2"]
    assert found["loss_with_l_2"] <= stated < found["loss_with_l_2"] + 0.001 + 1e-9
    price = f"the loss becomes about {stated:.3f} or less with that, instead of {found['loss']:.3f}"
    assert said in page and price in page
    mended = run("release", *words, "-o", better, "--l", 2, "--json").json
    assert not mended["given_away"] and found["loss"] < mended["loss"] <= found["loss_with_l_2"] + 1e-12
    assert "given away" not in run("verify", better).out
    assert "Protected by l, and published as they are" in kech.make_report(better).html
    monkeypatch.setattr("kech.release.sharing.price_diversity", lambda *_: found["loss"] - 0.0003)
    assert "--l 2 mends it, at about the same loss." in run("release", *words, "-o", safe).out


def with_outliers(count):
    """Classes of 60 equal rows, some of which give their value away, and outliers, whose values no other row has."""
    draw, rows = random.Random(5), []
    for group in range(20):
        place = (f"A{group % 8}", f"B{group // 8}", f"C{group * 3 % 8}")
        rows += [(*place, "p" if group < 6 else draw.choice("pqrs")) for _ in range(60)]
    rows += [(f"X{i}", f"Y{i}", f"Z{i}", "q") for i in range(count)]
    return pa.table(dict(zip("abcd", map(list, zip(*rows, strict=True)), strict=True)))


def test_a_certificate_does_not_tell_how_many_rows_fewer_than_k_were_left_out(tmp_path):
    """It is as if another number of rows were left out, but for the digest of the shuffled file."""
    documents = []
    for count in (1, 3, 8):
        with kech.read_table(with_outliers(count), quasi_identifiers=list("abc"), sensitive=["d"]) as table:
            release = kech.make_release(table, k=20, suppress=0.05, effort="quick")
            kech.publish_release(release, tmp_path / f"{count}", "safe.csv", ledger=False)
        assert release.partition.suppressed == count
        document = json.loads((tmp_path / f"{count}" / "safe.csv.certificate.json").read_text("utf-8"))
        del document["file"]["sha256"]
        documents.append(document)
    assert documents[0]["loss_with_l_2"] > documents[0]["claims"]["loss"]
    assert documents[0]["claims"]["suppressed"] == "<20"
    assert all(document == documents[0] for document in documents)


def test_a_certificate_states_what_two_values_cost_where_that_is_asked_for(tmp_path):
    with kech.read_table(with_outliers(0), quasi_identifiers=list("abc"), sensitive=["d"]) as table:
        release = kech.make_release(table, k=20, effort="quick")
        assert "loss_with_l_2" not in release.write(tmp_path / "bare.csv", ledger=False)
        release = release.with_price()
        written = release.write(tmp_path / "safe.csv", ledger=False)
        told = release.summarize(tmp_path / "safe.csv", written)["loss_with_l_2"]
        kech.publish_release(release, tmp_path / "folder", "safe.csv", ledger=False)
        mended = kech.make_release(table, k=20, l=2, effort="quick").public_loss
    published = json.loads((tmp_path / "folder" / "safe.csv.certificate.json").read_text("utf-8"))
    assert told <= written["loss_with_l_2"] == published["loss_with_l_2"] < told + 0.001 + 1e-9
    assert written["claims"]["loss"] < mended <= told + 1e-12
