"""The configuration: what may stand in `sledwarden.toml`, and what is wrong with it."""
