"""The pages: one idea a file, thin; what they share is in `pages.shared`."""
