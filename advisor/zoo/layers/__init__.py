"""What networks are made of, with parameters, FLOPs and kept elements counted."""
