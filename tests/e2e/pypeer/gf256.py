"""GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11d), rows as bytes, and spans of coding vectors."""


def _multiply(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a & 0x100:
            a ^= 0x11D
        b >>= 1
    return product


# TIMES[c] maps a byte x to c * x: bytes.translate multiplies a whole row at once.
TIMES = [bytes(_multiply(c, x) for x in range(256)) for c in range(256)]
INVERSE = bytes([0] + [TIMES[c].index(1) for c in range(1, 256)])


def add(a, b):
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")


def combine(coefficients, rows):
    """sum_j coefficients[j] * rows[j]."""
    total = bytes(len(rows[0]))
    for c, row in zip(coefficients, rows):
        if c:
            total = add(total, row.translate(TIMES[c]))
    return total


class Span:
    """Rows [vector | payload] in reduced row-echelon form; payloads may be empty."""

    def __init__(self, n):
        self.n = n
        self._rows = {}  # by pivot column

    @property
    def rank(self):
        return len(self._rows)

    def _reduce(self, row):
        for pivot, other in self._rows.items():
            if row[pivot]:
                row = add(row, other.translate(TIMES[row[pivot]]))
        return row

    def insert(self, vector, payload=b""):
        """True if the vector was innovative."""
        row = self._reduce(bytes(vector) + bytes(payload))
        pivot = next((i for i in range(self.n) if row[i]), None)
        if pivot is None:
            return False
        row = row.translate(TIMES[INVERSE[row[pivot]]])
        for p, other in self._rows.items():
            if other[pivot]:
                self._rows[p] = add(other, row.translate(TIMES[other[pivot]]))
        self._rows[pivot] = row
        return True

    def holds(self, vector):
        """Whether the vector is a combination of those inserted (made without payloads)."""
        return not any(self._reduce(bytes(vector))[: self.n])

    def solution(self):
        """The n source blocks, joined; the rank must be n."""
        return b"".join(self._rows[i][self.n:] for i in range(self.n))
