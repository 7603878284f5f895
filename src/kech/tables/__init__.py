"""Tables: rows in an engine, with the roles of their columns."""
