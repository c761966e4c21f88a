"""Machine shapes: equal hardware once, slices not at all."""

from __future__ import annotations

import numpy as np
import pytest
from search_fixtures import (  # noqa: F401 - fixtures
    catalog_fixture,
)

from advisor.catalog import Catalog
from advisor.search.hardware import hardware_table, machine_columns, predictable
from advisor.search.offers import offer_columns
from advisor.search.wide import HARDWARE


def test_each_shape_is_listed_once_and_nothing_is_missing_in_it(catalog: Catalog) -> None:
    shapes, _ = hardware_table(catalog, "bf16")
    assert not shapes.duplicated().any()
    assert shapes.notna().all().all()
    assert set(HARDWARE) | {"multi_node"} == set(shapes.columns)


def test_every_offer_has_the_numbers_of_its_machine(catalog: Catalog) -> None:
    shapes, shape = hardware_table(catalog, "bf16")
    machines = machine_columns(catalog, catalog.machines, "bf16")
    names = list(zip(catalog.machines["cloud"], catalog.machines["instance_type"], strict=True))
    own = dict(zip(names, machines.to_dict("records"), strict=True))
    offers = catalog.offers
    for position in np.flatnonzero(shape >= 0)[::37]:
        key = str(offers["cloud"].iloc[position]), str(offers["instance_type"].iloc[position])
        assert shapes.iloc[shape[position]].to_dict() == own[key]


def test_equal_machines_of_several_clouds_share_a_shape(catalog: Catalog) -> None:
    shapes, shape = hardware_table(catalog, "bf16")
    assert len(shapes) < len(catalog.machines)
    clouds = catalog.offers["cloud"].astype(str).groupby(shape).nunique()
    assert clouds[clouds.index >= 0].max() > 1


def test_shares_of_an_accelerator_are_left_out(catalog: Catalog) -> None:
    shapes, shape = hardware_table(catalog, "bf16")
    slices = (catalog.offers["accelerators"] < 1).to_numpy()
    assert slices.any()
    assert (shape[slices] == -1).all()
    assert (shapes["devices_per_node"] >= 1).all()


@pytest.mark.parametrize("precision", ["fp32", "tf32", "fp16", "bf16", "fp8"])
def test_accelerators_without_a_published_peak_are_left_out(
    catalog: Catalog, precision: str
) -> None:
    _, shape = hardware_table(catalog, precision)
    unknown = (catalog.offers["accelerator"].astype(str) == "Gaudi1").to_numpy()
    assert unknown.any()
    assert (shape[unknown] == -1).all()


def test_what_is_predictable_has_whole_devices_and_a_peak(catalog: Catalog) -> None:
    columns = machine_columns(catalog, catalog.machines, "bf16")
    known = predictable(columns)
    assert (columns["devices_per_node"][known] >= 1).all()
    assert columns["peak_flops"][known].notna().all()
    slices, unpublished = columns["devices_per_node"] < 1, columns["peak_flops"].isna()
    assert (~known).tolist() == (slices | unpublished).tolist()


def test_precision_chooses_the_peak(catalog: Catalog) -> None:
    peaks = {p: machine_columns(catalog, catalog.machines, p)["peak_flops"] for p in
             ("fp32", "bf16", "fp8")}  # fmt: skip
    h100 = (catalog.machines["accelerator"] == "H100").to_numpy()
    assert (peaks["fp32"][h100] < peaks["bf16"][h100]).all()
    assert (peaks["bf16"][h100] < peaks["fp8"][h100]).all()


def test_offers_carry_what_a_plan_needs(catalog: Catalog) -> None:
    offers = offer_columns(catalog)
    assert len(offers) == len(catalog.offers)
    assert (offers["startup_s"] > 0).all()
    row = int(np.flatnonzero((offers["cloud"] == "aws") & (offers["region"] == "us-east-1"))[0])
    assert offers["storage_usd_per_gb_month"].iloc[row] == catalog.storage_usd_per_gb_month(
        "aws", "us-east-1"
    )
    unknown = offers["storage_usd_per_gb_month"].isna()
    assert unknown.any()
    assert (offers["storage_usd_per_gb_month"][~unknown] > 0).all()
    assert offers["family"].notna().all()
