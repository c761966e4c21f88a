"""The accuracy boards: tables of measured runs with a protocol, split by whole groups."""
