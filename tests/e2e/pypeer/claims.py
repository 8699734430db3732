"""Claims about blocks, of the last version: what the sender of a block says of it, signed.

A claim is key (32) || SHA-256 of the payload (32) || signature (64). The signature is Ed25519, by the
sender's identity, over the bytes of _signed_bytes()."""

import hashlib


def _signed_bytes(content_id, block, payload_hash):
    if block.WhichOneof("coding_vector") == "source_index":
        vector = b"\x01" + block.source_index.to_bytes(4, "big")
    else:
        vector = b"\x00" + block.coefficients
    return (b"firn block v1" + content_id + block.generation.to_bytes(4, "big") + vector
            + payload_hash)


def make_claim(identity, content_id, block):
    """About a Block that has all its other fields."""
    payload_hash = hashlib.sha256(block.payload).digest()
    signature = identity.key.sign(_signed_bytes(content_id, block, payload_hash))
    return identity.public_key + payload_hash + signature
