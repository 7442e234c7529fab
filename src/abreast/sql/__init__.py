"""Everything abreast knows about databases."""
