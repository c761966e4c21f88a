"""Ways to run a job on machines that differ."""
