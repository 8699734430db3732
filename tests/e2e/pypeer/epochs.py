"""Epochs, of the last version: check keys that the authority told all peers of a large mesh, and the
nonces by which they learned of its clock. Times are microseconds."""

import hashlib
import os
import time

from .trust import KEY_BYTES, CheckHash
from .wire import last_version_pb2

NONCE_BYTES = 16


def make_nonce():
    return os.urandom(NONCE_BYTES)


def hash_of(nonces):
    """What stands for a list of nonces, as one nonce."""
    return hashlib.sha256(b"firn nonces v1" + b"".join(nonces)).digest()[:NONCE_BYTES]


def _signed_bytes(epoch, content_id):
    parts = [b"firn epoch v1", content_id, epoch.number.to_bytes(8, "big"),
             epoch.time.to_bytes(8, "big"), bytes([epoch.alarm]), epoch.key,
             len(epoch.sums).to_bytes(4, "big")]
    for one in epoch.sums:
        parts += [one.generation.to_bytes(4, "big"), len(one.sums).to_bytes(4, "big"), one.sums]
    parts.append(len(epoch.heard).to_bytes(4, "big"))
    for one in epoch.heard:
        parts += [one.nonce, one.age.to_bytes(4, "big")]
    parts += [(len(epoch.convicted) // 32).to_bytes(4, "big"), epoch.convicted]
    return b"".join(parts)


class EpochMaker:
    """Makes the Epochs of a peer that speaks for the content's authority, under alarm. All have the
    sums of one generation."""

    def __init__(self, identity, manifest, certificate, generation, blocks):
        self._identity = identity
        self._content_id = manifest.content_id
        self._certificate = certificate
        self._number = 2 * int(time.time())
        self._key = os.urandom(KEY_BYTES)
        check_hash = CheckHash(self._key, generation, manifest.k)
        self._sums = last_version_pb2.EpochSums(
            generation=generation, sums=b"".join(check_hash(block) for block in blocks))

    def epoch(self, heard):
        """The next one, which names the nonces `heard`, as if they had come just now."""
        self._number += 1
        epoch = last_version_pb2.Epoch(
            speaker=self._identity.public_key, certificate=self._certificate, number=self._number,
            time=time.monotonic_ns() // 1000, key=self._key, alarm=True, sums=[self._sums],
            heard=[last_version_pb2.HeardNonce(nonce=nonce) for nonce in heard])
        epoch.signature = self._identity.key.sign(_signed_bytes(epoch, self._content_id))
        return epoch
