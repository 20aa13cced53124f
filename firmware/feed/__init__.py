"""The socket's language, and the client that speaks it."""
