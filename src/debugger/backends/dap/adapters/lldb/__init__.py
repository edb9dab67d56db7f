"""The two adapters that LLDB is behind: lldb-dap and CodeLLDB."""
