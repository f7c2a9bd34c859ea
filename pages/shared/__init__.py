"""What every page shares: the scenario, its controls, words, numbers, colours, the player."""
