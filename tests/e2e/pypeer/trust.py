"""Authorities (docs/protocol.md, "Trust"): certificates, and check sums of source blocks."""

import os

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from .gf256 import combine

GROUP = 128  # payload bytes that share a word of the key
KEY_BYTES = 32
TAG_BYTES = 4


class Authority:
    """The key that a manifest names in `authority_key`."""

    def __init__(self, secret=None):
        """`secret`: 32 bytes; None: a fresh key."""
        self._key = (Ed25519PrivateKey.from_private_bytes(secret) if secret
                     else Ed25519PrivateKey.generate())
        self.public_key = self._key.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    def certificate(self, content_id, peer_id):
        """Lets the peer speak for this authority."""
        return self._key.sign(b"firn authority v1" + content_id + peer_id)


class CheckHash:
    """H for one generation: payloads of `block_bytes` bytes to tags of `tag_bytes`."""

    def __init__(self, key, generation, block_bytes, tag_bytes=TAG_BYTES):
        groups = -(-block_bytes // GROUP)
        counter = generation.to_bytes(8, "big") + bytes(8)
        stream = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(
            bytes(16 * groups + 256 * tag_bytes))
        words = [int.from_bytes(stream[16 * i : 16 * i + 16], "little") for i in range(groups)]
        self._bits = [[b for b in range(128) if word >> b & 1] for word in words]
        self._table = [stream[16 * groups + tag_bytes * d :][:tag_bytes] for d in range(256)]

    def __call__(self, payload):
        y = bytearray(256)
        for i, bits in enumerate(self._bits):
            for a, x in enumerate(payload[GROUP * i : GROUP * (i + 1)]):
                for b in bits:
                    y[127 - a + b] ^= x
        return combine(bytes(y), self._table)


def accepts(check_hash, sums, vector, payload):
    """Whether the row is true, by the sums (a list) of the generation's source blocks."""
    return check_hash(payload) == combine(vector, sums)


class CheckMaker:
    """Answers the CheckRequests of one neighbour, under a key of its own or the neighbour's."""

    def __init__(self, blocks, speaks=True, lies=False):
        """`blocks`: by generation, a list of source blocks. `speaks`: for the authority."""
        self._blocks = blocks
        self._speaks = speaks
        self._lies = lies
        self._key = os.urandom(KEY_BYTES)
        self._told = False
        self.asked = []  # generations, in order

    def replies(self, request):
        """A CheckReply's fields for each generation of a request."""
        for generation in request.generations:
            self.asked.append(generation)
            if not request.key and not self._speaks:
                yield {"generation": generation}
                continue
            blocks = self._blocks[generation]
            check_hash = CheckHash(request.key or self._key, generation, len(blocks[0]))
            sums = b"".join(check_hash(block) for block in blocks)
            if self._lies:
                sums = bytes(byte ^ 1 for byte in sums)
            yield {"generation": generation, "sums": sums,
                   "key": request.key or (b"" if self._told else self._key)}
            self._told = self._told or not request.key
