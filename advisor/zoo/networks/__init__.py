"""Convolutional networks, written as the layers they add to a counter."""
