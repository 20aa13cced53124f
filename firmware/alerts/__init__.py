"""What becomes of findings: the table of alerts, those that stand, events, pulls."""
