"""What must hold when many write and read at once, when processes die, and when databases go away."""
