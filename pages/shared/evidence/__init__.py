"""The measurements chosen on the page of evidence: controls, words, changes, lines of Python."""
