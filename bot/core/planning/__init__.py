"""One planner per operation: revision and facts to a Plan or Refusals."""
