"""The catalog: machines, prices, links, interruption and start-up, ready to be asked."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, get_args

from pandas import NaT

from advisor.catalog.names import spelled
from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain.hardware import Accelerator, InstanceType, Market, Offer
from advisor.domain.workload import Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from advisor.catalog.tables import CatalogTables

PRECISIONS: Final[tuple[Precision, ...]] = get_args(Precision)
DEFAULT_STORAGE: Final = {"aws": "ebs:gp3", "gcp": "gcs:standard"}
FEW_STARTS: Final = 3  # fewer measured starts of one kind say less than all of its cloud


@dataclass(frozen=True, eq=False, repr=False)
class Catalog:
    """A dated set of machines and prices. Frames are shared: do not change them in place.

    Parameters
    ----------
    tables : CatalogTables
        Checked tables; the offers carry trust flags.
    hash : str
        Names the content: equal tables have equal hashes.
    as_of : datetime.date or None
        Date of the newest price.
    notes : tuple of str
        What the user should know: failed providers, offers left out.
    spellings : dict
        Every known spelling of an accelerator to its canonical name.
    """

    tables: CatalogTables
    hash: str
    as_of: dt.date | None
    notes: tuple[str, ...] = ()
    spellings: dict[str, str] = field(default_factory=dict)

    @property
    def accelerators(self) -> pd.DataFrame:
        """One row per accelerator, indexed by name; SI, NaN is unknown."""
        return self.tables.accelerators

    @property
    def machines(self) -> pd.DataFrame:
        """One row per cloud and instance type."""
        return self.tables.machines

    @property
    def offers(self) -> pd.DataFrame:
        """One row per cloud, instance type, region and market, with trust flags."""
        return self.tables.offers

    @property
    def credits_usd(self) -> dict[str, float]:
        """The user's credits by cloud [USD]."""
        frame = self.tables.credits
        return dict(zip(frame["cloud"], frame["credits_usd"], strict=True)) if len(frame) else {}

    @property
    def rates(self) -> dict[str, tuple[float, dt.date]]:
        """The user's exchange rates by currency: what one unit is worth [USD], and the day."""
        frame = self.tables.rates
        if not len(frame):
            return {}
        values = zip(frame["usd"], frame["as_of"], strict=True)
        return dict(zip(frame["currency"], values, strict=True))

    def accelerator_name(self, name: str) -> str:
        """Return the canonical name of an accelerator, however it is spelled.

        Raises
        ------
        UnknownNameError
            If there is none; the message offers the nearest.
        """
        try:
            return self.spellings[spelled(name)]
        except KeyError:
            raise UnknownNameError("accelerator", name, self.accelerators.index) from None

    def accelerator(self, name: str) -> Accelerator:
        """Return an accelerator by any of its names; see `accelerator_name`."""
        return self._accelerators[self.accelerator_name(name)]

    def machine(self, cloud: str, name: str) -> InstanceType:
        """Return an instance type of a cloud.

        Raises
        ------
        UnknownNameError
            If the cloud or the instance type is unknown.
        """
        try:
            return self._machines[cloud, name]
        except KeyError:
            pass
        clouds = sorted({known for known, _ in self._machines})
        if cloud not in clouds:
            raise UnknownNameError("cloud", cloud, clouds)
        names = [known for place, known in self._machines if place == cloud]
        raise UnknownNameError("instance type", name, names, where=cloud)

    def find_machine(self, name: str) -> InstanceType:
        """Return an instance type by its name alone.

        Raises
        ------
        UnknownNameError
            If no cloud has it.
        InvalidInputError
            If several clouds have it; the message lists them.
        """
        found = [machine for (_, known), machine in self._machines.items() if known == name]
        if not found:
            names = list(dict.fromkeys(known for _, known in self._machines))
            raise UnknownNameError("instance type", name, names)
        if len(found) > 1:
            clouds = ", ".join(machine.cloud for machine in found)
            raise InvalidInputError(
                f"several clouds have an instance type “{name}”: {clouds}.",
                todo="Say which cloud.",
            )
        return found[0]

    def offer(self, cloud: str, instance_type: str, region: str, market: Market) -> Offer:
        """Return one price with its source, date and trust flags.

        Raises
        ------
        UnknownNameError
            If the cloud or instance type is unknown, or it is not offered in the region or market.
        """
        position = self._offer_positions.get((cloud, instance_type, region, market))
        if position is not None:
            return _offer(self.offers.iloc[position])
        self.machine(cloud, instance_type)
        held = [key[2:] for key in self._offer_positions if key[:2] == (cloud, instance_type)]
        regions = sorted({place for place, _ in held})
        where = f"{cloud} {instance_type}"
        if region not in regions:
            raise UnknownNameError("region", region, regions, where=where)
        markets = [kind for place, kind in held if place == region]
        raise UnknownNameError("market", market, markets, where=f"{where}, {region}")

    def egress_usd_per_gb(
        self, src_cloud: str, src_region: str, dst_cloud: str, dst_region: str = ""
    ) -> float | None:
        """Price of traffic out of a region, first tier; None if unknown.

        Within one region it is 0: clouds charge nothing inside a zone. `dst_cloud` may be
        ``"internet"``; another cloud without a price of its own is reached over the internet.
        """
        if (src_cloud, src_region) == (dst_cloud, dst_region):
            return 0.0
        prices = self._egress
        price = prices.get((src_cloud, src_region, dst_cloud, dst_region))
        if price is None and src_cloud != dst_cloud:
            price = prices.get((src_cloud, src_region, "internet", ""))
        return price

    def region_network(
        self, src_cloud: str, src_region: str, dst_cloud: str, dst_region: str
    ) -> tuple[float | None, float | None]:
        """Round trip [s] and bandwidth of one machine [bytes/s] between regions; None unknown."""
        found = self._network.get((src_cloud, src_region, dst_cloud, dst_region))
        return found if found is not None else (None, None)

    def storage_usd_per_gb_month(
        self, cloud: str, region: str, storage_class: str | None = None
    ) -> float | None:
        """Price of a disk or bucket; None if unknown.

        Without a class it is the usual one of the cloud: a gp3 disk, a standard bucket.
        """
        chosen = storage_class or DEFAULT_STORAGE.get(cloud, "")
        return self._storage.get((cloud, region, chosen))

    def billing_s(self, cloud: str, instance_type: str) -> tuple[float, float] | None:
        """Increment and minimum of what is billed of a started machine [s]; None if unknown."""
        for row in self._billing:
            if row[0] == cloud and instance_type.startswith(row[1]):
                return row[2], row[3]
        return None

    def write_usd(self, cloud: str, storage_class: str | None = None) -> float | None:
        """Price of writing one object or file to storage; None if unknown."""
        key = (cloud, storage_class or DEFAULT_STORAGE.get(cloud, ""))
        price = self._writes.get(key)
        return None if price is None else price / 1000

    def price_source(self, table: str, *key: str) -> tuple[str, dt.date | None]:
        """Return source and date of a row of a side table, or an empty source.

        `table` is ``"storage"`` (key: cloud, region), ``"interruption"`` (cloud, region,
        instance type), ``"egress"`` (source and destination, cloud and region), ``"billing"`` or
        ``"writes"`` (cloud).
        """
        frame = getattr(self.tables, table)
        wanted = (*key, DEFAULT_STORAGE.get(key[0], "")) if table == "storage" else key
        for column, value in zip(frame.columns, wanted, strict=False):
            frame = frame[frame[column] == value]
        if frame.empty or "source_id" not in frame:
            return "", None
        row = self.tables.sources.loc[frame["source_id"].iloc[0]]
        return str(row["text"]), None if row["as_of"] is NaT else row["as_of"].date()

    def interruption_band(
        self, cloud: str, region: str, instance_type: str
    ) -> tuple[float, float] | None:
        """Bounds of the share of spot machines interrupted in a month; None if unknown."""
        return self._interruption.get((cloud, region, instance_type))

    def startup_s(
        self, cloud: str, instance_type: str, accelerator: str
    ) -> tuple[float, float, str]:
        """Median and 90th percentile from the order of a machine until it runs, and the basis.

        The nearest kind with enough measured starts counts: the instance type, the accelerator in
        that cloud, all accelerator machines of the cloud, those of all clouds.
        """
        for place, scope, name, words in (
            (cloud, "instance_type", instance_type, f"{instance_type}"),
            (cloud, "accelerator", accelerator, f"{accelerator} machines of {cloud}"),
            (cloud, "accelerators", "", f"accelerator machines of {cloud}"),
        ):
            row = self._startup.get((place, scope, name))
            if row is not None and row[0] >= FEW_STARTS:
                return row[1], row[2], f"{row[0]:.0f} measured starts of {words}"
        count, median, p90 = self._startup["any", "accelerators", ""]
        return median, p90, f"{count:.0f} measured starts of accelerator machines of other clouds"

    @cached_property
    def _accelerators(self) -> dict[str, Accelerator]:
        rows = self.accelerators.reset_index().to_dict("records")
        return {str(row["name"]): _accelerator(row) for row in rows}

    @cached_property
    def _machines(self) -> dict[tuple[str, str], InstanceType]:
        fields = [name for name in InstanceType.model_fields if name != "name"]
        rows = self.machines[["instance_type", *fields]].to_dict("records")
        made = (InstanceType(name=row.pop("instance_type"), **_known(row)) for row in rows)
        return {(machine.cloud, machine.name): machine for machine in made}

    @cached_property
    def _offer_positions(self) -> dict[tuple[str, str, str, str], int]:
        columns = ("cloud", "instance_type", "region", "market")
        keys = zip(*(self.offers[column].astype(object) for column in columns), strict=True)
        return {key: position for position, key in enumerate(keys)}

    @cached_property
    def _egress(self) -> dict[tuple[str, ...], float]:
        return _values(self.tables.egress, 4, "usd_per_gb")

    @cached_property
    def _storage(self) -> dict[tuple[str, ...], float]:
        return _values(self.tables.storage, 3, "usd_per_gb_month")

    @cached_property
    def _billing(self) -> list[tuple[str, str, float, float]]:
        frame = self.tables.billing
        if frame.empty:
            return []
        columns = ("cloud", "instance_prefix", "increment_s", "minimum_s")
        return list(zip(*(frame[name].tolist() for name in columns), strict=True))

    @cached_property
    def _writes(self) -> dict[tuple[str, ...], float]:
        frame = self.tables.writes
        return _values(frame, 2, "usd_per_1000_writes") if len(frame) else {}

    @cached_property
    def _network(self) -> dict[tuple[str, ...], tuple[float | None, float | None]]:
        frame = self.tables.network
        pairs = zip(frame["rtt_s"], frame["bytes_per_s"], strict=True)
        known = [(_or_none(rtt), _or_none(speed)) for rtt, speed in pairs]
        return dict(zip(_keys(frame, 4), known, strict=True))

    @cached_property
    def _interruption(self) -> dict[tuple[str, ...], tuple[float, float]]:
        frame = self.tables.interruption
        bands = zip(frame["low"], frame["high"], strict=True)
        return dict(zip(_keys(frame, 3), bands, strict=True))

    @cached_property
    def _startup(self) -> dict[tuple[str, ...], tuple[float, float, float]]:
        frame = self.tables.startup
        rows = zip(frame["n"], frame["ready_median_s"], frame["ready_p90_s"], strict=True)
        return dict(zip(_keys(frame, 3), rows, strict=True))


