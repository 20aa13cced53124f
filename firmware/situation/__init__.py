"""What holds now: the last word of each sense, the date, the sky, whose law."""
