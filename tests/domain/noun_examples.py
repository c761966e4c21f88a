"""One plain example of every noun, and what may not be in it."""

from __future__ import annotations

import datetime as dt

from advisor.domain import (
    Accelerator,
    Advice,
    Alternative,
    Bill,
    Binding,
    BreakEven,
    Calibrated,
    Change,
    Choice,
    Cluster,
    Credits,
    Duel,
    Effect,
    Estimate,
    Explanation,
    Flip,
    Forecast,
    InstanceType,
    Interruptions,
    Layout,
    MemoryUse,
    Model,
    NearRun,
    NodeGroup,
    Offer,
    Option,
    OwnRun,
    OwnRuns,
    OwnShare,
    Plan,
    PlanDifference,
    Probe,
    ProbeRun,
    Probes,
    Profile,
    Proposal,
    Provenance,
    Quota,
    StepParts,
    Swing,
    UnusedRun,
    Workload,
)
from advisor.domain.advice import Pick

MODEL = Model(
    name="toy", family="language", params=1e9, active_params=1e9, layers=4, hidden=64, heads=4,
    kv_heads=2, vocab=1000, tokens_per_sample=128, forward_flops_per_sample=2e12,
    attention_flops_per_sample=1e11, activation_elements_per_sample=1e6,
    boundary_elements_per_sample=1e4,
)  # fmt: skip
WORKLOAD = Workload(
    model=MODEL, samples=1000, global_batch=64, precision="bf16", trainable_params=1e9,
    assumptions=("optimizer adamw",),
)  # fmt: skip
GROUP = NodeGroup(
    cloud="aws", instance_type="p4d.24xlarge", region="us-east-1", count=2,
    accelerator="A100-40GB", accelerators_per_node=8,
)  # fmt: skip
CLUSTER = Cluster(groups=(GROUP,))
LAYOUT = Layout(data_parallel=8, tensor_parallel=2, micro_batch=2, accumulation=4)
OFFER = Offer(
    cloud="aws", instance_type="p4d.24xlarge", region="us-east-1", market="spot", usd_per_h=9.83,
    source="price list", as_of=dt.date(2026, 7, 20), flags=("stale", "derived_spot"),
)  # fmt: skip
STEP = Estimate(value=2.0, low=1.5, high=2.5, unit="s", basis="interpolated")
PARTS = StepParts(
    compute_s=1.25, exposed_communication_s=0.5, bubble_s=0.0, overhead_s=0.25, correction=0.9
)
MEMORY = MemoryUse(
    parameters_bytes=2e9, gradients_bytes=2e9, optimizer_bytes=12e9, activations_bytes=3e9,
    workspace_bytes=1e9, capacity_bytes=40e9, out_of_memory_probability=0.01,
)  # fmt: skip
BILL = Bill(machines_usd=100.0, startup_usd=2.5, retries_usd=10.0, storage_usd=0.25)
CREDITS = Credits.of_bill(
    Estimate(value=112.75, low=90, high=140, unit="USD", basis="interpolated"), 100.0
)  # fmt: skip
INTERRUPTIONS = Interruptions(
    expected=0.4, none_probability=0.7, added_h=1.2, checkpoint_every_h=0.5, basis="a band",
)  # fmt: skip
PROBE_RUN = ProbeRun(cluster=CLUSTER, offer=OFFER, duration_s=300.0, wait_s=120.0, cost_usd=4.5)
PROBE = Probe(runs=(PROBE_RUN,), regret_usd=20.0, wrong_probability=0.2, pays=True)
PROBES = Probes(regret_usd=50.0, wrong_probability=0.4, plans=12, probes=(PROBE,))
PLAN = Plan(
    cluster=CLUSTER, layout=LAYOUT, offer=OFFER, step_time_s=STEP,
    hours=Estimate(value=10, low=8, high=13, unit="h", basis="interpolated"),
    cost_usd=Estimate(value=112.75, low=90, high=140, unit="USD", basis="interpolated"),
    steps=16, parts=PARTS, memory=MEMORY, bill=BILL, mfu=0.4, deadline_probability=0.9,
    catalog_hash="c", data_hash="d", advisor_version="0.1.0",
)  # fmt: skip
OWN_RUN = OwnRun(
    model="toy", accelerator="A100-40GB", accelerators=8, global_batch=64, measured_s=2.5,
    predicted_s=2.0, source="own trace",
)  # fmt: skip
NEAR_RUN = NearRun(
    source="MLPerf", model="toy", accelerator="A100-40GB", accelerators=8, global_batch=64,
    measured_s=2.5, predicted_s=2.4, distance=0.5, nearness="very near", differs=("model",),
)  # fmt: skip
OWN_SHARE = OwnShare(run=OWN_RUN, likeness="same job", factor=1.25)
EXPLANATION = Explanation(
    physics_s=1.6 / 0.9, learned_factor=0.9, own_factor=1.25, step_s=2.0, parts=PARTS,
    distance=0.5, nearness="very near", kept_share=0.99, nearest=(NEAR_RUN,),
    own_runs=(OWN_SHARE,),
)  # fmt: skip
CALIBRATED = Calibrated(
    step_time_before_s=STEP, hours_before=STEP.model_copy(update={"unit": "h"}), factor=1.2,
    runs=3, likeness="same model and accelerator",
)  # fmt: skip
NOUNS = (
    MODEL, WORKLOAD, GROUP, CLUSTER, LAYOUT, OFFER, STEP, PARTS, MEMORY, BILL, PLAN,
    INTERRUPTIONS, CREDITS,
    Accelerator(
        name="A100-40GB", vendor="NVIDIA", architecture="Ampere", family="Ampere", year=2020,
        memory_bytes=40e9, memory_bytes_per_s=1.56e12, peak_flops={"bf16": 312e12, "fp32": 19.5e12},
        link="NVLink3", link_bytes_per_s=300e9, source="data sheet",
    ),
    InstanceType(
        cloud="aws", name="p4d.24xlarge", accelerator="A100-40GB", accelerators=8,
        accelerator_memory_bytes=40e9, link_bytes_per_s=300e9, source="table",
    ),
    Provenance(source="MLPerf", collected=dt.date(2025, 1, 2)),
    Profile(
        model="toy", family="language", accelerator="A100-40GB", accelerators=8, step_time_s=0.5,
        global_batch=64, provenance=Provenance(source="MLPerf"),
    ),
    OWN_RUN, CALIBRATED, UnusedRun(name="toy", reason="no batch"),
    OwnRuns(used=(OWN_RUN,), unused=(UnusedRun(name="toy", reason="no batch"),)),
    Forecast(
        accelerator="A100-40GB", accelerators=16, machines=2, layout=LAYOUT, steps=16,
        step_time_s=STEP, hours=STEP, accelerator_hours=STEP, parts=PARTS, memory=MEMORY, mfu=0.4,
    ),
    Pick(plan=PLAN, reason="Lowest bill.", saving_usd=-3.0, saving_hours=1.5),
    Advice(
        workload=WORKLOAD, picks={"cheapest": Pick(plan=PLAN, reason="Lowest bill.")},
        pareto=(PLAN,), candidates_considered=10, removed_by={"memory": 3},
        catalog={"hash": "c", "offers": 5}, predictor={"version": "0.1.0"}, probes=PROBES,
        limits={"deadline_h": 72.0, "markets": ["spot"]}, runners_up={"cheapest": PLAN},
    ),
    Alternative(name="runner-up", plan=PLAN),
    Change(cause="job", name="samples", before="1,000", after="2,000"),
    Effect(cause="prices", usd=-12.5, reason="cheaper"),
    PlanDifference(
        before_usd=100, after_usd=87.5,
        changes=(Change(cause="prices", name="catalog", before="a", after=""),),
        effects=(Effect(cause="prices", usd=-12.5, reason="cheaper"),), notes=("a note",),
    ),
    Proposal(
        plan_id=PLAN.id, plan=PLAN, workload=WORKLOAD, pick="cheapest", reason="Lowest bill.",
        limits={"deadline_h": 72.0, "clouds": None}, made_on=dt.date(2026, 7, 20),
        alternatives=(Alternative(name="runner-up", plan=PLAN),), catalog={"hash": "c"},
    ),
    Quota(name="P", cloud="aws", instance_types=("p4d.24xlarge",), unit="vcpus", most=96),
    PROBE_RUN, PROBE, PROBES,
    NEAR_RUN, OWN_SHARE, EXPLANATION,
)  # fmt: skip
OPTION = Option(cluster=CLUSTER, market="spot", cost_usd=100.0, hours=10.0)
FLIP = Flip(change="Price above $9/h", now="now $8/h", by="+12 %", then=OPTION)
SWING = Swing(assumption="price", low="$7/h", high="$9/h", low_usd=90, high_usd=120, overtaken=True)
BREAK_EVEN = BreakEven(
    assumption="step time", factor=(0.9, 1.1), chosen_usd=(90.0, 110.0), rival_usd=105.0, low=0.95,
    high=1.05, crossing=1.05,
)  # fmt: skip
BINDING = Binding(limit="deadline_h", saving_usd=20.0, saving_hours=-3.0, then=OPTION)
DUEL = Duel(other=OPTION, beats_probability=0.6, regret_usd=12.0)
CHOICE = Choice(
    chosen=OPTION, why=("It is the only plan within the limits.",), rival=None, bindings=(BINDING,),
    flips=(FLIP,), swings=(SWING,), break_evens=(BREAK_EVEN,), cheapest_probability=0.4,
    regret_usd=9.0, duels=(DUEL,), robust=OPTION, robust_regret_usd=9.0, considered=12,
)  # fmt: skip
NOUNS += (OPTION, FLIP, SWING, BREAK_EVEN, BINDING, DUEL, CHOICE)
# What breaks an example: (noun, field or fields, value).
BROKEN = (
    (MODEL, "params", -1.0), (MODEL, "params", 1e16), (MODEL, "layers", 0), (MODEL, "name", ""),
    (MODEL, "family", "alchemy"), (MODEL, "tokens_per_sample", 0), (MODEL, "heads", -1),
    (MODEL, "layers", 2.5), (MODEL, "forward_flops_per_sample", 0),
    (WORKLOAD, "samples", 0), (WORKLOAD, "samples", -5), (WORKLOAD, "samples", 1e19),
    (WORKLOAD, "global_batch", 0), (WORKLOAD, "global_batch", 1.5),
    (WORKLOAD, "precision", "int1"), (WORKLOAD, "optimizer", "magic"),
    (WORKLOAD, "trainable_params", 0),
    (GROUP, "count", 0), (GROUP, "accelerators_per_node", 0), (CLUSTER, "groups", ()),
    (LAYOUT, "data_parallel", 0), (LAYOUT, "tensor_parallel", -2), (LAYOUT, "zero_stage", 4),
    (LAYOUT, "micro_batch", 0), (LAYOUT, "recompute", "some"),
    (OFFER, "usd_per_h", 0), (OFFER, "usd_per_h", -1), (OFFER, "market", "auction"),
    (OFFER, "flags", ("shiny",)), (OFFER, "as_of", "yesterday"),
    (STEP, "value", -1), (STEP, "level", 1.0), (STEP, "basis", "guessed"),
    (PARTS, "compute_s", -1), (PARTS, "correction", 0),
    (MEMORY, "capacity_bytes", 0), (MEMORY, "out_of_memory_probability", 1.5),
    (BILL, "machines_usd", -1), (BILL, "storage_usd", -0.01),
    (CREDITS, "available_usd", 0),
    (INTERRUPTIONS, "expected", -1), (INTERRUPTIONS, "none_probability", 1.1),
    (INTERRUPTIONS, "checkpoint_every_h", 0), (INTERRUPTIONS, "basis", ""),
    (OWN_RUN, "measured_s", 0), (CALIBRATED, "factor", 0), (CALIBRATED, "runs", 0),
    (CALIBRATED, "likeness", "none"),
    (NEAR_RUN, "measured_s", 0), (NEAR_RUN, "distance", -1), (NEAR_RUN, "nearness", "there"),
    (NEAR_RUN, "differs", ("colour",)), (OWN_SHARE, "factor", 0),
    (EXPLANATION, "kept_share", 1.1),
    (PROBE_RUN, "duration_s", 0), (PROBE_RUN, "cost_usd", -1), (PROBE, "runs", ()),
    (PROBES, "wrong_probability", 1.1), (PROBES, "plans", 0),
    (OPTION, "hours", 0), (OPTION, "cost_usd", -1), (SWING, "assumption", "weather"),
    (BREAK_EVEN, "low", 0), (BREAK_EVEN, "rival_usd", -1), (BREAK_EVEN, "crossing", 0),
    (DUEL, "beats_probability", 1.1), (CHOICE, "considered", 0), (CHOICE, "regret_usd", -1),
    (PLAN, "mfu", 1.2), (PLAN, "steps", 0), (PLAN, "deadline_probability", 1.1),
)  # fmt: skip
