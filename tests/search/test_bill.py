"""The bill, against amounts worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_fixtures import (  # noqa: F401 - fixtures
    Physics,
    catalog_fixture,
    llama_fixture,
    physics_fixture,
    table_fixture,
)

from advisor import zoo
from advisor.catalog import Catalog
from advisor.core.errors import AdvisorError
from advisor.domain import Bill, Workload
from advisor.search.bill import (
    BillTerms,
    BillUse,
    bill_columns,
    checkpoint_bytes,
    result_bytes,
    total_at,
)
from advisor.search.data_set import DataSet, transfer_prices
from advisor.search.rented import billed_hours
from advisor.search.search import Evaluated, SearchOptions, evaluate

GB = 1e9
AWS = {"increment_s": 1.0, "minimum_s": 60.0}
GCP = {"increment_s": 1.0, "minimum_s": 60.0}
AZURE = {"increment_s": 1.0, "minimum_s": 300.0}
LAMBDA = {"increment_s": 60.0, "minimum_s": 60.0}
ORACLE_METAL = {"increment_s": 1.0, "minimum_s": 3600.0}
HOURLY = {"increment_s": 3600.0, "minimum_s": 3600.0}


@dataclass(frozen=True)
class Worked:
    """A job and its bill worked out by hand [USD]; None: no price is known."""

    what: str
    terms: dict[str, float]
    use: dict[str, float]
    total: float
    machines: float
    startup: float = 0.0
    retries: float = 0.0
    interruptions: float = 0.0
    rounding: float | None = 0.0
    failed: float = 0.0
    storage: float | None = 0.0
    writes: float | None = 0.0
    data_storage: float | None = 0.0
    traffic: float | None = 0.0
    free: dict[str, float] = field(
        default_factory=lambda: {"storage_usd_per_gb_month": 0.0, "write_usd": 0.0}
    )


WORKED = [
    Worked(
        "by the second: 1.0001 h are 3,600.36 s, billed as 3,601",
        {"usd_per_h": 32.77, **AWS}, {"machines": 1, "training_h": 1.0001},
        # 32.77 × 1.0001 = 32.773277; 32.77 × 0.64 / 3,600 = 0.005826
        machines=32.77, rounding=0.01, total=32.78,
    ),
    Worked(
        "under the minimum of AWS: 36 s are billed as 60",
        {"usd_per_h": 12.0, **AWS}, {"machines": 1, "training_h": 0.01},
        # 12 × 0.01; 12 × 24 / 3,600
        machines=0.12, rounding=0.08, total=0.20,
    ),
    Worked(
        "two machines under the minimum of Azure: 180 + 36 s are billed as 300",
        {"usd_per_h": 6.98, **AZURE}, {"machines": 2, "training_h": 0.05, "startup_h": 0.01},
        # 13.96 × 0.05 = 0.698; 13.96 × 0.01 = 0.1396; 13.96 × 84 / 3,600 = 0.325733
        machines=0.70, startup=0.14, rounding=0.33, total=1.17,
    ),
    Worked(
        "by the minute at Lambda, whose storage has no known price: 90.6 min are billed as 91",
        {"usd_per_h": 2.49, **LAMBDA}, {"machines": 1, "training_h": 1.51, "checkpoint_bytes": GB},
        # 2.49 × 1.51 = 3.7599; 2.49 × 24 / 3,600 = 0.0166
        machines=3.76, rounding=0.02, storage=None, writes=None, total=3.78, free={},
    ),
    Worked(
        "bare metal of Oracle, an hour at least",
        {"usd_per_h": 32.0, **ORACLE_METAL}, {"machines": 4, "training_h": 0.5, "startup_h": 0.25},
        # 128 × 0.5; 128 × 0.25; 128 × 0.25
        machines=64.0, startup=32.0, rounding=32.0, total=128.0,
    ),
    Worked(
        "spot of Google with four restarts; 80 checkpoints of 64 objects",
        {"usd_per_h": 3.5, "storage_usd_per_gb_month": 0.02, "write_usd": 0.005 / 1000, **GCP},
        {"machines": 8, "training_h": 40, "startup_h": 0.05, "interruption_h": 2.5,
         "revocations": 4, "checkpoint_bytes": 100 * GB, "checkpoints": 80, "objects": 64},
        # 28 × 40; 28 × 0.05; 28 × 2.5; 12 leases of 102,120 s each: whole seconds
        # 2 × 100 × 0.02 × 42.55 / 730 = 0.233151; 5,120 × 0.000005 = 0.0256
        machines=1120.0, startup=1.40, interruptions=70.0, storage=0.23, writes=0.03,
        total=1191.66,
    ),
    Worked(
        "sixteen machines, 2,000 GB of data from another region, 14 GB of weights back",
        {"usd_per_h": 98.32, "storage_usd_per_gb_month": 0.08, "write_usd": 0.0,
         "in_usd_per_gb": 0.02, "out_usd_per_gb": 0.02, **AWS},
        {"machines": 16, "training_h": 12, "startup_h": 0.02, "checkpoint_bytes": 94.34 * GB,
         "checkpoints": 1, "objects": 128, "data_bytes": 2000 * GB, "result_bytes": 14 * GB},
        # 1,573.12 × 12; × 0.02 = 31.4624; 2 × 94.34 × 0.08 × 12.02 / 730 = 0.248541
        # 2,000 × 0.08 × 12.02 / 730 = 2.634521; 2,014 × 0.02
        machines=18877.44, startup=31.46, storage=0.25, data_storage=2.63, traffic=40.28,
        total=18952.06,
    ),
    Worked(
        "an attempt that runs out of memory with a chance of 15 %, after 378 s",
        {"usd_per_h": 21.96, **AWS},
        {"machines": 4, "training_h": 20, "startup_h": 0.1, "out_of_memory": 0.15,
         "attempt_h": 0.105},
        # 87.84 × 20; 87.84 × 0.1 = 8.784; 0.15 × 87.84 × 0.105 = 1.38348
        machines=1756.80, startup=8.78, failed=1.38, total=1766.96,
    ),
    Worked(
        "an attempt that fails sooner than Azure's minimum: 72 s are billed as 300",
        {"usd_per_h": 98.32, **AZURE},
        {"machines": 1, "training_h": 5, "startup_h": 0.015, "out_of_memory": 0.4,
         "attempt_h": 0.02},
        # 98.32 × 5; × 0.015 = 1.4748; 0.4 × 98.32 / 12 = 3.277333
        machines=491.60, startup=1.47, failed=3.28, total=496.35,
    ),
    Worked(
        "by the hour, with half as much again for retries: 150.5 h are billed as 151",
        {"usd_per_h": 3.06, "storage_usd_per_gb_month": 0.05, "write_usd": 0.0, **HOURLY},
        {"machines": 3, "training_h": 100, "startup_h": 0.5, "retry_share": 0.5,
         "checkpoint_bytes": 1.4 * GB},
        # 9.18 × 100; × 0.5; × 50; × 0.5; 2 × 1.4 × 0.05 × 150.5 / 730 = 0.028863
        machines=918.0, startup=4.59, retries=459.0, rounding=4.59, storage=0.03, total=1386.21,
    ),
    Worked(
        "data in another zone at a price that the user gives; half a cent is rounded up",
        {"usd_per_h": 1.0, "in_usd_per_gb": 0.01, "out_usd_per_gb": 0.01, **GCP},
        {"machines": 1, "training_h": 10, "data_bytes": 500 * GB, "result_bytes": 13.5 * GB},
        # 513.5 × 0.01 = 5.135
        machines=10.0, traffic=5.14, total=15.14,
    ),
    Worked(
        "a cloud that says neither how it bills nor what traffic costs",
        {"usd_per_h": 2.0, "in_usd_per_gb": np.nan, "out_usd_per_gb": np.nan},
        {"machines": 1, "training_h": 3.3333, "data_bytes": GB},
        machines=6.67, rounding=0.0, traffic=None, total=6.67,
    ),
]  # fmt: skip


@pytest.mark.parametrize("worked", WORKED, ids=[worked.what for worked in WORKED])
def test_worked_examples_agree_to_the_cent(worked: Worked) -> None:
    terms = {name: np.array([value]) for name, value in (worked.free | worked.terms).items()}
    use = {name: value if name == "retry_share" else np.array([float(value)])
           for name, value in worked.use.items()}  # fmt: skip
    columns = bill_columns(BillTerms(**terms), BillUse(**use))
    parts = {part.name: float(getattr(columns, part.name)[0]) for part in fields(columns)}
    bill = Bill(**{name: None if np.isnan(value) else value for name, value in parts.items()})
    for name, amount in bill.parts_usd.items():
        assert amount == getattr(worked, name.removesuffix("_usd")), name
    assert bill.total_usd == worked.total


def arrays(*names: str) -> dict[str, st.SearchStrategy[float]]:
    amounts = {
        "machines": st.integers(1, 512).map(float), "usd_per_h": st.floats(0.01, 500),
        "increment_s": st.sampled_from([1.0, 60.0, 3600.0, np.nan]),
        "minimum_s": st.sampled_from([0.0, 60.0, 300.0, 3600.0]),
        "training_h": st.floats(1e-3, 1e5),
        "startup_h": st.floats(0, 2), "interruption_h": st.floats(0, 1e4),
        "revocations": st.floats(0, 50), "out_of_memory": st.floats(0, 1),
        "attempt_h": st.floats(0, 2), "storage_usd_per_gb_month": st.floats(0, 1) | st.just(np.nan),
        "in_usd_per_gb": st.floats(0, 1) | st.just(np.nan), "data_bytes": st.floats(0, 1e15),
        "write_usd": st.floats(0, 1e-4), "checkpoints": st.floats(1, 1e4),
    }  # fmt: skip
    return {name: amounts[name] for name in names}


TERMS = st.fixed_dictionaries(
    arrays("usd_per_h", "increment_s", "minimum_s", "storage_usd_per_gb_month", "write_usd",
           "in_usd_per_gb")
)  # fmt: skip
USES = st.fixed_dictionaries(
    arrays("machines", "training_h", "startup_h", "interruption_h", "revocations",
           "out_of_memory", "attempt_h", "data_bytes", "checkpoints")
    | {"retry_share": st.floats(0, 3)}
)  # fmt: skip


@given(TERMS, USES)
def test_the_parts_sum_to_the_total_and_none_is_negative(
    terms: dict[str, float], use: dict[str, float]
) -> None:
    bill = bill_columns(BillTerms(**terms), BillUse(checkpoint_bytes=1e12, **use))
    parts = [float(np.nan_to_num(getattr(bill, part.name))) for part in fields(bill)]
    assert min(parts) >= 0
    assert float(bill.total_usd) == pytest.approx(sum(parts))
    rent = use["machines"] * terms["usd_per_h"] * BillUse(**use).hours
    rented = bill.machines_usd + bill.startup_usd + bill.retries_usd + bill.interruptions_usd
    assert float(rented) == pytest.approx(float(rent))


@given(TERMS, USES, st.floats(1, 3))
def test_a_longer_job_never_costs_less(
    terms: dict[str, float], use: dict[str, float], longer: float
) -> None:
    prices, job = BillTerms(**terms), BillUse(checkpoint_bytes=1e12, **use)
    now = bill_columns(prices, job).total_usd
    assert float(total_at(prices, job, job.hours)) == pytest.approx(float(now))
    assert float(total_at(prices, job, job.hours * longer)) >= float(now) * (1 - 1e-9)


@given(
    st.floats(0, 1e5), st.floats(1, 50), st.sampled_from([1.0, 60.0, 3600.0]), st.floats(0, 3600)
)
def test_billed_time_covers_the_time_and_is_whole_increments_or_the_minimum(
    hours: float, leases: float, increment_s: float, minimum_s: float
) -> None:
    billed = float(billed_hours(hours, leases, increment_s, minimum_s))
    assert hours <= billed <= hours + leases * max(increment_s, minimum_s) / 3600 + 1e-9
    each_s = billed * 3600 / leases
    whole = each_s / increment_s
    assert (
        whole == pytest.approx(round(whole), abs=1e-3)
        or each_s == pytest.approx(minimum_s)
        or billed == hours
    )


@pytest.mark.parametrize(
    ("cloud", "instance_type", "rule"),
    [
        ("aws", "p4d.24xlarge", (1, 60)), ("gcp", "a2-highgpu-8g", (1, 60)),
        ("azure", "Standard_ND96isr_H100_v5", (1, 300)), ("lambda", "gpu_8x_h100_sxm5", (60, 60)),
        ("oracle-cloud", "BM.GPU.H100.8", (1, 3600)), ("oracle-cloud", "VM.GPU.A10.1", (1, 60)),
        ("paperspace", "A100-80G", None), ("own", "box", None),
    ],
)  # fmt: skip
def test_each_cloud_bills_by_its_own_rule_and_none_is_made_up(
    catalog: Catalog, cloud: str, instance_type: str, rule: tuple[float, float] | None
) -> None:
    assert catalog.billing_s(cloud, instance_type) == rule
    assert bool(catalog.price_source("billing", cloud)[0]) == (rule is not None)


def test_writes_are_priced_where_a_price_is_known(catalog: Catalog) -> None:
    assert catalog.write_usd("aws") == 0  # operations are in the price of a gp3 volume
    assert catalog.write_usd("gcp") == pytest.approx(0.005 / 1000)
    assert catalog.write_usd("azure") is None
    assert catalog.price_source("writes", "gcp")[0]


def test_every_plan_is_billed_at_its_own_offer(table: Evaluated, catalog: Catalog) -> None:
    plans, bill = table.plans, table.bill
    price = catalog.offers["usd_per_h"].to_numpy()[plans["offer"]]
    rent = (plans["machines"] * price * plans["hours"]).to_numpy()
    other = bill.rounding_usd + bill.failed_usd + np.nan_to_num(bill.storage_usd)
    other = other + np.nan_to_num(bill.writes_usd)
    assert plans["cost_usd"].to_numpy() - other == pytest.approx(rent)
    assert np.isnan(bill.storage_usd).any()
    assert (~np.isnan(bill.storage_usd)).any()
    assert (bill.failed_usd > 0).any()
    assert (bill.traffic_usd == 0).all()
    assert (bill.data_storage_usd == 0).all()


@pytest.fixture(name="with_data", scope="module")
def with_data_fixture(llama: Workload, catalog: Catalog, physics: Physics) -> Evaluated:
    """The same search with 1,000 GB in us-east-1."""
    data = DataSet.at("aws:us-east-1", catalog, 1000.0)
    return evaluate(llama, catalog, physics, SearchOptions(data=data))


def test_data_costs_storage_everywhere_and_traffic_only_from_elsewhere(
    table: Evaluated, with_data: Evaluated, llama: Workload, catalog: Catalog
) -> None:
    plans, bill = with_data.plans, with_data.bill
    here = ((plans["cloud"] == "aws") & (plans["region"] == "us-east-1")).to_numpy()
    west = ((plans["cloud"] == "aws") & (plans["region"] == "us-west-2")).to_numpy()
    assert here.any()
    assert west.any()
    assert (bill.traffic_usd[here] == 0).all()
    there = catalog.egress_usd_per_gb("aws", "us-east-1", "aws", "us-west-2")
    back = catalog.egress_usd_per_gb("aws", "us-west-2", "aws", "us-east-1")
    weights_gb = result_bytes(llama) / 1e9
    assert bill.traffic_usd[west] == pytest.approx(1000 * there + weights_gb * back)
    months = plans["hours"].to_numpy() / 730
    assert bill.data_storage_usd[here] == pytest.approx(1000 * 0.08 * months[here])
    more = np.nan_to_num(bill.data_storage_usd) + np.nan_to_num(bill.traffic_usd)
    assert plans["cost_usd"].to_numpy() == pytest.approx(table.plans["cost_usd"] + more)


def test_what_the_user_pays_for_data_goes_before_the_catalog(
    llama: Workload, catalog: Catalog, physics: Physics
) -> None:
    data = DataSet(gb=10, cloud="azure", region="eastus", transfer_usd_per_gb=0.5,
                   storage_usd_per_gb_month=1.0)  # fmt: skip
    found = evaluate(llama, catalog, physics, SearchOptions(data=data, most_accelerators=8))
    away = ~((found.plans["cloud"] == "azure") & (found.plans["region"] == "eastus")).to_numpy()
    weights_gb = result_bytes(llama) / 1e9
    assert found.bill.traffic_usd[away] == pytest.approx(0.5 * (10 + weights_gb))
    assert found.bill.data_storage_usd == pytest.approx(10 * found.plans["hours"] / 730)


def test_prices_alone_are_no_data(catalog: Catalog) -> None:
    prices = DataSet.stated(catalog, storage_usd_per_gb_month=0.1)
    assert prices is not None
    assert not prices.is_there
    assert DataSet(gb=1).is_there
    assert DataSet.at("aws:us-east-1", catalog, 0.0).is_there  # the weights go back there
    assert DataSet.stated(catalog) is None


def test_traffic_without_a_known_price_is_not_free(catalog: Catalog) -> None:
    prices = transfer_prices(catalog, DataSet(gb=1, cloud="paperspace", region="unspecified"))
    away = (catalog.offers["cloud"] == "aws").to_numpy()
    assert prices["in_usd_per_gb"].to_numpy()[away].size
    assert np.isnan(prices["in_usd_per_gb"].to_numpy()[away]).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("somewhere", "aws:us-east-1"), ("aws:", "aws:us-east-1"),
        ("awz:us-east-1", "aws"), ("aws:us-est-1", "us-east-1"),
    ],
)  # fmt: skip
def test_a_place_of_the_data_that_is_not_known_is_said_with_the_nearest(
    catalog: Catalog, text: str, said: str
) -> None:
    with pytest.raises(AdvisorError, match=said):
        DataSet.at(text, catalog, 1.0)


@pytest.mark.parametrize(
    "wrong", [{"gb": -1.0}, {"gb": np.nan}, {"transfer_usd_per_gb": -0.1}, {"cloud": "aws"}]
)
def test_a_data_set_that_is_not_possible_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(AdvisorError, match="data set"):
        DataSet(**wrong)


@pytest.mark.parametrize(
    ("model", "options", "bytes_per_param"),
    [
        ("llama-2-7b", {"steps": 1}, 14),  # 2 + 4 + 4 + 4
        ("llama-2-7b", {"steps": 1, "precision": "fp32"}, 12),  # 4 + 4 + 4
        ("resnet-50", {"steps": 1}, 10),  # momentum only: 2 + 4 + 4
    ],
)
def test_a_checkpoint_holds_weights_and_optimizer_state(
    model: str, options: dict[str, object], bytes_per_param: float
) -> None:
    workload = zoo.build_workload(zoo.resolve(model), **options)
    assert checkpoint_bytes(workload) == pytest.approx(workload.model.params * bytes_per_param)


@pytest.mark.parametrize("tuning", ["lora", "qlora"])
def test_a_checkpoint_of_adapters_does_not_hold_the_frozen_model(tuning: str) -> None:
    workload = zoo.build_workload(zoo.resolve("llama-2-70b"), steps=1, tuning=tuning)
    assert checkpoint_bytes(workload) == pytest.approx(workload.trainable_params * 14)
    assert checkpoint_bytes(workload) < 0.02 * workload.model.params * 14
