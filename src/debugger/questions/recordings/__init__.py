"""Records runs for questions, and saves them."""
