"""Recordings, and the judging core over them."""
