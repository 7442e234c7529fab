"""Private database servers for tests: started from programs that are there, never touching one that runs."""
