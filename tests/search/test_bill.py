"""The bill, against amounts worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_fixtures import (  # noqa: F401 - fixtures
    catalog_fixture,
    llama_fixture,
    physics_fixture,
    table_fixture,
)

from advisor import zoo
from advisor.catalog import Catalog
from advisor.search.bill import bill_columns, checkpoint_bytes
from advisor.search.search import Evaluated

# machines, USD/h, training h, start-up h, retry share, checkpoint GB, USD/GB-month; no interruption
# → machines, start-up, retries, storage (None: no price), total
WORKED = [
    # 1 × 10 × 10
    ((1, 10.0, 10.0, 0.0, 0.0, 0.0, None), (100.00, 0.00, 0.00, None, 100.00)),
    # 4 × 21.96 × 26 = 2283.84; 4 × 21.96 × 0.1 = 8.784
    ((4, 21.96, 26.0, 0.1, 0.0, 0.0, None), (2283.84, 8.78, 0.00, None, 2292.62)),
    # 2 × 32.77 × 50 = 3277; × 0.2 h = 13.108; a tenth of 3277
    ((2, 32.77, 50.0, 0.2, 0.1, 0.0, None), (3277.00, 13.11, 327.70, None, 3617.81)),
    # a month of two checkpoints of 100 GB at 0.10: 2 × 100 × 0.10 = 20
    ((1, 1.0, 730.0, 0.0, 0.0, 100.0, 0.10), (730.00, 0.00, 0.00, 20.00, 750.00)),
    # storage is paid through retries too: 365 × 2 = 730 h
    ((1, 1.0, 365.0, 0.0, 1.0, 100.0, 0.10), (365.00, 0.00, 365.00, 20.00, 750.00)),
    # and while machines start: 72 + 1 = 73 h are a tenth of a month
    ((8, 12.25, 72.0, 1.0, 0.0, 94.34, 0.08), (7056.00, 98.00, 0.00, 1.51, 7155.51)),
    # a spot machine for minutes: 0.5 × 0.75 = 0.375, start-up 0.5 × 0.25 = 0.125
    ((1, 0.5, 0.75, 0.25, 0.0, 0.0, None), (0.38, 0.13, 0.00, None, 0.50)),
    # 128 × 98.32 × 1.5 = 18877.44; 128 × 98.32 × 0.05 = 629.248; 5 % of 18877.44 = 943.872
    ((128, 98.32, 1.5, 0.05, 0.05, 0.0, None), (18877.44, 629.25, 943.87, None, 20450.56)),
    # 3 × 3.06 × 100 = 918; 3 × 3.06 × 0.5 = 4.59; half of 918; 150.5 h of 2 × 1.4 GB at 0.05
    ((3, 3.06, 100.0, 0.5, 0.5, 1.4, 0.05), (918.00, 4.59, 459.00, 0.03, 1381.62)),
    # a price of zero is known: nothing to pay is not the same as not available
    ((2, 2.0, 2.0, 0.0, 0.0, 500.0, 0.0), (8.00, 0.00, 0.00, 0.00, 8.00)),
]


@pytest.mark.parametrize(("given_numbers", "expected"), WORKED)
def test_worked_examples_agree_to_the_cent(
    given_numbers: tuple[float, ...], expected: tuple[float | None, ...]
) -> None:
    machines, usd_per_h, training_h, startup_h, retries, stored_gb, storage_price = given_numbers
    bill = bill_columns(
        machines=np.array([float(machines)]),
        usd_per_h=np.array([usd_per_h]),
        training_h=np.array([training_h]),
        startup_h=np.array([startup_h]),
        interruption_h=np.zeros(1),
        retry_share=retries,
        checkpoint_bytes=stored_gb * 1e9,
        storage_usd_per_gb_month=np.array([np.nan if storage_price is None else storage_price]),
    )
    found = (bill.machines_usd, bill.startup_usd, bill.retries_usd, bill.storage_usd,
             bill.total_usd)  # fmt: skip
    for part, cents in zip(found, expected, strict=True):
        if cents is None:
            assert np.isnan(part[0])
        else:
            assert part[0] == pytest.approx(cents, abs=0.005 + 1e-9)


@given(
    st.lists(
        st.tuples(st.integers(1, 512), st.floats(0.01, 500), st.floats(1e-3, 1e5),
                  st.floats(0, 2), st.floats(0, 1e4), st.floats(0, 1) | st.just(float("nan"))),
        min_size=1, max_size=8,
    ),
    st.floats(0, 3),
)  # fmt: skip
def test_the_parts_sum_to_the_total(rows: list[tuple[float, ...]], retries: float) -> None:
    machines, usd_per_h, training_h, startup_h, lost_h, storage = np.array(rows, dtype=float).T
    bill = bill_columns(
        machines=machines, usd_per_h=usd_per_h, training_h=training_h, startup_h=startup_h,
        interruption_h=lost_h, retry_share=retries, checkpoint_bytes=1e12,
        storage_usd_per_gb_month=storage,
    )  # fmt: skip
    stored = np.nan_to_num(bill.storage_usd)
    rent = bill.machines_usd + bill.startup_usd + bill.retries_usd + bill.interruptions_usd
    assert bill.total_usd == pytest.approx(rent + stored)
    hours = training_h * (1 + retries) + startup_h + lost_h
    assert rent == pytest.approx(machines * usd_per_h * hours)


def test_every_plan_is_billed_at_its_own_offer(table: Evaluated, catalog: Catalog) -> None:
    plans = table.plans
    price = catalog.offers["usd_per_h"].to_numpy()[plans["offer"]]
    rent = plans["machines"] * price * plans["hours"]
    assert (plans["cost_usd"] - np.nan_to_num(table.bill.storage_usd)).to_numpy() == pytest.approx(
        rent.to_numpy()
    )
    assert np.isnan(table.bill.storage_usd).any()
    assert (~np.isnan(table.bill.storage_usd)).any()


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
