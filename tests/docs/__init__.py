"""The pages and docstrings say what the code does."""
