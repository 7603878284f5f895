"""Series oracle: random histories of a table, released version by version, and judged from the files and originals.

It knows nothing of kech: it writes CSV files, hands each to a function that releases it, and reads what was published.
Every row keeps a number of its own in a kept column, so that it is found again; no attacker is taken to see it.
"""

import csv
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise

ROW, KEY, PERSON, SECRET = "row_number", "visit", "patient", "finding"
LABELS = ("age", "town")
FINDINGS = ("flu", "cold", "burn", "cut", "")
MOST_VERSIONS = 6


@dataclass(frozen=True)
class Visit:
    """One row of the original; its key and number stay, its cells may be corrected."""

    number: int
    patient: str
    age: str
    town: str
    finding: str


@dataclass
class History:
    """Versions of a table, and what is asked of its releases."""

    seed: int
    versions: list  # each a list of Visits
    k: int
    has_key: bool  # then rows have a key and a number; otherwise only whole rows tell them apart
    names_people: bool
    l: int | None = None  # noqa: E741
    wait: float = 0.0
    departures: str = "hold"
    corrections: str = "keep"
    gather: int = 0  # new rows wait until there are so many

    @property
    def columns(self):
        return [KEY] * self.has_key + [PERSON] * self.names_people + [*LABELS, SECRET] + [ROW] * self.has_key

    @cached_property
    def owners(self):
        """Whom a row belongs to: its person; itself where every row is another person."""
        visits = [visit for version in self.versions for visit in version]
        return {visit.number: visit.patient if self.names_people else visit.number for visit in visits}

    @property
    def only_grows(self):
        return all(set(before) <= set(after) for before, after in zip(self.versions, self.versions[1:], strict=False))


# -- histories -------------------------------------------------------------------------------------------------


def random_history(seed, key_share=0.85):
    """Up to six versions: arrivals, departures, corrections, returns, twins, several rows of a person, NULLs.

    Without a key nothing can be withdrawn.
    """
    rng = random.Random(seed)
    has_key = rng.random() < key_share
    source = VisitSource(rng, people=rng.choice([6, 15, 40]), gaps=rng.choice([0, 0, 0.1]))
    present = [source.draw() for _ in range(rng.randint(4, 40))]
    versions, gone, busy = [list(present)], [], rng.choice([0, 0.05, 0.2])
    for _ in range(rng.randint(1, MOST_VERSIONS - 1)):
        leaving = {visit.number for visit in present if rng.random() < busy}
        back = [visit for visit in gone if rng.random() < 0.3]
        gone = [visit for visit in gone if visit not in back]
        gone += [visit for visit in present if visit.number in leaving]
        stay = [visit for visit in present if visit.number not in leaving]
        present = [source.correct(visit) if rng.random() < busy / 2 else visit for visit in (*stay, *back)]
        present += [source.draw() for _ in range(rng.choice([0, 0, 1, 2, 5, 12]))]
        rng.shuffle(present)
        versions.append(list(present))
    history = History(
        seed,
        versions,
        rng.choice([2, 3, 4]),
        has_key,
        has_key and rng.random() < 0.4,
        rng.choice([None, None, 2]),
        rng.choice([0, 0, 0.1, 0.4]),
        rng.choice(["hold", "withdraw"]),
        rng.choice(["keep", "withdraw"]),
        rng.choice([0, 0, 4, 10]),
    )
    return history if has_key else replace(history, departures="hold", corrections="keep")


@dataclass
class VisitSource:
    """New rows and corrected ones; now and then one equals an earlier one."""

    rng: random.Random
    people: int
    gaps: float
    made: list = field(default_factory=list)

    def draw(self):
        number, patient = len(self.made), f"p{self.rng.randrange(self.people)}"
        cells = self.draw_cells()
        if self.made and self.rng.random() < 0.2:
            twin = self.rng.choice(self.made)
            cells = (twin.age, twin.town, twin.finding)
        self.made.append(Visit(number, patient, *cells))
        return self.made[-1]

    def draw_cells(self):
        age, town = str(self.rng.randint(20, 60)), self.rng.choice("abcd")
        age, town = ("" if self.rng.random() < self.gaps else cell for cell in (age, town))
        return age, town, self.rng.choice(FINDINGS)

    def correct(self, visit):
        age, town, finding = self.draw_cells()
        change = self.rng.choice([{"age": age}, {"town": town}, {"finding": finding}, {"age": age, "town": town}])
        return replace(visit, **change)


