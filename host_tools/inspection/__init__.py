"""The inspection of a vehicle: what the packs ask of a person, judged, kept and signed."""
