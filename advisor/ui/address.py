"""The inputs of a job in an address, in a session, and back."""

from __future__ import annotations

import streamlit as st

from advisor.ui.state import (
    CHOICE_TITLES,
    Inputs,
    address_values,
    inputs_of,
    session_values,
)

Address = dict[str, str | list[str]]


def widget_values(inputs: Inputs) -> dict[str, object]:
    """Return the inputs as the values of their widgets, by key."""
    return {
        "job": inputs.job,
        "deadline": inputs.deadline_h,
        "budget": inputs.budget_usd,
        "chance": round(100 * inputs.chance),
        "markets": list(inputs.markets),
        "clouds": list(inputs.clouds),
        "areas": list(inputs.areas),
        "families": list(inputs.families),
        "machines": inputs.machines,
        "retries": inputs.retries,
        "today": inputs.today,
        "runs": list(inputs.runs),
        **inputs.more.widget_values(),
    }


def address_of(inputs: Inputs) -> Address:
    """Return the inputs as an address holds them; what has its default is left out."""
    usual = widget_values(Inputs())
    address: Address = {}
    for name, value in widget_values(inputs).items():
        if value is None or value == usual[name]:
            continue
        if isinstance(value, list):
            titles = CHOICE_TITLES.get(name, {})
            address[name] = [titles.get(choice, str(choice)) for choice in value]
        elif isinstance(value, bool):
            address[name] = str(value).lower()
        else:
            address[name] = f"{value:.15g}" if isinstance(value, float) else str(value)
    return address


def restore(inputs: Inputs) -> None:
    """Put the inputs into the session, where the widgets of the Advise page find them."""
    st.session_state["visited"] = True
    for name, value in widget_values(inputs).items():
        st.session_state[name] = value


def open_advise(inputs: Inputs) -> None:
    """Leave for the Advise page with these inputs and no others.

    What the session holds of its widgets is forgotten: the address says all.
    """
    st.session_state["visited"] = True
    for name in widget_values(inputs):
        st.session_state.pop(name, None)
    st.switch_page("advisor/ui/pages/advise.py", query_params=address_of(inputs))


def current_inputs() -> Inputs:
    """Return the job and its limits on a page without their widgets.

    A shared link holds them and wins; otherwise they are those of the session.
    """
    if st.query_params.get("job"):
        inputs = inputs_of(address_values())
        restore(inputs)
        return inputs
    return inputs_of(session_values())


def write_address(address: Address) -> None:
    """Make the address of the page say this, so that copying it reopens the page."""
    wanted = {
        name: value if isinstance(value, list) else [value] for name, value in address.items()
    }
    if {name: st.query_params.get_all(name) for name in st.query_params} != wanted:
        st.query_params.from_dict(address)