def write_version(history, number, path):
    """A version as CSV."""
    cells = {
        KEY: lambda visit: f"v{visit.number}",
        PERSON: lambda visit: visit.patient,
        "age": lambda visit: visit.age,
        "town": lambda visit: visit.town,
        SECRET: lambda visit: visit.finding,
        ROW: lambda visit: visit.number,
    }
    rows = [[cells[name](visit) for name in history.columns] for visit in history.versions[number]]
    write_rows(path, history.columns, rows)


def write_rows(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


# -- judging ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """One published row: what everybody sees, and its number, which only the oracle looks at."""

    label: tuple
    finding: str
    number: int | None


def read_release(path):
    """The rows of a published file; None where nothing was published."""
    if not path.exists():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Published(tuple(row[name] for name in LABELS), row[SECRET], int(row[ROW]) if ROW in row else None)
            for row in csv.DictReader(file)
        ]


def judge_histories(seeds, folder, release_version):
    """What is false of these histories, by their seeds; nothing where all is well.

    `release_version(history, place, source, target)` releases one version; `place` is a folder of the history's own.
    It writes nothing where a version cannot be published.
    """
    wrong = []
    for seed in seeds:
        history = random_history(seed)
        try:
            faults = judge_history(history, release_history(history, folder / str(seed), release_version))
        except Exception as failure:  # whatever is raised is a fault
            faults = [f"{type(failure).__name__}: {failure}"]
        wrong += [f"random_history({seed}): {fault}" for fault in faults]
    return wrong


def release_history(history, place, release_version):
    """Release every version; the rows of each file."""
    place.mkdir()
    files = []
    for number in range(len(history.versions)):
        source, target = place / f"{number}.csv", place / f"{number}_safe.csv"
        write_version(history, number, source)
        release_version(history, place, source, target)
        files.append(read_release(target))
    return files


def judge_history(history, files):
    """Faults of the releases of one history."""
    shown = [file for file in files if file is not None]
    faults = [*find_small_classes(history, shown), *find_differences(history, shown)]
    if history.has_key:
        faults += [*find_false_rows(history, files), *find_lost_rows(history, files), *find_stale_rows(history, files)]
        faults += [
            *find_early_rows(history, files),
            *find_second_cohorts(shown),
            *find_small_atoms(history, shown),
            *find_pinned(shown),
        ]
    return faults


def find_small_classes(history, files):
    """Classes of one file below k, or with fewer values than l."""
    for version, file in enumerate(files):
        for label, rows in group(file).items():
            size = count_owners(history, [row.number for row in rows]) if history.has_key else len(rows)
            if size < history.k:
                yield f"file {version} has a class {label} of {size}"
            if history.l and len({row.finding for row in rows}) < history.l:
                yield f"file {version} has a class {label} of one value"


def find_false_rows(history, files):
    """Rows that nobody has, and labels or cells that the row never had up to then."""
    known = defaultdict(set)
    for version, file in enumerate(files):
        for visit in history.versions[version]:
            known[visit.number].add(visit)
        for row in file or ():
            if not any(is_true(row, visit) for visit in known[row.number]):
                yield f"file {version} publishes {row}, which was never so"


def is_true(row, visit):
    covered = all(covers(label, cell) for label, cell in zip(row.label, (visit.age, visit.town), strict=True))
    return covered and row.finding == visit.finding


def covers(label, cell):
    """Whether a label could be that of a cell: `*`, the cell, a set or an interval that it is in."""
    if label in ("*", cell):
        return True
    if label.startswith("{"):
        return cell in label.strip("{}").split(", ") or "rare value" in label
    span = read_ends(label)
    return bool(span and cell) and span[0] <= float(cell) <= span[1]


def find_stale_rows(history, files):
    """Rows that left and should be withdrawn, cohorts all of whose rows left, and corrected rows to be withdrawn."""
    atoms = find_atoms([file or () for file in files])
    for version, file in enumerate(files):
        now = {visit.number: visit for visit in history.versions[version]}
        shown = {row.number: row for row in file or ()}
        gone = shown.keys() - now.keys()
        if history.departures == "withdraw" and gone:
            yield f"file {version} still has rows {sorted(gone)}, which left"
        for numbers in atoms.values():
            if numbers <= gone:
                yield f"file {version} still has rows {sorted(numbers)}, which left together"
        if history.corrections == "withdraw":
            changed = [number for number in shown.keys() & now.keys() if not is_true(shown[number], now[number])]
            if changed:
                yield f"file {version} still has rows {sorted(changed)}, which were corrected"


