"""Identities: an Ed25519 key in a self-signed certificate; peer id = SHA-256 of the raw key."""

import base64
import datetime
import hashlib

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID


def text_of(raw):
    """Base32, lower case, no padding: how ids are written."""
    return base64.b32encode(raw).decode().rstrip("=").lower()


def raw_of(text):
    return base64.b32decode(text.upper() + "=" * (-len(text) % 8))


def _raw_key(public_key):
    return public_key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def id_of_certificate(der):
    """The peer id that a certificate proves."""
    return hashlib.sha256(_raw_key(x509.load_der_x509_certificate(der).public_key())).digest()


class Identity:
    """A fresh key. `pem_file` holds key and certificate, for ssl's load_cert_chain."""

    def __init__(self, folder, name="pypeer"):
        self.key = key = Ed25519PrivateKey.generate()
        self.public_key = _raw_key(key.public_key())
        self.id = hashlib.sha256(self.public_key).digest()
        self.text = text_of(self.id)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.utcnow()
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .sign(key, None)
        )
        self.pem_file = folder / f"{self.text[:8]}.pem"
        self.pem_file.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                              serialization.NoEncryption())
            + certificate.public_bytes(serialization.Encoding.PEM))
