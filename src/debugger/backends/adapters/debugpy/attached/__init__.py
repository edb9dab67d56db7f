"""What is put into the Python path of a process that debugpy is injected into."""
