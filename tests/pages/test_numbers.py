"""Numbers as each language writes them."""

import time

import numpy as np
import pytest

from pages.shared import numbers
from pages.shared.language import words

EN, IT = words("en"), words("it")


@pytest.mark.parametrize(
    ("write", "value", "english", "italian"),
    [
        (numbers.number, 2048, "2,048", "2.048"),
        (numbers.number, 0.12345, "0.123", "0,123"),
        (numbers.number, -2.5, "−2.50", "−2,50"),
        (numbers.seconds, 0, "0 s", "0 s"),
        (numbers.seconds, 2.5e-9, "2.50 ns", "2,50 ns"),
        (numbers.seconds, 1e-3, "1.00 ms", "1,00 ms"),
        (numbers.seconds, 0.9996e-3, "1.00 ms", "1,00 ms"),
        (numbers.seconds, 0.0123, "12.3 ms", "12,3 ms"),
        (numbers.seconds, 4.8e-6, "4.80 µs", "4,80 µs"),
        (numbers.seconds, 90, "90.0 s", "90,0 s"),
        (numbers.seconds, 300, "5.00 min", "5,00 min"),
        (numbers.seconds, 36000, "10.0 h", "10,0 h"),
        (numbers.bytes_decimal, 16.06e9, "16.1 GB", "16,1 GB"),
        (numbers.bytes_decimal, 999.6e6, "1.00 GB", "1,00 GB"),
        (numbers.bytes_decimal, 512, "512 B", "512 B"),
        (numbers.bytes_binary, 131072, "128 KiB", "128 KiB"),
        (numbers.bytes_binary, 80 * 2**30, "80.0 GiB", "80,0 GiB"),
        (numbers.bytes_binary, 1000 * 2**20, "1,000 MiB", "1.000 MiB"),
        (numbers.bytes_per_second, 3.35e12, "3.35 TB/s", "3,35 TB/s"),
        (numbers.bytes_per_second, 900e9, "900 GB/s", "900 GB/s"),
        (numbers.flop_per_second, 989e12, "989 TFLOP/s", "989 TFLOP/s"),
        (numbers.flop_per_second, 2.25e15, "2.25 PFLOP/s", "2,25 PFLOP/s"),
        (numbers.flop, 16.06e9, "16.1 GFLOP", "16,1 GFLOP"),
        (numbers.flop_per_byte, 295.22, "295 FLOP/byte", "295 FLOP/byte"),
        (numbers.tokens, 1, "1 token", "1 token"),
        (numbers.tokens, 2048.0, "2,048 tokens", "2.048 token"),
        (numbers.sequences, 1, "1 sequence", "1 sequenza"),
        (numbers.sequences, 4096, "4,096 sequences", "4.096 sequenze"),
        (numbers.tokens_per_second, 208.4, "208 tokens/s", "208 token/s"),
        (numbers.percent, 0.1234, "12.3%", "12,3%"),
        (numbers.multiple, 3.14, "3.1×", "3,1×"),
        (numbers.multiple, 1234, "1,234×", "1.234×"),
        (numbers.parameters, 8.03e9, "8.03 B", "8,03 mld"),
        (numbers.parameters, 124e6, "124 M", "124 mln"),
        (numbers.parameters, 1.04e12, "1.04 T", "1.040 mld"),
        (numbers.chip_count, 8, "8 chips", "8 chip"),
    ],
)
def test_values(write, value, english, italian):
    assert write(value, EN).replace("\N{NO-BREAK SPACE}", " ") == english
    assert write(value, IT).replace("\N{NO-BREAK SPACE}", " ") == italian


FUNCTIONS = [getattr(numbers, name) for name in numbers.__all__]


@pytest.mark.parametrize("write", FUNCTIONS)
def test_what_is_no_number_is_a_dash(write):
    for value in (None, float("nan"), float("inf"), float("-inf"), np.float64("nan")):
        assert write(value, EN) == numbers.NONE


@pytest.mark.parametrize("write", FUNCTIONS)
def test_a_sequence_gives_a_list(write):
    expected = [write(1.0, EN), write(2000.0, EN), numbers.NONE]
    assert write([1.0, 2000.0, None], EN) == expected
    assert write(np.array([1.0, 2000.0, np.nan]), EN) == expected
    assert write(np.array(2000.0), EN) == write(2000.0, EN)


@pytest.mark.parametrize("write", FUNCTIONS)
def test_no_value_is_ever_badly_written(write):
    for value in (1e-300, 1e-12, 0.0995, 9.996, 999.4, 999.5, 999.9, 1023.99, 1e30, -1e-3):
        text = write(value, EN)
        assert "e" not in text.partition("\N{NO-BREAK SPACE}")[0]


def test_zeros_are_trimmed_when_asked():
    assert numbers.bytes_per_second(2e12, EN, trim=True) == "2\N{NO-BREAK SPACE}TB/s"
    assert numbers.bytes_per_second(2e12, EN) == "2.00\N{NO-BREAK SPACE}TB/s"


def test_fast_enough_for_a_table():
    values = np.geomspace(1e-9, 1e3, 1500)
    numbers.seconds(values, IT)
    start = time.perf_counter()
    numbers.seconds(values, IT)
    assert (time.perf_counter() - start) / 1500 < 40e-6  # about 5 µs on an idle machine
