"""Reads a clean QR code back: no error correction, byte mode only, written from ISO/IEC 18004."""

from __future__ import annotations

from collections.abc import Sequence

from segno import consts

MASKS = (
    lambda i, j: (i + j) % 2,
    lambda i, j: i % 2,
    lambda i, j: j % 3,
    lambda i, j: (i + j) % 3,
    lambda i, j: (i // 2 + j // 3) % 2,
    lambda i, j: i * j % 2 + i * j % 3,
    lambda i, j: (i * j % 2 + i * j % 3) % 2,
    lambda i, j: ((i + j) % 2 + i * j % 3) % 2,
)
LEVELS = {1: consts.ERROR_LEVEL_L, 0: consts.ERROR_LEVEL_M, 3: consts.ERROR_LEVEL_Q,
          2: consts.ERROR_LEVEL_H}  # fmt: skip
FORMAT_MASK = 0b10101  # its first five bits: level and mask


def read_qr(matrix: Sequence[Sequence[int]]) -> str:
    """Return the text of a code, its modules 1 where dark and without a quiet zone."""
    size = len(matrix)
    version = (size - 17) // 4
    head = int("".join(str(matrix[8][column]) for column in range(5)), 2) ^ FORMAT_MASK
    level, mask = LEVELS[head >> 3], MASKS[head & 7]
    fixed = _fixed(size, version)
    bits = [matrix[i][j] ^ (mask(i, j) == 0) for i, j in _zigzag(size) if (i, j) not in fixed]
    words = [
        int("".join(map(str, map(int, bits[at : at + 8]))), 2) for at in range(0, len(bits) - 7, 8)
    ]
    return _text(_in_order(words, consts.ECC[version][level]), version)


def _fixed(size: int, version: int) -> set[tuple[int, int]]:
    """Return the modules that carry no data."""
    cells = {(6, k) for k in range(size)} | {(k, 6) for k in range(size)}
    for top, left in ((0, 0), (0, size - 8), (size - 8, 0)):
        cells |= {(top + i, left + j) for i in range(8) for j in range(8)}
    cells |= {(8, k) for k in (*range(9), *range(size - 8, size))}
    cells |= {(k, 8) for k in (*range(9), *range(size - 8, size))}
    if version >= 2:
        at = consts.ALIGNMENT_POS[version - 2]
        corners = {(6, 6), (6, at[-1]), (at[-1], 6)}
        for row in at:
            for column in at:
                if (row, column) not in corners:
                    around = range(-2, 3)
                    cells |= {(row + i, column + j) for i in around for j in around}
    if version >= 7:
        cells |= {(i, size - 11 + j) for i in range(6) for j in range(3)}
        cells |= {(size - 11 + j, i) for i in range(6) for j in range(3)}
    return cells


def _zigzag(size: int) -> list[tuple[int, int]]:
    """Return all cells in the order of the data: two columns at a time, up and down."""
    cells, upwards = [], True
    for right in [*range(size - 1, 6, -2), *range(5, 0, -2)]:
        rows = range(size - 1, -1, -1) if upwards else range(size)
        cells += [(row, column) for row in rows for column in (right, right - 1)]
        upwards = not upwards
    return cells


def _in_order(words: list[int], blocks: Sequence) -> list[int]:
    """Undo the interleaving of blocks; the words of error correction are left out."""
    lengths = [info.num_data for info in blocks for _ in range(info.num_blocks)]
    taken: list[list[int]] = [[] for _ in lengths]
    coming = iter(words)
    for place in range(max(lengths)):
        for block, length in zip(taken, lengths, strict=True):
            if place < length:
                block.append(next(coming))
    return [word for block in taken for word in block]


def _text(words: list[int], version: int) -> str:
    bits = "".join(f"{word:08b}" for word in words)
    assert bits[:4] == "0100", "not in byte mode"
    count_bits = 8 if version < 10 else 16
    count = int(bits[4 : 4 + count_bits], 2)
    start = 4 + count_bits
    return bytes(int(bits[at : at + 8], 2) for at in range(start, start + 8 * count, 8)).decode()
