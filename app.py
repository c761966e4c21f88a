"""The advisor in the browser: page set-up and navigation.

``streamlit run`` imports this file once for the server, and runs it for every change of a page.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from advisor.ui.state import asset

if get_script_run_ctx(suppress_warning=True) is None:
    from advisor.ui.traces_api import trace_routes

    app = st.App(__file__, routes=trace_routes())
else:
    st.set_page_config(
        page_title="Advisor",
        page_icon=asset("icon.png"),
        layout="wide",
        initial_sidebar_state=248,
    )
    st.logo(asset("logo.svg"), icon_image=asset("icon.png"))
    pages = [
        st.Page("advisor/ui/pages/advise.py", title="Advise", url_path="advise", default=True),
        st.Page("advisor/ui/pages/compare.py", title="Compare", url_path="compare"),
        st.Page("advisor/ui/pages/profiles.py", title="Profiles", url_path="profiles"),
        st.Page("advisor/ui/pages/plans.py", title="Plans", url_path="plans"),
        st.Page("advisor/ui/pages/spot.py", title="Spot", url_path="spot"),
        st.Page("advisor/ui/pages/catalog.py", title="Catalog", url_path="catalog"),
        st.Page("advisor/ui/pages/accuracy.py", title="Accuracy", url_path="accuracy"),
    ]
    st.navigation(pages, position="top").run()
