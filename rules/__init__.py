"""What the games are: cells, stacks, turns, rules and records; standard library only."""
