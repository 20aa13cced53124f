"""The GPS line: bytes to sentences to epochs to fixes that can be trusted."""
