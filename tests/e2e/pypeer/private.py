"""Private contents (docs/protocol.md, "Private contents"): links with a secret, the keys made of it,
proofs bound to a TLS session, sealed manifests."""

import hashlib
import hmac
import re
import struct

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from .connection import Closed
from .identity import raw_of
from .wire import peer_pb2

EXPORTER_LABEL = b"EXPORTER-firn-private-v1"


def link_parts(link):
    """(content id, secret) of a private link."""
    name = re.match(r"firn:([^/?]+)", link).group(1)
    content_id, _, secret = name.partition(".")
    content_id, checked = raw_of(content_id), raw_of(secret)
    secret, check = checked[:32], checked[32:]
    if hashlib.sha256(b"firn link key v1" + content_id + secret).digest()[:3] != check:
        raise ValueError("the link is damaged")
    return content_id, secret


def _expand_label(hash_name, secret, label, context, size):
    """RFC 8446, section 7.1."""
    label = b"tls13 " + label
    info = struct.pack(">HB", size, len(label)) + label + bytes([len(context)]) + context
    return HKDFExpand(getattr(hashes, hash_name)(), size, info).derive(secret)


def session_binding(connection):
    """RFC 8446, section 7.5, from the secret that OpenSSL wrote to the connection's key log."""
    hash_name = connection.cipher().rpartition("_")[2]
    empty = hashlib.new(hash_name.lower(), b"").digest()
    lines = connection.key_log.read_text().splitlines()
    secret = bytes.fromhex(next(line for line in lines if line.startswith("EXPORTER_SECRET ")).split()[2])
    derived = _expand_label(hash_name, secret, EXPORTER_LABEL, empty, len(empty))
    return _expand_label(hash_name, derived, b"exporter", empty, 32)


class PrivateKeys:
    def __init__(self, content_id, secret):
        def derive(purpose):
            return HKDF(hashes.SHA256(), 32, content_id, b"firn private v1 " + purpose).derive(secret)

        rendezvous = Ed25519PrivateKey.from_private_bytes(derive(b"rendezvous")).public_key()
        self.rendezvous_id = rendezvous.public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self._rendezvous = rendezvous
        self._proof_key = derive(b"proof")
        self._manifest_key = derive(b"manifest")

    def proof(self, side, binding, caller, answerer):
        """`side`: b"caller" or b"answerer"."""
        message = b"firn private v1 " + side + binding + caller + answerer
        return hmac.new(self._proof_key, message, hashlib.sha256).digest()

    def open_manifest(self, sealed):
        """The manifest file that a tracker hosts sealed."""
        size = len(sealed)
        assert size >= 1 << 16 and size & (size - 1) == 0, size
        self._rendezvous.verify(sealed[-64:], b"firn sealed manifest v1" + sealed[:-64])
        plain = AESGCM(self._manifest_key).decrypt(
            sealed[8:20], sealed[20:-64], b"FIRNSEA1" + self.rendezvous_id)
        return plain[4 : 4 + int.from_bytes(plain[:4], "big")]


def prove(connection, own_id, keys):
    """Exchanges proofs, as the caller. `connection` must have a key log."""
    binding = session_binding(connection)
    ids = own_id, connection.peer_id
    connection.send(private_proof=peer_pb2.PrivateProof(proof=keys.proof(b"caller", binding, *ids)))
    message = connection.receive()
    if message.WhichOneof("body") == "goodbye":
        raise Closed(f"goodbye: {message.goodbye}")
    assert message.private_proof.proof == keys.proof(b"answerer", binding, *ids), message
