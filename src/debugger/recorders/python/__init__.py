"""How is a Python program recorded: by what runs inside its own interpreter."""
