"""Reports which functions of a run were called."""
