"""The debugger of PHP programs."""
