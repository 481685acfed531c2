"""What `up --demo` submits: a solver of ours with its deck, and a model for CalculiX."""
