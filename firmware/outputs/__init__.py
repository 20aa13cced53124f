"""The outputs: one file a device; each shows what the alerts decided."""
