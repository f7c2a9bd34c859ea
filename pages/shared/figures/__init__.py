"""Figures: skeletons without numbers, and the numbers that belong into them."""
