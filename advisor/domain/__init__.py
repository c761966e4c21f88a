"""The nouns: frozen, with units in the field names, readable from and writable to JSON."""

from advisor.domain.advice import Advice
from advisor.domain.calibration import Calibrated, Likeness, OwnRun, OwnRuns, UnusedRun
from advisor.domain.choice import Binding, BreakEven, Choice, Duel, Flip, Option, Swing
from advisor.domain.cluster import Cluster, NodeGroup
from advisor.domain.credits import Credits
from advisor.domain.difference import Change, Effect, PlanDifference
from advisor.domain.estimate import Basis, Estimate
from advisor.domain.explanation import Difference, Explanation, Nearness, NearRun, OwnShare
from advisor.domain.forecast import Forecast
from advisor.domain.hardware import (
    Accelerator,
    InstanceType,
    Market,
    Offer,
    TrustFlag,
    Vendor,
)
from advisor.domain.interruptions import Interruptions
from advisor.domain.layout import Layout, Recompute
from advisor.domain.plan import Bill, MemoryUse, Plan, StepParts
from advisor.domain.probes import Probe, ProbeRun, Probes
from advisor.domain.profile import Profile, Provenance
from advisor.domain.proposal import Alternative, Proposal
from advisor.domain.quota import Quota
from advisor.domain.workload import Family, Model, Optimizer, Precision, Tuning, Workload

__all__ = [
    "Accelerator",
    "Advice",
    "Alternative",
    "Basis",
    "Bill",
    "Binding",
    "BreakEven",
    "Calibrated",
    "Change",
    "Choice",
    "Cluster",
    "Credits",
    "Difference",
    "Duel",
    "Effect",
    "Estimate",
    "Explanation",
    "Family",
    "Flip",
    "Forecast",
    "InstanceType",
    "Interruptions",
    "Layout",
    "Likeness",
    "Market",
    "MemoryUse",
    "Model",
    "NearRun",
    "Nearness",
    "NodeGroup",
    "Offer",
    "Optimizer",
    "Option",
    "OwnRun",
    "OwnRuns",
    "OwnShare",
    "Plan",
    "PlanDifference",
    "Precision",
    "Probe",
    "ProbeRun",
    "Probes",
    "Profile",
    "Proposal",
    "Provenance",
    "Quota",
    "Recompute",
    "StepParts",
    "Swing",
    "TrustFlag",
    "Tuning",
    "UnusedRun",
    "Vendor",
    "Workload",
]
