"""The search: every offer, count and layout; what fits, how long, at what price."""
