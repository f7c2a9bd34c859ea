"""The player: linked figures driven by native sliders, from a table computed in Python.

Python computes every number; the browser looks up and draws. See ``view.py`` for what a page
supplies, ``table.py`` for what travels, ``routes.py`` for how, and ``browser/`` for the drawing.
"""
