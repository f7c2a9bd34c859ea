"""A server under load, simulated step by step on the step times of `physics`."""
