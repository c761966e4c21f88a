"""Quotas of AWS, Google Cloud and Azure as their tools print them, and tables of types."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor import catalog as catalogs
from advisor.advice.quota_names import _AZURE, meaning_of
from advisor.advice.quota_text import quota_table, read_quotas
from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.domain import Quota


def aws_quota(name: str, value: float, region: str = "us-east-1") -> dict[str, Any]:
    return {
        "ServiceCode": "ec2", "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
        "QuotaArn": f"arn:aws:servicequotas:{region}:123456789012:ec2/L-417A185B",
        "QuotaCode": "L-417A185B", "QuotaName": name, "Value": value, "Unit": "None",
        "Adjustable": True, "GlobalQuota": False,
    }  # fmt: skip


AWS = {
    "Quotas": [
        aws_quota("Running On-Demand P instances", 192),
        aws_quota("All P5 Spot Instance Requests", 0),
        aws_quota("All G and VT Spot Instance Requests", 64),
        aws_quota("Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 1152),
        aws_quota("Running On-Demand High Memory instances", 0),
        aws_quota("Running On-Demand DL instances", -1),
        aws_quota("EC2-VPC Elastic IPs", 5),
    ]
}
GCP = {
    "name": "us-central1", "kind": "compute#region", "quotas": [
        {"metric": "CPUS", "limit": 2400.0, "usage": 12.0},
        {"metric": "NVIDIA_A100_80GB_GPUS", "limit": 16.0, "usage": 8.0},
        {"metric": "PREEMPTIBLE_NVIDIA_H100_GPUS", "limit": 32.0},
        {"metric": "NVIDIA_T4_VWS_GPUS", "limit": 4.0},
        {"metric": "NVIDIA_T4_GPUS", "limit": -1.0},
    ],
}  # fmt: skip
AZURE = [
    {"currentValue": 0, "limit": "96", "localName": "Standard NDAMSv4_A100Family vCPUs",
     "name": {"localizedValue": "x", "value": "standardNDAMSv4_A100Family"}, "unit": "Count"},
    {"currentValue": 24, "limit": "100",
     "name": {"localizedValue": "Total Regional Spot vCPUs", "value": "lowPriorityCores"}},
    {"currentValue": 0, "limit": "25000", "name": {"value": "availabilitySets"}},
]  # fmt: skip


@pytest.fixture(scope="module", name="catalog")
def catalog_fixture() -> catalogs.Catalog:
    return catalogs.load(("snapshot",))


def read(content: object, catalog: catalogs.Catalog) -> dict[str, Quota]:
    text = content if isinstance(content, str) else json.dumps(content)
    return {quota.name: quota for quota in read_quotas(text, catalog).quotas}


def test_aws_says_vcpus_of_families_by_market_and_region(catalog: catalogs.Catalog) -> None:
    found = read(AWS, catalog)
    assert set(found) == {
        "Running On-Demand P instances", "All P5 Spot Instance Requests",
        "All G and VT Spot Instance Requests",
    }  # fmt: skip
    on_demand = found["Running On-Demand P instances"]
    assert (on_demand.cloud, on_demand.region, on_demand.market) == ("aws", "us-east-1", "not_spot")
    assert (on_demand.unit, on_demand.most) == ("vcpus", 192)
    assert {"p5.48xlarge", "p6-b200.48xlarge"} < set(on_demand.instance_types)
    assert all(name.startswith("p") for name in on_demand.instance_types)
    spot = found["All P5 Spot Instance Requests"]
    assert (spot.market, spot.most) == ("spot", 0)
    assert {name.split(".")[0] for name in spot.instance_types} == {"p5", "p5e", "p5en"}


def test_google_says_accelerators_of_a_region_less_what_is_in_use(
    catalog: catalogs.Catalog,
) -> None:
    found = read(GCP, catalog)
    assert set(found) == {"NVIDIA_A100_80GB_GPUS", "PREEMPTIBLE_NVIDIA_H100_GPUS"}
    on_demand = found["NVIDIA_A100_80GB_GPUS"]
    assert (on_demand.region, on_demand.unit, on_demand.most) == ("us-central1", "accelerators", 8)
    assert all("ultragpu" in name for name in on_demand.instance_types)
    assert found["PREEMPTIBLE_NVIDIA_H100_GPUS"].market == "spot"


def test_azure_says_vcpus_of_families_and_of_all_spot_machines(catalog: catalogs.Catalog) -> None:
    found = read(AZURE, catalog)
    family = found["standardNDAMSv4_A100Family"]
    assert family.instance_types == ("Standard_ND96amsr_A100_v4",)
    assert (family.unit, family.most, family.market, family.region) == ("vcpus", 96, "not_spot", "")
    spot = found["lowPriorityCores"]
    assert (spot.most, spot.market) == (76, "spot")
    assert "Standard_ND96isr_H100_v5" in spot.instance_types


def test_the_interface_of_azure_and_a_list_of_regions_are_read_too(
    catalog: catalogs.Catalog,
) -> None:
    assert read({"location": "East US", "value": AZURE}, catalog)[
        "standardNDAMSv4_A100Family"
    ].region == "eastus"  # fmt: skip
    other = GCP | {"name": "europe-west4"}
    read_both = read_quotas(json.dumps([GCP, other]), catalog).quotas
    assert {quota.region for quota in read_both} == {"us-central1", "europe-west4"}


def test_a_table_names_instance_types_accelerators_and_quotas(catalog: catalogs.Catalog) -> None:
    found = read(
        "type,count,region,market\np4d.24xlarge, 4\nA100 80GB,16,us-central1,spot\n"
        "Running On-Demand P instances,96,us-west-2\n",
        catalog,
    )
    assert (found["p4d.24xlarge"].unit, found["p4d.24xlarge"].most) == ("machines", 4)
    assert (found["A100 80GB"].unit, found["A100 80GB"].market) == ("accelerators", "spot")
    assert "a2-ultragpu-8g" in found["A100 80GB"].instance_types
    assert found["Running On-Demand P instances"].unit == "vcpus"


@pytest.mark.parametrize("content", [AWS, GCP, AZURE])
def test_what_was_read_is_written_as_a_table_that_reads_the_same(
    content: object, catalog: catalogs.Catalog
) -> None:
    found = read(content, catalog)
    assert read(quota_table(found.values()), catalog) == found


def test_a_region_without_machines_that_a_tool_was_asked_of_limits_none(
    catalog: catalogs.Catalog,
) -> None:
    there = aws_quota("Running On-Demand P instances", 1_234_567)
    found = read([there, there | aws_quota(there["QuotaName"], 0, "xx-nowhere-9")], catalog)
    assert [quota.region for quota in found.values()] == ["us-east-1"]
    assert read(quota_table(found.values()), catalog) == found


def test_unknown_types_of_a_table_are_all_named(catalog: catalogs.Catalog) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read("p4d.24xlarge,4\nx9.mega,2\nZ100,8\n", catalog)
    assert "“x9.mega”, “Z100”" in str(caught.value)


def test_accelerators_that_the_catalog_does_not_know_are_named_beside_the_others(
    catalog: catalogs.Catalog,
) -> None:
    new = {"metric": "NVIDIA_X900_GPUS", "limit": 8.0}
    result = read_quotas(json.dumps(GCP | {"quotas": [*GCP["quotas"], new]}), catalog)
    assert result.unknown == ("NVIDIA_X900_GPUS",)
    assert len(result.quotas) == 2
    with pytest.raises(InvalidInputError, match="NVIDIA_X900_GPUS"):
        read_quotas(json.dumps({"name": "us-central1", "quotas": [new]}), catalog)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "no quotas"),
        ('{"Quotas": [{"QuotaName": "EC2-VPC Elastic IPs", "Value": 5}]}', "nothing in it limits"),
        ('{"Quotas": [{"QuotaName": "All P5 Spot Instance Requests", "Value": 1e999}]}',
         "not a count"),
        ("p4d.24xlarge", "not type,count"),
        ("p4d.24xlarge,lots", "not a count"),
        ("p4d.24xlarge,-3", "not a count"),
        ("p4d.24xlarge,-1", "not a count"),
        ("A100,4,mars-1", "unknown region"),
        ("p4d.24xlarge,4,mars-1", "unknown region"),
        ("p4d.24xlarge,4,us-east-1,lease", "unknown market"),
        ('"p4d.24xlarge,4', "not a row"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(text: str, said: str, catalog: catalogs.Catalog) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_quotas(text, catalog)
    assert said in str(caught.value)
    assert caught.value.where


def test_nothing_pasted_limits_nothing(catalog: catalogs.Catalog) -> None:
    assert read_quotas(" \n", catalog).quotas == ()


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=80)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Quotas", "quotas", "value", "name", "metric", "limit", "QuotaName",
                             "Value", "currentValue", "usage", "location"]),
            inner, max_size=4,
        ),
        max_leaves=12,
    ).map(json.dumps)
)  # fmt: skip
def test_anything_pasted_is_read_or_refused_in_words(text: str) -> None:
    with contextlib.suppress(AdvisorError):
        assert read_quotas(text, catalogs.load(("snapshot",))).quotas or not text.strip()


def test_every_family_of_azure_that_is_described_holds_machines(catalog: catalogs.Catalog) -> None:
    for name in _AZURE:
        assert meaning_of(f"standard{name}Family", catalog) or meaning_of(name, catalog), name
