"""A comparison of services under load: simulated, drawn, and put in words."""
