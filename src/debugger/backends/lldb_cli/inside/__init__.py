"""What runs in LLDB's own Python: files that it imports by their path."""
