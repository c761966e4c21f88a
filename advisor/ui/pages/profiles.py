"""Profiles: files of runs are read, kept, and advised from; below is the store."""

from __future__ import annotations

import streamlit as st

from advisor.core.errors import AdvisorError
from advisor.ui import notices
from advisor.ui.reads import Upload
from advisor.ui.run_card import keep_all, show_upload
from advisor.ui.store_panel import show_store
from advisor.ui.uploads import drop_all, drop_zone, uploads, watch


def account(files: list[Upload]) -> None:
    """Say how many files were read, and offer to keep all of them."""
    bad = sum(one.error is not None for one in files)
    said = f"**{len(files):,} file{'s' * (len(files) > 1)}**"
    if bad:
        said += f": {len(files) - bad:,} read, :red[{bad:,} not]"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="account"):
        st.markdown(said, width="content")
        if len(files) - bad > 1:
            st.button("Keep all", key="keep_all", icon=":material/save:", on_click=keep_all)
        st.button("Clear the list", key="clear_uploads", type="tertiary", on_click=drop_all)


def nothing_uploaded() -> None:
    """Say what a file gives."""
    st.markdown(
        ":gray[Each file becomes a card: model, accelerators, step time, what holds the run up. "
        "*Keep* it as your own run, or *Advise from this* to get plans calibrated by it. Names of "
        "people, hosts and folders are not kept.]"
    )


st.markdown("# Profiles", anchors=False)
try:
    bars = drop_zone()
    files = uploads()
    if files:
        account(files)
        for one in files:
            show_upload(one)
    else:
        nothing_uploaded()
    show_store()
    watch(bars)
except AdvisorError as error:
    notices.not_understood(error)
