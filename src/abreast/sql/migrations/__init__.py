"""The history of abreast's own tables, oldest first in `versions/`; what was released never changes."""
