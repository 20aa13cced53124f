"""What the service port and the daemon share: enrolled hosts, their words, their messages."""
