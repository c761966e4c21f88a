"""Alembic's environment and one file per change of the schema, run when a store is opened."""