def find_lost_rows(history, files):
    """Where nothing may wait and there are no goals, k new people or more are published, and as many rows as gather."""
    ever = set()
    for version, file in enumerate(files):
        gather = history.gather if ever else 0
        ever |= {row.number for row in file or ()}
        new = [visit.number for visit in history.versions[version] if visit.number not in ever]
        waiting = count_owners(history, new)
        if not history.wait and not history.l and waiting >= history.k and len(new) >= gather:
            yield f"file {version} leaves {waiting} new ones out"


def find_early_rows(history, files):
    """New rows of a later file that were published before so many had gathered."""
    ever = set()
    for version, file in enumerate(files):
        new = {row.number for row in file or ()} - ever
        if ever and not history.wait and 0 < len(new) < history.gather:
            yield f"file {version} publishes {len(new)} new rows, and {history.gather} should gather"
        ever |= new


def find_second_cohorts(files):
    """Keys with two rows in one file, or with other cells in another."""
    seen = defaultdict(set)
    for version, file in enumerate(files):
        for number, times in Counter(row.number for row in file).items():
            if times > 1:
                yield f"file {version} has row {number} {times} times"
        for row in file:
            seen[row.number].add((row.label, row.finding))
    for number, held in seen.items():
        if len(held) > 1:
            yield f"row {number} is published as {sorted(held)}"


def find_small_atoms(history, files):
    """Rows that everything observed in all files together tells apart: fewer than k stay together."""
    for seen, numbers in find_atoms(files).items():
        if (size := count_owners(history, numbers)) < history.k:
            yield f"only {size} are seen as {seen}: rows {sorted(numbers)}"
        values = {row.finding for file in files for row in file if row.number in numbers}
        if history.l and len(values) < history.l:
            yield f"those seen as {seen} have one value: rows {sorted(numbers)}"


def find_atoms(files):
    """Rows by the labels they have in every file."""
    seen = defaultdict(lambda: [()] * len(files))
    for version, file in enumerate(files):
        for row in file:
            seen[row.number][version] = (*seen[row.number][version], row.label)
    atoms = defaultdict(set)
    for number, labels in seen.items():
        atoms[tuple(tuple(sorted(each)) for each in labels)].add(number)
    return atoms


def find_pinned(files):
    """Rows in several classes that share one value only, the right one, though none of them has just that one."""
    classes = [{label: {row.finding for row in rows} for label, rows in group(file).items()} for file in files]
    held = defaultdict(list)
    for version, file in enumerate(files):
        for row in file:
            held[row.number].append((row, classes[version][row.label]))
    for number, seen in held.items():
        left = set.intersection(*(values for _, values in seen))
        several = len({row.label for row, _ in seen}) > 1 and all(len(values) > 1 for _, values in seen)
        if several and len(left) == 1 and left <= {row.finding for row, _ in seen}:
            yield f"all classes of row {number} share {left} only, which is right"


# -- names of people -------------------------------------------------------------------------------------------


def judge_names(seeds, folder, release_version):
    """Rows seen together that are too few people's, where a version names some people otherwise than the one before."""
    wrong = []
    for seed in seeds:
        history = rename_people(replace(random_history(seed, key_share=1), names_people=True))
        files = release_history(history, folder / str(seed), release_version)
        wrong += [f"rename_people(random_history({seed})): {fault}" for fault in find_few_people(history, files)]
    return wrong


def rename_people(history, share=0.3):
    """The same history, where each version but the first names some rows by others, new or known, for itself alone."""
    rng = random.Random(history.seed)
    versions = [
        [replace(row, patient=rename(rng, row, rows)) if rng.random() < share else row for row in rows]
        for rows in history.versions[1:]
    ]
    return replace(history, versions=[history.versions[0], *versions])


def rename(rng, row, rows):
    """Another name for the person of a row."""
    return rng.choice([f"new{row.number}", rng.choice(rows).patient])


def find_few_people(history, files):
    """Rows seen together in all files that fewer than k people have, by the last name of each up to then."""
    atoms, named = find_atoms([file or () for file in files]), {}
    for version, file in enumerate(files):
        named |= {visit.number: visit.patient for visit in history.versions[version]}
        shown = {row.number for row in file or ()}
        for numbers in atoms.values():
            people = {named[number] for number in numbers & shown}
            if 0 < len(people) < history.k:
                yield f"file {version} has rows {sorted(numbers)}, which are of {len(people)}"


