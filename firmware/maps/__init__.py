"""Zone packs on the unit: what lies near a position, and how far."""