def _keys(frame: pd.DataFrame, count: int) -> list[tuple[str, ...]]:
    return list(zip(*(frame[column] for column in frame.columns[:count]), strict=True))


def _values(frame: pd.DataFrame, count: int, column: str) -> dict[tuple[str, ...], float]:
    return dict(zip(_keys(frame, count), frame[column].tolist(), strict=True))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _known(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Leave unknown numbers out: nouns say None for them."""
    return {
        name: value
        for name, value in row.items()
        if not (isinstance(value, float) and math.isnan(value))
    }


def _accelerator(row: Mapping[Any, Any]) -> Accelerator:
    peaks = {precision: row[f"peak_{precision}_flops"] for precision in PRECISIONS}
    fields = _known({name: row[name] for name in Accelerator.model_fields if name in row})
    return Accelerator(peak_flops=_known(peaks), **fields)


def _offer(row: pd.Series) -> Offer:
    return Offer(
        cloud=row["cloud"],
        instance_type=row["instance_type"],
        region=row["region"],
        market=row["market"],
        usd_per_h=row["usd_per_h"],
        source=row["source"],
        as_of=None if row["as_of"] is NaT else row["as_of"].date(),
        flags=tuple(row["flags"].split(",")) if row["flags"] else (),
        list_usd_per_h=row["list_usd_per_h"] if row["discount_percent"] else None,
        discount_percent=row["discount_percent"] or None,
    )
