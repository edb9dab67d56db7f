"""Going back to an earlier state of the program, by running it again."""
