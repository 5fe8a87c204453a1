"""`run_plan` beside the same questions written by hand in a store's own language, asked in the same run."""
