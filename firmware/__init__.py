"""The unit: sources give readings, rules judge them, findings become alerts, alerts warn."""

__version__ = "0.1.0"
__released__ = "2026-11-30"
