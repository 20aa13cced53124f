"""The bench: what a person does at a desk, without a Pi."""
