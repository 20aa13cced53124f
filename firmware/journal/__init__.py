"""The journal: what was read, found and said, kept and sealed."""
