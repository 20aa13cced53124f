"""The law as data: packs of clauses, read and refused whole."""
