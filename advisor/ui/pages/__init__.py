"""Pages: plain scripts that Streamlit runs."""
