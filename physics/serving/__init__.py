"""A server under load, simulated step by step on the step times of `physics`.

`traffic` draws requests, `design` says what serves them, `simulation.simulate` runs, `result` holds
what came out, `targets` what was promised; `sweep` compares designs over rates. Inside: `times`
looks step times up, `instance` decides what an instance does next, `transfer` sends caches,
`ledger` writes down. `command` is `python -m physics simulate`.
"""
