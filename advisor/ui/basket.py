"""The plans chosen for comparison: kept in the session and in the address."""

from __future__ import annotations

from typing import Final

import streamlit as st

from advisor.advice.plans import KEY_SEPARATOR

MOST: Final = 5
FEWEST: Final = 2
PARAMETER: Final = "compare"


def clean(keys: list[str]) -> list[str]:
    """Return the keys that can be plans, each once, not more than fit side by side."""
    return [key for key in dict.fromkeys(keys) if KEY_SEPARATOR in key][:MOST]


def chosen() -> list[str]:
    """Return the keys of the chosen plans: the address wins over the session."""
    listed = clean(st.query_params.get_all(PARAMETER))
    if listed:
        st.session_state[PARAMETER] = listed
    return list(st.session_state.get(PARAMETER, []))


def add(*keys: str) -> None:
    """Choose plans (a callback); says so where more are chosen than fit side by side."""
    wanted = list(dict.fromkeys([*chosen(), *keys]))
    if len(wanted) > MOST:
        st.toast(
            f"{MOST} plans fit side by side. Remove one to add another.", icon=":material/info:"
        )
    _set(clean(wanted))


def remove(key: str) -> None:
    """Take a plan out (a callback)."""
    _set([other for other in chosen() if other != key])


def toggle(key: str) -> None:
    """Choose a plan, or take it out again (a callback)."""
    if key in chosen():
        remove(key)
    else:
        add(key)


def clear() -> None:
    """Take all plans out (a callback)."""
    _set([])


def _set(keys: list[str]) -> None:
    st.session_state[PARAMETER] = keys
    if keys:
        st.query_params[PARAMETER] = keys
    else:
        st.query_params.pop(PARAMETER, None)


def short_name(key: str) -> str:
    """Return what people call the plan of a key: machines, region, market.

    >>> short_name("aws~p5.48xlarge~us-east-1~spot~8")
    '8 × p5.48xlarge, us-east-1, spot'
    """
    parts = key.split(KEY_SEPARATOR)
    if len(parts) != 5:
        return key
    _, instance_type, region, market, count = parts
    return f"{count} × {instance_type}, {region}, {market.replace('_', '-')}"


def toggle_button(key: str, where: str, *, icon_only: bool = False) -> None:
    """Draw the button that adds a plan to the comparison or takes it out."""
    inside = key in chosen()
    label = "In comparison" if inside else "Add to compare"
    st.button(
        "" if icon_only else label, key=f"compare_{where}", on_click=toggle, args=(key,),
        icon=":material/check:" if inside else ":material/add:", help=label if icon_only else None,
    )  # fmt: skip


def show_basket() -> None:
    """Draw the chosen plans with the way to their comparison; nothing where none is chosen."""
    keys = chosen()
    if not keys:
        return
    with st.container(border=True, horizontal=True, gap="xsmall", vertical_alignment="center",
                      key="basket"):  # fmt: skip
        st.markdown(f"**To compare: {len(keys)} of {MOST}**", width="content")
        for key in keys:
            st.button(short_name(key), key=f"drop_{key}", icon=":material/close:",
                      help="Take out of the comparison", on_click=remove, args=(key,))  # fmt: skip
        st.button("Clear", key="basket_clear", type="tertiary", on_click=clear)
        if len(keys) >= FEWEST:
            # A link: a script may not leave a page whose widgets the address holds.
            st.page_link("advisor/ui/pages/compare.py", label="**Compare**",
                         icon=":material/compare_arrows:",
                         query_params={PARAMETER: keys})  # fmt: skip
