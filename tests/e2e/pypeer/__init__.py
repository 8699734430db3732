"""A small Firn peer in Python, written from docs/protocol.md and the .proto files alone.

It shares no code with Firn: protobuf's generated classes, Python's `ssl`, and its own arithmetic.
If it can exchange blocks with Firn, then the documents say enough. It always dials, because
Python's `ssl` cannot accept self-signed certificates from strangers; the protocol is the same in
both directions.

    gf256.py       arithmetic over GF(2^8) and the span of coding vectors
    identity.py    an Ed25519 key, its certificate, ids and their text form
    wire.py        schemas compiled by protoc, frames
    manifest.py    the manifest file and its digests
    connection.py  one connection: TLS, frames, Hello
    leech.py       downloads
    source.py      serves, honestly or not
    trust.py       authorities: certificates, check sums
    private.py     private contents: links, keys, proofs, sealed manifests

and peers as the last version had them, whose schema is last_version.proto:

    last_version.py  sources, speakers and downloaders
    epochs.py        what the authority told all peers
    claims.py        what senders signed of their blocks
"""
