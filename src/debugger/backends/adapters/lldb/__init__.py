"""Holds the two adapters that drive LLDB: lldb-dap and CodeLLDB."""
