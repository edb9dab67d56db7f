"""The Debug Adapter Protocol backend."""
