"""The limits that few jobs need, as they stand in an address: place, machines, price."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from advisor import catalog as catalogs
from advisor.advice.quota_text import ReadQuotas, read_quotas
from advisor.catalog.places import countries_named
from advisor.search.data_set import DataSet

if TYPE_CHECKING:
    from collections.abc import Mapping

USUAL_MARGIN: Final = 10
MOST_MARGIN: Final = 90
# Fields and the keys of their widgets, which are the names in the address.
KEYS: Final = {
    "residency": "residency", "data_gb": "data_gb", "data_at": "data_at",
    "memory_gb": "memory", "margin_percent": "margin", "confidential": "confidential",
    "ceiling_usd": "ceiling", "rate_usd": "rate", "currency": "currency",
    "carbon_kg": "carbon", "quota": "quota",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreLimits:
    """Limits beside those of the sidebar; the defaults limit nothing."""

    residency: tuple[str, ...] = ()
    data_gb: float | None = None
    data_at: str = ""
    memory_gb: float | None = None
    margin_percent: int = USUAL_MARGIN
    confidential: bool = False
    ceiling_usd: float | None = None
    rate_usd: float | None = None
    currency: str = ""
    carbon_kg: float | None = None
    quota: str = ""

    @classmethod
    def of(cls, values: Mapping[str, object]) -> MoreLimits:
        """Read widgets or an address; what cannot be used keeps its default."""
        margin = _number(values, "margin")
        given = values.get("residency")
        return cls(
            residency=tuple(str(one) for one in given) if isinstance(given, list | tuple) else (),
            data_gb=_number(values, "data_gb") or None,
            data_at=str(values.get("data_at") or ""),
            memory_gb=_number(values, "memory") or None,
            margin_percent=USUAL_MARGIN if margin is None else round(min(margin, MOST_MARGIN)),
            confidential=str(values.get("confidential")).casefold() in ("true", "1"),
            ceiling_usd=_number(values, "ceiling") or None,
            rate_usd=_number(values, "rate") or None,
            currency=str(values.get("currency") or ""),
            carbon_kg=_number(values, "carbon") or None,
            quota=str(values.get("quota") or ""),
        )

    def widget_values(self) -> dict[str, object]:
        """Return the values of the widgets, by key."""
        values = {key: getattr(self, name) for name, key in KEYS.items()}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}

    @property
    def given(self) -> int:
        """How many of them differ from their default."""
        usual = MoreLimits()
        return sum(getattr(self, name) != getattr(usual, name) for name in KEYS)

    def constraints(self) -> dict[str, Any]:
        """Return those that filter plans, as fields of `Constraints`.

        Raises
        ------
        InvalidInputError
            If a country is unknown or the quotas cannot be read.
        """
        limits: dict[str, Any] = {
            "confidential": self.confidential,
            "least_memory_gb": self.memory_gb,
            "spot_usd_per_accelerator_h": self.ceiling_usd,
            "most_usd_per_h": self.rate_usd,
            "most_carbon_kg": self.carbon_kg,
        }
        if self.residency:
            limits["countries"] = countries_named(self.residency, catalogs.load())
        if self.quota.strip():
            limits["quotas"] = self.quotas().quotas
        return limits

    def quotas(self) -> ReadQuotas:
        """Return the quotas of the text; raises as `constraints`."""
        return read_quotas(self.quota, catalogs.load())

    def options(self) -> dict[str, Any]:
        """Return those that change the search, as fields of `SearchOptions`.

        Raises
        ------
        InvalidInputError
            If the place of the data set is none that the catalog knows.
        """
        data = None
        if self.data_gb or self.data_at.strip():
            data = DataSet.stated(catalogs.load(), gb=self.data_gb, at=self.data_at.strip())
        return {"memory_margin": self.margin_percent / 100, "data": data}


def _number(values: Mapping[str, object], name: str) -> float | None:
    try:
        value = float(str(values[name]))
    except (KeyError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None