# -- two worlds ------------------------------------------------------------------------------------------------


def judge_worlds(seeds, folder, release_version):
    """Histories without a key that tell of a swap of findings inside a cohort; and how many swaps were judged."""
    wrong, judged = [], 0
    for seed in seeds:
        history = replace(random_history(seed, key_share=0), l=None, wait=0)
        files = release_history(history, folder / str(seed), release_version)
        for number, other in enumerate(swap_worlds(history, files[0])):
            judged += 1
            seen = release_history(other, folder / f"{seed}_{number}", release_version)
            told = [version for version, pair in enumerate(zip(files, seen, strict=True)) if differ(*pair)]
            wrong += [f"random_history({seed}): swap {number} shows in files {told}"] if told else []
    return wrong, judged


def differ(one, other):
    """Whether two files hold other rows; their order is random."""
    return Counter(one or ()) != Counter(other or ()) or (one is None) != (other is None)


def swap_worlds(history, first, most=2):
    """The same history with the findings of two rows of one cohort swapped, in every version."""
    if first is None or len(first) != len(history.versions[0]):
        return
    rng, cohorts = random.Random(history.seed), defaultdict(list)
    for visit in history.versions[0]:
        labels = [label for label in group(first) if all(map(covers, label, (visit.age, visit.town)))]
        if len(labels) == 1 and keeps_place(history, visit) and is_clear(history, visit):
            cohorts[labels[0]].append(visit)
    pairs = [pair for rows in cohorts.values() for pair in combinations(rows, 2) if pair[0].finding != pair[1].finding]
    for one, other in rng.sample(pairs, min(most, len(pairs))):
        yield replace(history, versions=[swap_findings(rows, one, other) for rows in history.versions])


def swap_findings(rows, one, other):
    """The rows of a version, where each of these two has the finding that the other was published with."""
    turned = {(one.number, one.finding): other.finding, (other.number, other.finding): one.finding}
    return [replace(row, finding=turned.get((row.number, row.finding), row.finding)) for row in rows]


def keeps_place(history, visit):
    """Whether age and town of a row stay as they are: otherwise it comes again as another row."""
    return all((row.age, row.town) == (visit.age, visit.town) for row in find_row(history, visit.number))


def find_row(history, number):
    """One row in all versions."""
    return [row for rows in history.versions for row in rows if row.number == number]


def is_clear(history, visit):
    """Whether there never are more rows like this one than were first published, once one of them left or changed."""
    alike = [[row for row in rows if (row.age, row.town) == (visit.age, visit.town)] for rows in history.versions]
    steps = pairwise(alike)
    lost = [not set(before) <= set(after) for before, after in steps]
    return all(len(after) <= len(alike[0]) for number, after in enumerate(alike) if any(lost[:number]))


# -- the three differencing attacks ----------------------------------------------------------------------------


def find_differences(history, files):
    """Attacks that succeed: a class is widened for a newcomer, grows by one newcomer, or shrinks by one who left."""
    for first, second in combinations(range(len(files)), 2):
        for kind, label, other in attack_pair(files[first], files[second], history.k):
            if is_hit(history, files[first], files[second], label, other):
                yield f"files {first} and {second}: class {label} {kind} by fewer than {history.k}"


def attack_pair(before, after, k):
    """What an attacker suspects from the multisets of two files alone."""
    old, new = (
        {label: Counter(row.finding for row in rows) for label, rows in group(file).items()} for file in (before, after)
    )
    for label in old.keys() & new.keys():
        grown, shrunk = (new[label] - old[label]).total(), (old[label] - new[label]).total()
        if 0 < grown < k:
            yield "grows", label, label
        if 0 < shrunk < k:
            yield "shrinks", label, label
    for label in old.keys() - new.keys():
        for other in new.keys() - old.keys():
            if contains(other, label) and old[label] < new[other] and new[other].total() - old[label].total() < k:
                yield "is widened", label, other


def contains(wide, narrow):
    """Whether a label could be another one that was widened, as far as intervals and texts tell."""
    return all(
        one in ("*", other) or one.startswith("{") or holds(one, other) for one, other in zip(wide, narrow, strict=True)
    )


def holds(wide, narrow):
    outer, inner = (read_ends(label) for label in (wide, narrow))
    return bool(outer and inner) and outer[0] <= inner[0] and inner[1] <= outer[1]


