"""What users of planners asked for in public: places of data, and accelerators by their names."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from advisor import api
from advisor.catalog import Catalog, load
from advisor.core.errors import UnknownNameError
from advisor.core.units import GB

if TYPE_CHECKING:
    from advisor.advice import Engine

JOB: dict[str, Any] = {"tokens": "1 B", "global_batch": 256, "max_accelerators": 32}
GIB = 2**30


@pytest.fixture(scope="module", name="catalog")
def catalog_fixture() -> Catalog:
    return load(today=dt.date(2026, 9, 1))


def test_the_cheapest_machines_are_beside_a_large_data_set(engine: Engine) -> None:
    """No. 48: prefer the region of the data, since fetching it from elsewhere is paid for."""
    where = {"clouds": "aws", "gpus": "A100-40GB,A100-80GB", "markets": "on-demand"}
    stated = {"data_gb": 100_000, "data_at": "aws:eu-west-1"}
    without = api.advise("llama-2-7b", **JOB, **where, engine=engine).picks["cheapest"].plan
    beside = api.advise("llama-2-7b", **JOB, **where, **stated, engine=engine)
    assert without.offer.region != "eu-west-1"
    cheapest = beside.picks["cheapest"].plan
    assert cheapest.offer.region == "eu-west-1"
    assert cheapest.bill.traffic_usd == 0
    elsewhere = [plan for plan in beside.pareto if plan.offer.region != "eu-west-1"]
    assert elsewhere
    for plan in elsewhere:
        assert plan.bill.traffic_usd is not None
        assert plan.bill.traffic_usd > 100_000 * 0.01  # of the data; the weights come back too


@pytest.mark.parametrize("name", ["A100-8", "A100-8:8"])
def test_a_count_in_a_name_is_refused_and_not_read_as_a_size(catalog: Catalog, name: str) -> None:
    """No. 49: “A100-8:8” silently became eight A100 of 80 GB."""
    with pytest.raises(UnknownNameError) as caught:
        catalog.accelerator_name(name)
    assert {"A100-40GB", "A100-80GB"} <= set(caught.value.nearest)


def test_a_name_without_its_size_is_answered_with_the_size_that_was_meant(engine: Engine) -> None:
    """No. 49: who says A100 is told which, and never gets the dearer one unasked."""
    forecast = api.predict(
        "llama-2-7b", tokens="1 B", global_batch=256, gpu="A100", accelerators=16, engine=engine
    )
    assert forecast.accelerator == "A100-40GB"
    assert forecast.memory.capacity_bytes == 40 * GB
    advice = api.advise("llama-2-7b", **JOB, gpus="A100", engine=engine)
    devices = {plan.cluster.groups[0].accelerator for plan in advice.pareto}
    assert devices == {"A100-40GB"}


@pytest.mark.parametrize(
    ("cloud", "name", "memory_gb"),
    [
        ("lambda", "8x-A100-40GB", 40),
        ("lambda", "8x-A100-80GB", 80),
        ("aws", "p4d.24xlarge", 40),
        ("aws", "p4de.24xlarge", 80),
        ("gcp", "a2-highgpu-8g", 40),
        ("gcp", "a2-ultragpu-8g", 80),
        ("azure", "Standard_ND96asr_v4", 40),
        ("azure", "Standard_ND96amsr_A100_v4", 80),
    ],
)
def test_machines_of_eight_are_filed_under_their_own_size(
    catalog: Catalog, cloud: str, name: str, memory_gb: int
) -> None:
    """Nos. 50, 51, 52: 80 GB filed as 40, or the memory of one for that of eight."""
    machine = catalog.machine(cloud, name)
    assert machine.accelerator == f"A100-{memory_gb}GB"
    assert machine.accelerators == 8
    assert machine.accelerator_memory_bytes == memory_gb * GB
    assert machine.accelerators * machine.accelerator_memory_bytes == 8 * memory_gb * GB


def test_sizes_of_lambda_have_prices_of_their_own(catalog: Catalog) -> None:
    """No. 50: the larger memory is another product at another price."""
    offers = catalog.offers
    here = offers[(offers["cloud"] == "lambda") & (offers["market"] == "on_demand")]
    price = here.groupby("instance_type", observed=True)["usd_per_h"].min()
    assert price["8x-A100-80GB"] > price["8x-A100-40GB"]


def test_an_l4_has_the_memory_of_its_data_sheet(catalog: Catalog) -> None:
    """No. 53: 22 GB of an L4 were reported, which is what a driver leaves of 24."""
    assert catalog.accelerator("L4").memory_bytes == 24 * GB
    machines = catalog.machines
    whole = machines[(machines["accelerator"] == "L4") & (machines["accelerators"] >= 1)]
    assert len(whole) > 5
    assert (whole["accelerator_memory_bytes"] == 24 * GB).all()


def test_memory_is_of_one_accelerator_on_every_host(catalog: Catalog) -> None:
    """Nos. 51, 54: the memory of all and of one were mixed, and differed from host to host."""
    machines = catalog.machines
    device = catalog.accelerators["memory_bytes"].loc[machines["accelerator"].astype(str)]
    share = np.minimum(machines["accelerators"].to_numpy(), 1.0)  # part of one, or whole ones
    expected = share * device.to_numpy()
    assert machines["accelerator_memory_bytes"].to_numpy() == pytest.approx(expected, rel=0.01)


def test_memory_of_the_host_is_not_that_of_its_accelerators(catalog: Catalog) -> None:
    """No. 54: memory of the host stands beside that of the accelerators, in its own column."""
    machine = catalog.machine("aws", "p4d.24xlarge")
    assert machine.memory_bytes == 1152 * GIB
    assert machine.accelerator_memory_bytes == 40 * GB


@pytest.mark.parametrize("name", ["A100-40GB", "A100-80GB", "H100"])
def test_the_large_accelerators_are_known_and_sold(catalog: Catalog, name: str) -> None:
    """No. 55: an estimator lacked the A100 in both sizes and the H100."""
    device = catalog.accelerator(name)
    assert device.peak_flops["bf16"] > 0
    assert device.memory_bytes_per_s > 1e12
    offers = catalog.offers[catalog.offers["accelerator"] == name]
    assert {"aws", "gcp", "azure"} <= set(offers["cloud"])


def test_a_host_that_is_too_small_can_be_ruled_out(engine: Engine) -> None:
    """No. 56: a quota of none keeps a type of machine out of the answer."""
    where = {"clouds": "aws", "gpus": "A10G", "markets": "on-demand"}
    first = api.advise("llama-2-7b", **JOB, **where, engine=engine).picks["cheapest"].plan
    small = first.offer.instance_type
    without = api.advise("llama-2-7b", **JOB, **where, quotas=[f"{small},0"], engine=engine)
    assert all(plan.offer.instance_type != small for plan in without.pareto)
    assert without.picks["cheapest"].plan.cost_usd.value >= first.cost_usd.value
