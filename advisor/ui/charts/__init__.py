"""Charts: for each a tested data function and a thin drawing function."""