def read_ends(label):
    """Both ends of an interval, a tail or a number; None for what is neither."""
    words = label.strip("[]()").replace(", ", " ").split(" ")
    low, high = {"<": ("-inf", words[-1]), "<=": ("-inf", words[-1]), ">=": (words[-1], "inf")}.get(
        words[0], (words[0], words[-1])
    )
    try:
        return float(low), float(high)
    except ValueError:
        return None


def is_hit(history, before, after, label, other):
    """Whether the suspicion is right: fewer than k really came or went.

    Without numbers only a table that just grows tells: nothing may leave a class, and k rows or more come at once.
    """
    if not history.has_key:
        return history.only_grows
    old = {row.number for row in before if row.label == label}
    new = {row.number for row in after if row.label == other}
    return any(0 < count_owners(history, change) < history.k for change in (old - new, new - old))


def group(file):
    """Rows with equal labels."""
    classes = defaultdict(list)
    for row in file:
        classes[row.label].append(row)
    return classes


def count_owners(history, numbers):
    """People of these rows, or rows where every row is another person."""
    return len({history.owners[number] for number in numbers})


# -- makers that share nothing with kech -----------------------------------------------------------------------


def release_by_mondrian(history, place, source, target):
    """Each version anew: halves along the column with the most values, while both hold k (LeFevre 2006)."""
    visits = list(read_version(history, source))
    if count_owners(history, [visit.number for visit in visits]) >= history.k:
        publish(history, target, [(label_of(part), part) for part in split(history, visits)])


def split(history, visits):
    """Parts that hold k people each, or k rows."""
    for column in sorted(LABELS, key=lambda name: -len({getattr(visit, name) for visit in visits})):
        ranked = sorted(visits, key=lambda visit: getattr(visit, column))
        middle = getattr(ranked[len(ranked) // 2], column)
        low = [visit for visit in ranked if getattr(visit, column) < middle]
        high = [visit for visit in ranked if getattr(visit, column) >= middle]
        if all(count_owners(history, [visit.number for visit in part]) >= history.k for part in (low, high)):
            return [*split(history, low), *split(history, high)]
    return [visits]


def label_of(visits):
    """What is printed of a class."""
    ages = [int(visit.age) for visit in visits if visit.age]
    age = f"[{min(ages)}, {max(ages)}]" if len(ages) == len(visits) else "*"
    towns = sorted({visit.town for visit in visits})
    return age, towns[0] if len(towns) == 1 else f"{{{', '.join(towns)}}}"


@dataclass
class PlainSeries:
    """A series in plain Python: cohorts that enter and leave as a whole.

    Corrected rows stay as first published; or, wrongly, they are taken for rows that left and came.
    """

    come_again: bool = False
    cohorts: dict = field(default_factory=dict)  # of each history: a list of (label, visits as published)

    def release_version(self, history, place, source, target):
        cohorts = self.cohorts.setdefault(history.seed, [])
        visits = {visit.number: visit for visit in read_version(history, source)}
        known = {visit.number: visit for _, cohort in cohorts for visit in cohort}
        new = [visit for visit in visits.values() if self.is_new(visit, known)]
        cohorts += [(label_of(part), part) for part in cut(history, new)]
        there = [(label, part) for label, part in cohorts if any(visit.number in visits for visit in part)]
        if there:
            publish(history, target, there)

    def is_new(self, visit, known):
        return visit.number not in known or (self.come_again and known[visit.number] != visit)


def cut(history, visits):
    """Neighbours by age, as many as hold k."""
    parts, part = [], []
    for visit in sorted(visits, key=lambda visit: (visit.age, visit.town)):
        part.append(visit)
        if count_owners(history, [each.number for each in part]) >= history.k:
            parts.append(part)
            part = []
    if parts:
        parts[-1] += part
    return parts


def read_version(history, source):
    with source.open(newline="", encoding="utf-8") as file:
        for place, row in enumerate(csv.DictReader(file)):
            number = int(row.get(ROW, place))
            yield Visit(number, row.get(PERSON, str(number)), row["age"], row["town"], row[SECRET])


def publish(history, target, classes):
    header = [*LABELS, SECRET] + [ROW] * history.has_key
    rows = [[*label, visit.finding] + [visit.number] * history.has_key for label, visits in classes for visit in visits]
    write_rows(target, header, rows)
