"""Holds what all backends that drive LLDB share."""
