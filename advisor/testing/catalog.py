"""What the tables of every price provider must satisfy.

A test module holds a subclass and a fixture ``provider``, or runs it over the registry::

    class TestProviders(ProviderContract):
        @pytest.fixture(params=list(PROVIDERS), scope="class")
        @classmethod
        def provider(cls, request):
            return PROVIDERS[request.param]()
"""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final, get_args

import numpy as np
import pandas as pd
import pytest

from advisor.catalog.load import assemble
from advisor.catalog.regions import Area, region_area
from advisor.core.units import GB, GBIT_PER_S, TB, TFLOPS
from advisor.domain.hardware import Market

if TYPE_CHECKING:
    from advisor.catalog.provider import PriceProvider
    from advisor.catalog.tables import CatalogTables

FAMILIES: Final = {
    *("Blackwell", "Hopper", "Ampere", "Ada", "Volta", "Trainium", "TPU", "Instinct", "Other")
}
ACCELERATOR_NUMBERS: Final = (
    *("year", "memory_bytes", "memory_bytes_per_s", "peak_fp32_flops", "peak_tf32_flops"),
    *("peak_fp16_flops", "peak_bf16_flops", "peak_fp8_flops", "achievable_bf16_flops"),
    *("link_bytes_per_s", "pcie_gen", "tdp_w"),
)
MACHINE_NUMBERS: Final = (
    *("accelerators", "accelerator_memory_bytes", "vcpus", "memory_bytes"),
    *("link_bytes_per_s", "network_bytes_per_s"),
)
AWS_REGION: Final = re.compile(r"[a-z]{2}(-gov)?-[a-z]+-\d")  # a Local Zone has a longer name


class ProviderContract:
    """Invariants of the tables of the fixture ``provider``, of class scope."""

    @pytest.fixture(scope="class")
    @classmethod
    def tables(cls, provider: PriceProvider) -> CatalogTables:
        return provider.fetch()

    def test_two_fetches_of_the_same_content_have_the_same_hash_and_stamp(
        self, provider: PriceProvider
    ) -> None:
        assert provider.fetch().hash == provider.fetch().hash != ""
        assert provider.stamp() == provider.stamp()

    def test_numbers_are_numbers_and_unknown_is_never_zero(self, tables: CatalogTables) -> None:
        for frame, columns in (
            (tables.accelerators, ACCELERATOR_NUMBERS),
            (tables.machines, MACHINE_NUMBERS),
            (tables.offers, ("usd_per_h",)),
        ):
            numbers = frame[list(columns)]
            assert (numbers.dtypes == np.float64).all()
            assert not (numbers <= 0).any(axis=None)
            assert not np.isinf(numbers.to_numpy()).any()

    def test_every_row_has_its_source(self, tables: CatalogTables) -> None:
        for frame in (tables.accelerators, tables.machines, tables.offers):
            assert (frame["source"].astype(str).str.len() > 3).all()

    def test_keys_are_unique(self, tables: CatalogTables) -> None:
        assert tables.accelerators.index.is_unique
        assert not tables.machines.duplicated(["cloud", "instance_type"]).any()
        key = ["cloud", "instance_type", "region", "market"]
        assert not tables.offers.duplicated(key).any()

    def test_every_offer_has_a_machine_and_every_machine_an_accelerator(
        self, tables: CatalogTables
    ) -> None:
        machines = set(zip(tables.machines["cloud"], tables.machines["instance_type"], strict=True))
        offered = set(zip(tables.offers["cloud"], tables.offers["instance_type"], strict=True))
        assert offered <= machines
        assert set(tables.machines["accelerator"]) <= set(tables.accelerators.index)

    def test_every_offer_has_a_price_and_a_known_market(self, tables: CatalogTables) -> None:
        assert tables.offers["usd_per_h"].between(0.01, 2000).all()
        assert set(tables.offers["market"].unique()) <= set(get_args(Market))

    def test_no_price_is_of_the_future(self, tables: CatalogTables) -> None:
        tomorrow = pd.Timestamp(dt.datetime.now(tz=dt.UTC).date()) + pd.Timedelta(days=1)
        assert not (tables.offers["as_of"] > tomorrow).any()

    def test_prices_are_in_dollars_of_regions_proper(self, tables: CatalogTables) -> None:
        regions = tables.offers["region"].astype(str)
        assert not regions.str.match(r"cn-|china").any()  # sold in another currency
        aws = regions[tables.offers["cloud"] == "aws"]
        assert all(AWS_REGION.fullmatch(region) for region in aws.unique())
        assert {region_area(region) for region in regions.unique()} <= set(get_args(Area))

    def test_memory_of_what_can_be_rented_is_plausible(self, tables: CatalogTables) -> None:
        rented = tables.accelerators.loc[tables.machines["accelerator"].unique()]
        assert rented["memory_bytes"].between(4 * GB, 512 * GB).all()
        assert tables.accelerators["memory_bytes_per_s"].between(0.1 * TB, 100 * TB).all()
        share = tables.machines["accelerators"].clip(upper=1)
        whole = tables.accelerators["memory_bytes"].reindex(tables.machines["accelerator"])
        seen = tables.machines["accelerator_memory_bytes"].to_numpy()
        assert np.allclose(seen, whole.to_numpy() * share, rtol=0.1)

    def test_peaks_are_plausible(self, tables: CatalogTables) -> None:
        peak = tables.accelerators.filter(regex="^peak_").rename(columns=lambda c: c[5:-6])
        assert not ((peak < 1 * TFLOPS) | (peak > 6000 * TFLOPS)).any(axis=None)
        for lower, higher in (("fp32", "tf32"), ("fp32", "fp16"), ("tf32", "bf16")):
            assert not (peak[higher] < 0.99 * peak[lower]).any(), (lower, higher)
        for lower, higher in (("fp16", "bf16"), ("bf16", "fp8")):
            assert not (peak[higher] < 0.99 * peak[lower]).any(), (lower, higher)
        # A rate with sparsity among dense ones shows as a jump of four between precisions.
        assert not (peak["fp8"] > 2.1 * peak["bf16"]).any()
        assert not (tables.accelerators["achievable_bf16_flops"] > peak["bf16"]).any()

    def test_families_are_those_of_the_charts(self, tables: CatalogTables) -> None:
        assert set(tables.accelerators["family"]) <= FAMILIES
        assert (tables.accelerators["architecture"] != "").all()

    def test_links_are_plausible(self, tables: CatalogTables) -> None:
        machines = tables.machines
        assert machines["link_bytes_per_s"].between(1e9, 2e12).all()
        network = machines["network_bytes_per_s"].dropna()
        assert network.between(1 * GBIT_PER_S, 20_000 * GBIT_PER_S).all()
        of_device = tables.accelerators["link_bytes_per_s"].reindex(machines["accelerator"])
        faster = machines["link_bytes_per_s"] > of_device.fillna(64e9).clip(lower=64e9).to_numpy()
        assert not faster.any()

    def test_every_row_can_be_looked_up(self, tables: CatalogTables) -> None:
        catalog = assemble(tables, dt.datetime.now(tz=dt.UTC).date())
        for name in tables.accelerators.index:
            assert catalog.accelerator(name).name == name
        for row in tables.machines.itertuples():
            machine = catalog.machine(str(row.cloud), str(row.instance_type))
            assert machine.accelerators == row.accelerators
        key = ["cloud", "instance_type", "region", "market"]
        for record in catalog.offers.iloc[::97].to_dict("records"):
            offer = catalog.offer(*(record[column] for column in key))
            assert offer.usd_per_h == record["usd_per_h"]
