"""Claims about blocks (docs/protocol.md, "Claims about blocks")."""

import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KEY_BYTES, HASH_BYTES = 32, 32


def _signed_bytes(content_id, block, payload_hash):
    """`block`: a Block or a FalseClaim."""
    if block.WhichOneof("coding_vector") == "source_index":
        vector = b"\x01" + block.source_index.to_bytes(4, "big")
    else:
        vector = b"\x00" + block.coefficients
    return (b"firn block v1" + content_id + block.generation.to_bytes(4, "big") + vector
            + payload_hash)


def make_claim(identity, content_id, block):
    payload_hash = hashlib.sha256(block.payload).digest()
    signature = identity.key.sign(_signed_bytes(content_id, block, payload_hash))
    return identity.public_key + payload_hash + signature


def claimant_of(claim):
    """The id of the peer that the claim names."""
    return hashlib.sha256(claim[:KEY_BYTES]).digest()


def is_signed(content_id, block):
    """Whether the claim of the Block or FalseClaim is signed for its coding vector."""
    claim = block.claim
    try:
        Ed25519PublicKey.from_public_bytes(claim[:KEY_BYTES]).verify(
            claim[KEY_BYTES + HASH_BYTES:],
            _signed_bytes(content_id, block, claim[KEY_BYTES : KEY_BYTES + HASH_BYTES]))
    except InvalidSignature:
        return False
    return True


def fits(content_id, block):
    """The same, of a Block whose payload the claim is about."""
    payload_hash = hashlib.sha256(block.payload).digest()
    return (block.claim[KEY_BYTES : KEY_BYTES + HASH_BYTES] == payload_hash
            and is_signed(content_id, block))
