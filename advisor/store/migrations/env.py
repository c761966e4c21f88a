"""What Alembic runs before the migrations: they share the caller's connection and transaction."""

from alembic import context

from advisor.store.schema import metadata


def run() -> None:
    """Run the migrations inside the transaction that the store has begun."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
    )
    context.run_migrations()


# Alembic loads this file under this name; any other import (documentation tests, a type
# checker) has no Alembic context.
if __name__ == "env_py":
    run()
