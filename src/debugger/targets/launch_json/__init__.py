"""Reads the editors' debug configurations: launch.json, and the arguments of `launch`."""
