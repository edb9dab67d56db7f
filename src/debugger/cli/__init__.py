"""What is derived from the command registry: command line, schemas, reference page."""
