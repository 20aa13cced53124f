"""What the rider asks, declares and marks, and what the rider is told at rest."""
