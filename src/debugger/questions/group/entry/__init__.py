"""A folder for PYTHONPATH: what is in it is run by the Python processes of a group."""
