"""The glass: the picture in front of the rider, and the panels that show it."""
