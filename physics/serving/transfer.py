"""Sending KV caches from the instances that read prompts to those that write.

An instance sends one cache at a time and receives one at a time, at `link` bytes a second: a
transfer starts when both ends are free and takes bytes / link. In one piece it starts when the
prompt has been read. Layer by layer it may start when the first of L layers has been read, and
ends no earlier than the last layer's share, 1 / L of it, after the prompt's end.
"""

from __future__ import annotations


class Links:
    """When each end of the link is free again.

    Examples
    --------
    >>> links = Links(senders=1, receivers=2, bytes_per_second=10e9, layers=10)
    >>> links.after_prompt(sender=0, receiver=0, size=1e9, now=2.0)
    (2.0, 2.1)
    >>> links.after_prompt(sender=0, receiver=1, size=1e9, now=2.0)  # the sender is busy
    (2.1, 2.2)
    >>> links.with_prompt(sender=0, receiver=1, size=1e9, start=3.0, end=4.0)
    (3.1, 4.01)
    """

    def __init__(
        self, *, senders: int, receivers: int, bytes_per_second: float, layers: int
    ) -> None:
        self.bytes_per_second, self.layers = bytes_per_second, layers
        self.sender_free = [0.0] * senders
        self.receiver_free = [0.0] * receivers

    def after_prompt(
        self, *, sender: int, receiver: int, size: float, now: float
    ) -> tuple[float, float]:
        """Send a cache in one piece, from `now` at the earliest; return start and end [s]."""
        return self._occupy(sender, receiver, size, now)

    def with_prompt(
        self, *, sender: int, receiver: int, size: float, start: float, end: float
    ) -> tuple[float, float]:
        """Send a cache while its prompt is read from `start` to `end`; return start and end [s]."""
        first_layer = start + (end - start) / self.layers
        begun, sent = self._occupy(sender, receiver, size, first_layer)
        last_layer = size / self.bytes_per_second / self.layers
        return begun, max(sent, end + last_layer)

    def _occupy(
        self, sender: int, receiver: int, size: float, earliest: float
    ) -> tuple[float, float]:
        begun = max(earliest, self.sender_free[sender], self.receiver_free[receiver])
        sent = begun + size / self.bytes_per_second
        self.sender_free[sender] = self.receiver_free[receiver] = sent
        return begun, sent
