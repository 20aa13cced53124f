"""The desk's end of a unit's service port."""
