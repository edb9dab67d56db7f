"""Finding, proving and installing what a session needs."""
