"""The folder that a recorded program's interpreter finds first, for its `sitecustomize`."""
