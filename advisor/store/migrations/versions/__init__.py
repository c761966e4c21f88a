"""One file per change of the schema, oldest first."""
