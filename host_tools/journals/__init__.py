"""Journals at a desk: found, kept, proved, judged again, read into a ride."""
