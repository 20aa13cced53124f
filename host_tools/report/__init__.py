"""A ride as one page: a template, its style and script, and the code that fills it."""
