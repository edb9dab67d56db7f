"""What backends that drive LLDB have in common, whichever way they talk to it."""
