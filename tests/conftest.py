"""No test fails for being slow: speed is measured in the benchmarks."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
