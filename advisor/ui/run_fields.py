"""Fields for what a file does not say of its run, and what they make of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

import streamlit as st

from advisor import zoo
from advisor.advice.job_line import parse_job
from advisor.advice.kept_runs import MOST_KEYS, key_of
from advisor.advice.trace_runs import RunFacts, job_of_trace, missing_facts, run_of_trace
from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.domain import Precision
from advisor.search.own_runs import precision_of
from advisor.ui.state import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog import Catalog
    from advisor.domain import Profile
    from advisor.traces import Trace
    from advisor.ui.reads import Upload

# What can be missing, and the title of the field that says it.
TITLES: Final = {
    "the model": "Model",
    "the global batch": "Global batch",
    "the accelerator": "Machines",
    "the number of accelerators": "Machines",
}
NO_STEP: Final = "a step time"
# A trace does not tell how much is to be trained: an assumption to be seen and changed.
TOKENS: Final = "10 B tokens"
STEPS: Final = "100,000 steps"
MOST_LOOKED_AT: Final = 200


def open_fields(upload: Upload, catalog: Catalog) -> tuple[str, ...]:
    """Return which fields a file leaves open, or says in a way that the catalog does not know."""
    looked_at = upload.traces[:MOST_LOOKED_AT]
    missing = {what for trace in looked_at for what in missing_facts(trace, RunFacts())}
    if NO_STEP in missing and len(looked_at) == 1:
        return ()
    titles = {TITLES[what] for what in missing if what in TITLES}
    shown = [name for name, title in
             (("model", "Model"), ("batch", "Global batch"), ("machines", "Machines"))
             if title in titles]  # fmt: skip
    if any(trace.gpu_name and not _is_known(trace.gpu_name, catalog) for trace in looked_at):
        shown.append("accelerator")
    if any(precision_of(trace.precision or "") is None for trace in looked_at):
        shown.append("precision")
    if any(trace.sequence_length is None for trace in looked_at):
        shown.append("size")
    return (*shown, "amount")


def draw_fields(upload: Upload, catalog: Catalog) -> None:
    """Draw the open fields; guesses of the file stand in them and are marked as guesses."""
    names = open_fields(upload, catalog)
    if not names:
        return
    with st.grid(6, min_column_width=140, gap="small", vertical_alignment="bottom"):
        for name in names:
            if name == "accelerator":
                _accelerator_field(upload, catalog)
            else:
                _DRAWN[name](upload)


def _model_field(upload: Upload) -> None:
    st.text_input(_label("Model", upload.guesses.model), value=guessed_model(upload),
                  key=field_key("model", upload), placeholder="llama-2-7b",
                  persist_state="session")  # fmt: skip


def _batch_field(upload: Upload) -> None:
    one = upload.guesses.global_batch
    st.number_input(_label("Global batch", one), min_value=1, key=field_key("batch", upload),
                    value=None if one is None else max(1, round(one.value)),
                    placeholder="not told", persist_state="session")  # fmt: skip


def _machines_field(upload: Upload) -> None:
    st.text_input("Machines", key=field_key("machines", upload), placeholder="1 x p3.8xlarge",
                  persist_state="session")  # fmt: skip


def _accelerator_field(upload: Upload, catalog: Catalog) -> None:
    st.selectbox("Accelerator", sorted(catalog.accelerators.index), index=None,
                 key=field_key("accelerator", upload), placeholder="choose",
                 persist_state="session")  # fmt: skip


def _precision_field(upload: Upload) -> None:
    one, known = upload.guesses.precision, get_args(Precision)
    st.selectbox(_label("Precision", one), known, key=field_key("precision", upload),
                 index=None if one is None else known.index(one.value),
                 placeholder="not told", persist_state="session")  # fmt: skip


def _size_field(upload: Upload) -> None:
    one = upload.guesses.sequence_length
    st.number_input(_label("Sequence or side", one), min_value=1, key=field_key("size", upload),
                    value=None if one is None else one.value, placeholder="usual",
                    persist_state="session")  # fmt: skip


def _amount_field(upload: Upload) -> None:
    st.text_input("To train (assumed)", value=usual_amount(upload),
                  key=field_key("amount", upload), persist_state="session",
                  help="A file does not tell how much is to be trained. Write tokens, epochs, "
                       "steps or samples.")  # fmt: skip


_DRAWN: Final = {
    "model": _model_field,
    "batch": _batch_field,
    "machines": _machines_field,
    "precision": _precision_field,
    "size": _size_field,
    "amount": _amount_field,
}


def _label(title: str, guess: object | None) -> str:
    return title if guess is None else f"{title} :orange[(guess)]"


def field_key(name: str, upload: Upload) -> str:
    """Return the key of a field in the session."""
    return f"{name}_{upload.number}"


def guessed_model(upload: Upload) -> str:
    """Return the guessed model if it is one that the advisor knows, else nothing."""
    value = upload.guesses.model
    return value.value if value is not None and zoo.named(value.value) is not None else ""


def usual_amount(upload: Upload) -> str:
    """Return how much to train where nothing is said."""
    name = upload.traces[0].model or guessed_model(upload)
    architecture = zoo.named(name) if name else None
    language = architecture is not None and architecture.family in ("language", "moe")
    return TOKENS if language else STEPS


def given_fields(upload: Upload) -> dict[str, object]:
    """Return what stands in the fields of a file."""
    return {
        name: st.session_state.get(field_key(name, upload)) for name in (*_DRAWN, "accelerator")
    }


def facts_of(trace: Trace, given: Mapping[str, object], catalog: Catalog) -> RunFacts:
    """Return what the fields say of a run.

    Raises
    ------
    InvalidInputError
        If the model or the machines are not known.
    """
    model = str(given.get("model") or "").strip() or None
    if model is not None:
        zoo.resolve(model, files=False)  # a field of the page opens no files of the server
    elif trace.model and zoo.named(trace.model) is not None:
        model = trace.model
    facts = RunFacts(
        model=model,
        sample_size=_whole(given.get("size")),
        global_batch=_whole(given.get("batch")),
        precision=str(given.get("precision") or "") or None,
    )
    machines = str(given.get("machines") or "").strip()
    return facts.on(machines, catalog) if machines else facts


def runs_of_upload(
    upload: Upload, given: Mapping[str, object], catalog: Catalog, most: int | None = None
) -> list[Profile]:
    """Return the measured runs of a file, as the fields complete it.

    Raises
    ------
    InvalidInputError
        If something is missing or not known; the message speaks of the fields of the page.
    """
    found = []
    for index, one in enumerate(upload.traces[:most], start=1):
        trace = _with_accelerator(one, given, catalog)
        where = upload.name if len(upload.traces) == 1 else f"{upload.name}, run {index}"
        facts = facts_of(trace, given, catalog)
        missing = missing_facts(trace, facts)
        if missing:
            raise _missing(missing, where)
        found.append(run_of_trace(trace, facts, catalog, where=where))
    return found


def _with_accelerator(trace: Trace, given: Mapping[str, object], catalog: Catalog) -> Trace:
    """Return a trace with the accelerator that the user chose for a name nobody knows."""
    chosen = given.get("accelerator")
    if not chosen or (trace.gpu_name and _is_known(trace.gpu_name, catalog)):
        return trace
    return trace.model_copy(update={"gpu_name": str(chosen)})


def _is_known(accelerator: str, catalog: Catalog) -> bool:
    try:
        catalog.accelerator_name(accelerator)
    except InvalidInputError:
        return False
    return True


def inputs_from(
    upload: Upload, runs: list[Profile], given: Mapping[str, object], catalog: Catalog
) -> Inputs:
    """Return what Advise is asked: the job of the file, calibrated by its runs.

    Raises
    ------
    InvalidInputError
        If the model is not known, or what is to be trained is not understood.
    """
    trace = upload.traces[0]
    try:
        job = job_of_trace(trace, facts_of(trace, given, catalog), where=upload.name)
    except InvalidInputError as error:
        raise InvalidInputError(
            error.what, where=error.where, todo="Keep the run, and state the job on Advise."
        ) from None
    amount = str(given.get("amount") or "").strip()
    try:
        stated = parse_job(f"{job.line()} · {amount}")
        stated.job.workload()
    except AdvisorError as error:
        raise InvalidInputError(error.what, where="to train", todo=error.todo) from None
    keys = tuple(key_of(run) for run in runs[:MOST_KEYS])
    limits = Inputs(deadline_h=stated.deadline_h, budget_usd=stated.budget_usd)
    return replace(limits, job=stated.job.line(), runs=keys)


def _missing(missing: tuple[str, ...], where: str) -> InvalidInputError:
    if NO_STEP in missing:
        return InvalidInputError(
            "the file holds no step time, so nothing can be calibrated by it.",
            where=where,
            todo="Upload a trace or log of several steps of the same run.",
        )
    titles = list(dict.fromkeys(TITLES[what] for what in missing))
    return InvalidInputError(
        f"the file does not say {' and '.join(missing)}.",
        where=where,
        todo=f"Fill in {' and '.join(titles)}.",
    )


def _whole(value: object) -> int | None:
    return round(value) if isinstance(value, int | float) and value else None
