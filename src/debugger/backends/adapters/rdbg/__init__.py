"""Ruby's debugger."""
