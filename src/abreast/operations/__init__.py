"""One transaction's work, each a function of an open connection; they read no clock, sleep or retry."""
