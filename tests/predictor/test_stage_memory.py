"""Memory of one stage: states, kept micro-batches, the layer at work, logits, context."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.stage_memory import ALONE_BYTES, GROUP_BYTES, stage_memory

sizes = st.floats(0.0, 1e12)


def test_a_published_peak_of_a_middle_stage_is_near() -> None:
    # eth-easl/sailor, plan N4_D1 of the mixed cluster: 7 layers on one of 8 devices, 11 M
    # parameters, three micro-batches of 0.94 GB: 6.23 GB measured.
    found = stage_memory(11.1e6, 16, 0.94e9, 3, 0.134e9, 0.0, 8)
    assert float(found.used_bytes) == pytest.approx(6.23e9, rel=0.03)


@given(params=sizes, kept=sizes, in_flight=st.integers(1, 64), largest=sizes, logits=sizes)
def test_every_further_micro_batch_adds_what_one_keeps(
    params, kept, in_flight, largest, logits
) -> None:
    one = stage_memory(params, 16, kept, in_flight, largest, logits, 1)
    more = stage_memory(params, 16, kept, in_flight + 1, largest, logits, 1)
    grown = float(more.used_bytes - one.used_bytes)
    assert grown == pytest.approx(kept, abs=1e-3 * float(more.used_bytes))
    assert float(one.used_bytes) >= ALONE_BYTES


def test_a_group_of_devices_needs_communicators() -> None:
    found = stage_memory(np.zeros(2), 16, 0.0, 1, 0.0, 0.0, np.array([1, 4]))
    assert found.used_bytes.tolist() == [ALONE_BYTES, GROUP_BYTES]
