"""The page: a local web server, a client of the daemon, on which a person follows the sessions."""
