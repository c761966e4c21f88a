"""One file per format; see `advisor.traces.reader`."""
