"""The judges: one file a kind of clause; each is a pure function with its memory passed in."""
