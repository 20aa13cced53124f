"""The unit: sources give readings, rules judge them, findings become alerts, alerts warn."""

__version__ = "0.1.0"
