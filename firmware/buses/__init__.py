"""The wires: one door to each vendor library, each with its fake beside it."""
