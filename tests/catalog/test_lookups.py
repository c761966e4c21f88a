"""Asking the catalog by name."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path

import pandas as pd
import pytest

from advisor.catalog import Catalog, load, region_area
from advisor.catalog.load import assemble
from advisor.catalog.names import lookup_table
from advisor.core.errors import CatalogError, InvalidInputError, UnknownNameError

ELSEWHERE = {
    *("af-south-1", "ap-southeast-2", "ca-central-1", "il-central-1", "me-central-1"),
    *("me-south-1", "sa-east-1", "australiacentral", "australiacentral2", "australiaeast"),
    *("australiasoutheast", "brazilsouth", "canadacentral", "canadaeast", "israelcentral"),
    *("mexicocentral", "qatarcentral", "southafricanorth", "southafricawest", "uaecentral"),
    *("uaenorth", "australia-southeast1", "australia-southeast2", "me-central2", "me-west1"),
    *("northamerica-northeast1", "northamerica-northeast2", "southamerica-east1"),
    *("southamerica-west1", "unspecified", "all"),
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(today=dt.date(2026, 9, 1))


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("A100-SXM4-80GB", "A100-80GB"),
        ("NVIDIA A100-SXM4-80GB", "A100-80GB"),
        ("NVIDIA_A100_80GB_PCIe", "A100-80GB-PCIe"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA_H100_80GB_HBM3", "H100"),
        ("Tesla V100-SXM2-16GB", "V100-16GB"),
        ("Tesla_V100-PCIE-32GB", "V100-PCIe-32GB"),
        ("Tesla T4", "T4"),
        ("nvidia-tesla-t4", "T4"),
        ("nvidia-h100-80gb", "H100"),
        ("NVIDIA GeForce RTX 3090", "RTX-3090"),
        ("NVIDIA GeForce RTX 2080 with Max-Q Design", "RTX-2080-Max-Q"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada"),
        ("AMD_Instinct_MI250", "MI250"),
        ("TPU v6e (Trillium)", "TPU-v6e"),
        ("GH-96", "GH200"),
        ("Titan-RTX", "TITAN-RTX"),
        ("V100-16", "V100-16GB"),
        ("h100", "H100"),
    ],
)
def test_an_accelerator_is_found_by_any_spelling(catalog: Catalog, label: str, name: str) -> None:
    assert catalog.accelerator(label).name == name


def test_an_unknown_accelerator_offers_the_nearest(catalog: Catalog) -> None:
    with pytest.raises(UnknownNameError) as caught:
        catalog.accelerator("H1000")
    assert "H100" in caught.value.nearest


def test_every_label_of_the_measured_runs_is_known(catalog: Catalog, reference: Path) -> None:
    runs = pd.read_csv(reference / "data" / "measured_runs.csv", usecols=["gpu"])["gpu"]
    counts = runs[~runs.str.startswith("mixed:")].value_counts()
    unknown = [label for label in counts[counts >= 10].index if not _known(catalog, label)]
    assert unknown == []


@pytest.mark.parametrize(
    "name", ["neusight_summary", "sailor_layer_profiles", "sailor_gpus", "vtrain_multi"]
)
def test_every_label_of_the_boards_is_known(catalog: Catalog, reference: Path, name: str) -> None:
    labels = pd.read_csv(reference / "data" / "boards" / f"{name}.csv", usecols=["gpu"])["gpu"]
    assert [label for label in labels.unique() if not _known(catalog, label)] == []


def _known(catalog: Catalog, label: str) -> bool:
    try:
        return bool(catalog.accelerator(label))
    except UnknownNameError:
        return False


def test_a_spelling_means_one_accelerator() -> None:
    with pytest.raises(CatalogError, match="both A and B"):
        lookup_table(["A", "B"], [("x-1", "A"), ("X 1", "B")])
    with pytest.raises(CatalogError, match="no accelerator"):
        lookup_table(["A"], [("x", "C")])


def test_a_machine_is_found_by_its_name_alone(catalog: Catalog) -> None:
    assert catalog.find_machine("p4d.24xlarge").cloud == "aws"
    assert catalog.find_machine("a3-highgpu-8g").cloud == "gcp"


def test_a_name_that_several_clouds_use_needs_the_cloud(catalog: Catalog) -> None:
    with pytest.raises(InvalidInputError, match=r"fluidstack.*lambda.*Say which cloud") as caught:
        catalog.find_machine("1x-H100")
    assert not isinstance(caught.value, UnknownNameError)


def test_unknown_machines_offer_the_nearest(catalog: Catalog) -> None:
    with pytest.raises(UnknownNameError, match=r"p4d\.24xlarge"):
        catalog.find_machine("p4d.24large")
    with pytest.raises(UnknownNameError, match=r"aws: .*p4d\.24xlarge"):
        catalog.machine("aws", "p4d.24large")
    with pytest.raises(UnknownNameError, match="azure"):
        catalog.machine("azur", "p4d.24xlarge")


def test_an_offer_that_does_not_exist_is_not_free(catalog: Catalog) -> None:
    with pytest.raises(UnknownNameError, match="region"):
        catalog.offer("aws", "p4d.24xlarge", "af-south-1", "on_demand")
    with pytest.raises(UnknownNameError, match="market"):
        catalog.offer("aws", "p5e.48xlarge", "us-east-2", "on_demand")
    with pytest.raises(UnknownNameError, match="instance type"):
        catalog.offer("aws", "p4d.24large", "us-east-1", "on_demand")


def test_a_price_without_a_date_has_none(catalog: Catalog) -> None:
    offer = catalog.offer("aws", "p5.48xlarge", "us-east-1", "spot")
    assert offer.as_of is None
    assert offer.flags == ("stale",)


def test_every_region_lies_in_one_part_of_the_world(catalog: Catalog) -> None:
    areas = catalog.offers.drop_duplicates("region").set_index("region")["area"]
    assert set(areas[areas == "Other"].index) == ELSEWHERE
    assert areas["eastus2"] == areas["us-central1"] == areas["us-west-2"] == "US"
    assert areas["uksouth"] == areas["eu-south-2"] == areas["europe-west10"] == "Europe"
    assert areas["centralindia"] == areas["ap-southeast-5"] == areas["asia-east2"] == "Asia"


@pytest.mark.parametrize(
    ("region", "area"),
    [
        ("us-gov-west-1", "US"),
        ("usgovvirginia", "US"),
        ("mx-central-1", "Other"),
        ("eu-central-1", "Europe"),
        ("ap-southeast-7", "Asia"),
        ("newzealandnorth", "Other"),
        ("US-EAST-1", "US"),
        ("", "Other"),
    ],
)
def test_regions_that_are_not_sold_yet(region: str, area: str) -> None:
    assert region_area(region) == area


def test_start_up_falls_back_from_type_to_accelerator_to_cloud(catalog: Catalog) -> None:
    startup = pd.DataFrame(
        [
            ("a", "instance_type", "x8", 3.0, 10.0, 20.0),
            ("a", "instance_type", "x4", 2.0, 11.0, 21.0),
            ("a", "accelerator", "X", 5.0, 12.0, 22.0),
            ("a", "accelerators", "", 9.0, 13.0, 23.0),
            ("any", "accelerators", "", 99.0, 14.0, 24.0),
        ],
        columns=["cloud", "scope", "name", "n", "ready_median_s", "ready_p90_s"],
    )
    small = assemble(dataclasses.replace(catalog.tables, startup=startup), dt.date(2026, 9, 1))
    assert small.startup_s("a", "x8", "X") == (10, 20, "3 measured starts of x8")
    assert small.startup_s("a", "x4", "X")[0] == 12
    assert small.startup_s("a", "x4", "Y")[0] == 13
    assert small.startup_s("b", "x4", "Y")[0] == 14
