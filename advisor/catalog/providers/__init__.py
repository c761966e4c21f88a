"""Sources of prices, one file each, found by walking this package."""
