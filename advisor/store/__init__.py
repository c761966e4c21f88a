"""The store of measured runs and saved plans; nothing is lost on a crash.

Adding runs is idempotent, queries return frames, edits can be undone.

>>> import tempfile
>>> from advisor.domain import Profile, Provenance
>>> run = Profile(
...     model="ResNet-50", family="cnn", accelerator="V100", accelerators=8, step_time_s=0.31,
...     provenance=Provenance(source="my cluster"),
... )
>>> with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/a.db") as store:
...     print(store.add([run, run]))
...     print(store.profiles(model="ResNet-50")["step_time_s"].tolist())
AddResult(added=1, known=1, deleted=0, corrected=0, outliers=0)
[0.31]
"""

from advisor.store.backup_format import BackupSummary
from advisor.store.profiles import AddResult, Origin, OwnChanges, SeedResult
from advisor.store.records import Edit, FinishedRun, SavedPlan
from advisor.store.seeding import seed
from advisor.store.snapshots import Snapshot
from advisor.store.store import Store

__all__ = [
    "AddResult",
    "BackupSummary",
    "Edit",
    "FinishedRun",
    "Origin",
    "OwnChanges",
    "SavedPlan",
    "SeedResult",
    "Snapshot",
    "Store",
    "seed",
]
