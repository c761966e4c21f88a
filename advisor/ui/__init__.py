"""The Streamlit app: pages, charts, the address of a job."""
