"""Rides as text: the `.drive` script, and the world that it plays."""
