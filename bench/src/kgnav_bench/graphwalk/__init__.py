"""GraphWalk's benchmark: random graphs without meaning, twelve templates of questions, and mazes."""
