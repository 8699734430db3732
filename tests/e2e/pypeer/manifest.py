"""Reads a manifest file: "FIRNMAN1", an Envelope, SHA-256 over all before it (docs/formats.md)."""

import hashlib

from .wire import manifest_pb2

MAGIC = b"FIRNMAN1"
HASH_BYTES = 32


def leaf_of(block):
    return hashlib.sha256(b"\x00" + block).digest()


def merkle_root(leaves):
    """RFC 9162: split at the largest power of two below the count."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(
        b"\x01" + merkle_root(leaves[:split]) + merkle_root(leaves[split:])).digest()


def write_manifest(info, **around):
    """The file of an Info that may break any rule, with other fields of the envelope around; its
    checksum and content id are right."""
    body = MAGIC + manifest_pb2.Envelope(info=info.SerializeToString(), **around).SerializeToString()
    return body + hashlib.sha256(body).digest()


class Manifest:
    def __init__(self, file_bytes):
        body, digest = file_bytes[:-32], file_bytes[-32:]
        if not body.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
            raise ValueError("not a manifest, or a damaged one")
        self.file_bytes = file_bytes
        envelope = manifest_pb2.Envelope.FromString(body[len(MAGIC):])
        self.info_bytes = envelope.info
        self.content_id = hashlib.sha256(envelope.info).digest()
        self.trackers = list(envelope.trackers)
        self.info = manifest_pb2.Info.FromString(envelope.info)
        self.n = self.info.generation_size
        self.k = self.info.block_bytes
        digests = self.info.generation_digests
        self.digests = [digests[i : i + 32] for i in range(0, len(digests), 32)]
        if merkle_root(self.digests) != self.info.root:
            raise ValueError("the root does not fit the generations' digests")

    @property
    def generation_count(self):
        return len(self.digests)

    def is_right(self, generation, data):
        """Whether `data`, whole blocks with padding, is this generation."""
        leaves = [leaf_of(data[i : i + self.k]) for i in range(0, len(data), self.k)]
        return merkle_root(leaves) == self.digests[generation]

    def layout(self):
        """(position of each file, bytes in each generation): a file of a generation's bytes or more
        begins at a generation boundary."""
        size = self.n * self.k
        position, positions, used = 0, [], []
        for file in self.info.files:
            if file.bytes >= size and position % size:
                used += [size] * (position // size - len(used)) + [position % size]
                position = len(used) * size
            positions.append(position)
            position += file.bytes
        while len(used) * size < position:
            used.append(min(size, position - len(used) * size))
        return positions, used

    def blocks_in(self, generation):
        """Source blocks of a generation: n, or fewer where its bytes end earlier."""
        return -(-self.layout()[1][generation] // self.k)

    def cut(self, content):
        """[generation][source block] of the files' bytes, one file after the other."""
        size = self.n * self.k
        positions, used = self.layout()
        laid_out = bytearray(self.generation_count * size)
        at = 0
        for file, position in zip(self.info.files, positions):
            laid_out[position : position + file.bytes] = content[at : at + file.bytes]
            at += file.bytes
        return [[bytes(laid_out[g * size + i : g * size + i + self.k])
                 for i in range(0, used[g], self.k)] for g in range(self.generation_count)]

    def joined(self, generations):
        """The reverse of cut: the files' bytes out of each generation's."""
        size = self.n * self.k
        laid_out = b"".join(data.ljust(size, b"\0") for data in generations)
        return b"".join(laid_out[position : position + file.bytes]
                        for file, position in zip(self.info.files, self.layout()[0]))
