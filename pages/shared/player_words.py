"""The words that every page gives its player: play bar, clock, menus, and sliders' labels."""

from __future__ import annotations

from collections.abc import Iterable

from pages.shared.language import Words
from pages.shared.player.view import Clock, Slider


def player_words(words: Words) -> dict[str, str]:
    """Return the words of the play bar and of the figures' menus.

    Examples
    --------
    >>> player_words(Words("it"))["pause"]
    'Pausa'
    """
    return {
        "play": words("player.play"),
        "pause": words("player.pause"),
        "step": words("player.step"),
        "reset": words("player.reset"),
        "speed": words("player.speed"),
        "sweep": words("player.sweep"),
        "waiting": words("player.waiting"),
        "failed": words("player.failed"),
        "menu": words("share.figure_menu", number="{number}"),
        "png": words("share.png"),
        "svg": words("share.svg"),
        "html": words("share.html"),
        "csv": words("share.csv"),
        **{
            f"compare_{name}": words(f"compare.{name}")
            for name in ("title", "pin", "pin_again", "pin_help", "swap", "unpin", "legend")
        },
        **{
            f"guess_{name}": words(f"guess.{name}")
            for name in (
                "first",
                "first_help",
                "label",
                "show",
                "stop",
                "link",
                "linked",
                "close",
                "none",
            )
        },
    }


def clock(words: Words) -> Clock:
    """Return a clock that plays in real time, slower, or faster.

    Examples
    --------
    >>> [speed for speed, _ in clock(Words("en")).speeds]
    [1.0, 0.1, 0.01, 10.0]
    """
    return Clock(
        "time",
        (
            (1.0, words("player.real_time")),
            (0.1, words("player.slower", times="10")),
            (0.01, words("player.slower", times="100")),
            (10.0, words("player.faster", times="10")),
        ),
    )


def sliders(names: Iterable[str], words: Words) -> tuple[Slider, ...]:
    """Return the sliders of scenario options, with label and help.

    Examples
    --------
    >>> sliders(["bandwidth"], Words("en"))[0].label
    'Memory bandwidth'
    """
    known = {
        "prompt": Slider("prompt", words("slider.prompt"), words("slider.prompt_help")),
        "output": Slider("output", words("slider.output"), words("slider.output_help")),
        "batch": Slider("batch", words("slider.batch"), words("slider.batch_help")),
        "bandwidth": Slider("bandwidth", words("slider.bandwidth"), words("slider.bandwidth_help")),
        "flops": Slider("flops", words("slider.flops"), words("slider.flops_help")),
    }
    return tuple(known[name] for name in names)
