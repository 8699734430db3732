"""A picture to damage, and pictures side by side: 16 greys, two pixels a byte, PNG by zlib alone."""

import math
import struct
import zlib

SIDE = 128  # pixels; SIDE * SIDE / 2 bytes
GREYS = 16
# Ordered dithering: thresholds of a 4 x 4 square.
BAYER = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))


def ridge(x, height, waves):
    """How high a mountain range stands at x in 0..1."""
    return height + sum(size * abs(math.sin(math.pi * (often * x + phase)))
                        for size, often, phase in waves)


def brightness(x, y):
    """A winter night, 0 to 1: x to the right, y up, both in 0..1."""
    moon = math.hypot(x - 0.74, y - 0.8)
    if moon < 0.09:
        return 1.0
    light = 0.12 + 0.25 * y + 0.5 * math.exp(-moon * 9)
    far = ridge(x, 0.3, ((0.28, 1.3, 0.1), (0.07, 4.1, 0.3), (0.03, 9.7, 0.8)))
    near = ridge(x, 0.06, ((0.24, 0.9, 0.62), (0.05, 3.7, 0.2), (0.02, 11.3, 0.5)))
    if y < near:
        return 0.75 + 0.25 * (y / near) - 0.18 * math.sin(9 * x + 30 * (near - y))
    if y < far:
        snow = far - y < 0.09 + 0.05 * math.sin(40 * x)
        return 0.95 if snow else 0.38 + 0.1 * math.sin(23 * x + 11 * y)
    star = math.sin(127.1 * round(x * SIDE) + 311.7 * round(y * SIDE)) * 43758.5453
    return 1.0 if star - math.floor(star) > 0.993 else light


def picture():
    """The picture's bytes: rows from the top, the left pixel of two in the upper half byte."""
    pixels = []
    for row in range(SIDE):
        for column in range(SIDE):
            level = brightness((column + 0.5) / SIDE, 1 - (row + 0.5) / SIDE) * (GREYS - 1)
            dither = (BAYER[row % 4][column % 4] + 0.5) / 16
            pixels.append(max(0, min(GREYS - 1, math.floor(level + dither))))
    return bytes(pixels[i] << 4 | pixels[i + 1] for i in range(0, len(pixels), 2))


def unpacked(data):
    """Rows of grey levels of a picture's bytes; what is missing is None."""
    pixels = [grey for byte in data[:SIDE * SIDE // 2] for grey in (byte >> 4, byte & 15)]
    pixels += [None] * (SIDE * SIDE - len(pixels))
    return [pixels[i:i + SIDE] for i in range(0, len(pixels), SIDE)]


# Letters of 3 x 5 pixels, five rows of three bits each; only what labels need.
FONT = {"0": 0o75557, "1": 0o26227, "2": 0o71747, "3": 0o71717, "4": 0o55711, "5": 0o74717,
        "6": 0o74757, "7": 0o71111, "8": 0o75757, "9": 0o75717, ".": 0o00002, "-": 0o00700,
        "=": 0o07070, "%": 0o51245, "p": 0o07574, "c": 0o07447, "o": 0o07557, "y": 0o55316,
        "R": 0o75765, "S": 0o74717, "F": 0o74644, "i": 0o20222, "r": 0o07444, "n": 0o06555,
        " ": 0o00000}
LABEL_SCALE, LABEL_WIDTH, LABEL_HEIGHT, GAP = 2, 44, 18, 4


def write_text(sheet, left, top, label):
    for letter in label:
        for row in range(5):
            bits = FONT[letter] >> 3 * (4 - row) & 7
            for y in range(LABEL_SCALE):
                for x in range(3 * LABEL_SCALE):
                    if bits >> 2 - x // LABEL_SCALE & 1:
                        sheet[top + row * LABEL_SCALE + y][left + x] = 0
        left += 4 * LABEL_SCALE


def contact_sheet(columns, rows):
    """Grey levels of pictures side by side: `columns` are the labels above them, `rows` a label and
    the pictures' bytes. Pixels that are missing are hatched."""
    step = SIDE + GAP
    width, height = LABEL_WIDTH + len(columns) * step, LABEL_HEIGHT + len(rows) * step
    sheet = [[GREYS - 1] * (width + width % 2) for _ in range(height)]
    for i, label in enumerate(columns):
        write_text(sheet, LABEL_WIDTH + i * step, 4, label)
    for j, (label, pictures) in enumerate(rows):
        top = LABEL_HEIGHT + j * step
        write_text(sheet, 4, top + SIDE // 2 - 5, label)
        for i, data in enumerate(pictures):
            for y, line in enumerate(unpacked(data)):
                for x, grey in enumerate(line):
                    sheet[top + y][LABEL_WIDTH + i * step + x] = (
                        grey if grey is not None else 5 if (x + y) % 8 == 0 else 13)
    return sheet


def png(lines):
    """A PNG of 4 bits a pixel."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    width = len(lines[0])
    raw = b"".join(b"\0" + bytes(line[i] << 4 | (line[i + 1] if i + 1 < width else 0)
                                 for i in range(0, width, 2)) for line in lines)
    head = struct.pack(">IIBBBBB", width, len(lines), 4, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) +
            chunk(b"IEND", b""))
