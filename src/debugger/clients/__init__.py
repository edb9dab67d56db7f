"""The connections with the daemon that the doors for people share: the page and the terminal."""
