"""The story of two conversations and one screen, told without a key and without a network."""
