"""A ride in other tools' formats, one file a format; each has `write(ride, path)`."""
