"""Reads a manifest file: "FIRNMAN1", an Envelope, SHA-256 over all before it (docs/formats.md)."""

import hashlib

from .wire import manifest_pb2

MAGIC = b"FIRNMAN1"


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


def write_manifest(info):
    """The file of an Info that may break any rule; its checksum and content id are right."""
    body = MAGIC + manifest_pb2.Envelope(info=info.SerializeToString()).SerializeToString()
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
        """Whether `data`, n * k bytes with padding, is this generation."""
        leaves = [hashlib.sha256(b"\x00" + data[i : i + self.k]).digest()
                  for i in range(0, len(data), self.k)]
        return merkle_root(leaves) == self.digests[generation]

    def cut(self, content):
        """[generation][source block] of the content's bytes, padded with zeros."""
        size = self.n * self.k
        blocks = []
        for g in range(self.generation_count):
            data = content[g * size : (g + 1) * size].ljust(size, b"\0")
            blocks.append([data[i : i + self.k] for i in range(0, size, self.k)])
        return blocks
