"""Records native programs: counts of blocks, branches and small results, or the lines that ran."""
