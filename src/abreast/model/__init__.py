"""The values abreast works with: pure, standard library only."""
