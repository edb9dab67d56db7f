"""The backend that drives LLDB's command line."""
