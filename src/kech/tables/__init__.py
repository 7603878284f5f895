"""Tables: roles of columns; rows stay inside an engine."""
