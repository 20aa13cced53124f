"""The service port: a person's computer takes the journal away, by SMP over serial or UDP."""
