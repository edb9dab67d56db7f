"""Plans steps of one thread from code and frames, and ends them at breakpoints."""
