"""The benchmark of the GraphWalk paper: random graphs of meaningless names, templates of questions, and mazes."""
