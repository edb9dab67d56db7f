"""Modules that all backends that drive LLDB share."""
