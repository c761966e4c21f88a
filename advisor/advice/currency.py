"""Money in the user's currency: by the user's own rate and its day, never by an assumed one."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.core.errors import InvalidInputError
from advisor.core.units import NBSP, number

if TYPE_CHECKING:
    from advisor.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Currency:
    r"""A currency, what one unit of it is worth [USD], and the day of that rate.

    >>> euro = Currency("EUR", 1.25, dt.date(2026, 7, 1))
    >>> euro.usd(100), euro.words(100.0), euro.rate_words
    (125.0, 'EUR\xa080.0', '1 EUR = USD 1.25, 2026-07-01')
    """

    code: str
    usd_per_unit: float
    as_of: dt.date

    def usd(self, amount: float) -> float:
        """Return an amount of this currency in USD."""
        return amount * self.usd_per_unit

    def words(self, usd: float) -> str:
        """Return an amount of USD in this currency."""
        return f"{self.code}{NBSP}{number(usd / self.usd_per_unit)}"

    @property
    def rate_words(self) -> str:
        """The rate and its day."""
        return f"1 {self.code} = USD {self.usd_per_unit:g}, {self.as_of}"


def currency_named(code: str, catalog: Catalog) -> Currency | None:
    """Return a currency of the user's list of rates; None for USD or nothing.

    Raises
    ------
    InvalidInputError
        If the list has no rate of it.
    """
    folded = code.strip().upper()
    if folded in ("", "USD"):
        return None
    rate = catalog.rates.get(folded)
    if rate is None:
        known = ", ".join(catalog.rates) or "none"
        raise InvalidInputError(
            f"there is no rate of “{code.strip():.12}” (rates: {known}).",
            where="currency",
            todo="Enter it, with its day, on the page Catalog under Currencies, or with: "
            "python -m advisor prices import rates.csv",
        )
    return Currency(folded, *rate)


def budget_in_usd(
    budget: float | None, budget_usd: float | None, currency: Currency | None
) -> float | None:
    """Return the budget in USD of one that is given in a currency or in USD.

    Raises
    ------
    InvalidInputError
        If both are given.
    """
    if budget is None:
        return budget_usd
    if budget_usd is not None:
        raise InvalidInputError(
            "the budget is given twice.", where="budget", todo="Give it in one currency."
        )
    return budget if currency is None else currency.usd(budget)
