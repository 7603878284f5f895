"""Text: what all databases write alike."""

BLANK = "\t\n\v\f\r\x1c-\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # white space of all scripts
GUARDED = f"^(''+[{BLANK}]*[=+@\t\r-])"  # as a constant of SQL: what a reader of CSV takes one apostrophe from
LOGS = ("_delta_log", ".hoodie")  # of folders whose files need not be part of the table
LOGGED = "it is a table of Delta or Hudi, whose folder holds files that are no longer part of it. Export it first."
MARK = "released by kech"  # comment of the tables we may replace


def quote(name: str) -> str:
    """An identifier, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def guarded(text: str) -> str:
    """Text for a CSV file whose reader takes an apostrophe away in front of formulas: one more where it would."""
    return rf"regexp_replace({text}, '{GUARDED}', '''\1')"
