"""The inputs: one file a device; each turns what it senses into readings."""
