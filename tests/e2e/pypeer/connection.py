"""One connection to a Firn peer or tracker: TLS 1.3 with both identities, then frames: those of
PeerMessage here, those of a tracker in tracker.py."""

import select
import socket
import ssl
import time

from .identity import id_of_certificate, raw_of
from .wire import FrameReader, frame, peer_pb2

TIMEOUT = 20  # seconds without which a test would hang
LOOK = 0.5  # seconds between looks at whether to go on


class Closed(Exception):
    """The other side has closed the connection."""


class Connection:
    def __init__(self, identity, endpoint, source=None, key_log=None, before=b"",
                 schema=peer_pb2):
        """Dials `endpoint`, ID@HOST:PORT or HOST:PORT, from the address `source`; a given id must be
        proven. `key_log`: a new file for the session's secrets, which private.py needs. `before`:
        sent before TLS begins, as by a proxy. `schema`: of the messages."""
        self.identity = identity
        self.schema = schema
        wanted, _, where = endpoint.rpartition("@")
        host, _, port = where.rpartition(":")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # the certificate is self-signed; its key is the name
        context.set_alpn_protocols(["firn/1"])
        context.load_cert_chain(identity.pem_file)
        self.key_log = key_log
        if key_log:
            context.keylog_filename = str(key_log)
        plain = socket.create_connection((host.strip("[]"), int(port)), timeout=TIMEOUT,
                                         source_address=(source, 0) if source else None)
        plain.sendall(before)
        self._socket = context.wrap_socket(plain)
        self._reader = FrameReader()
        self.alpn = self._socket.selected_alpn_protocol()
        self.peer_id = id_of_certificate(self._socket.getpeercert(binary_form=True))
        if wanted and raw_of(wanted) != self.peer_id:
            self.close()
            raise ValueError("the other side is not the peer that was asked for")

    def send(self, **body):
        """Sends one PeerMessage: send(hello=Hello(...))."""
        self.send_bytes(frame(self.schema.PeerMessage(**body).SerializeToString()))

    def send_bytes(self, data):
        try:
            self._socket.sendall(data)
        except (ConnectionError, ssl.SSLError) as error:
            raise Closed(str(error)) from error

    def send_until(self, stop, data):
        """Sends all, however long the other side pauses; or gives up when the event `stop` is set.
        Says whether all was sent."""
        self._socket.settimeout(LOOK)
        left = memoryview(data)
        while left:
            if stop.is_set():
                return False
            try:
                left = left[self._socket.send(left):]
            except TimeoutError:
                pass  # the same bytes again: TLS may have taken some of them
            except (ConnectionError, ssl.SSLError) as error:
                raise Closed(str(error)) from error
        return True

    def receive(self, deadline=None):
        """The next PeerMessage; Closed at the end; TimeoutError at the deadline."""
        return self.schema.PeerMessage.FromString(self.receive_bytes(deadline))

    def receive_bytes(self, deadline=None):
        """The next frame, likewise."""
        deadline = deadline or time.monotonic() + TIMEOUT
        while True:
            data = self._reader.next()
            if data is not None:
                return data
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("no message in time")
            self._socket.settimeout(left)
            try:
                more = self._socket.recv(1 << 16)
            except (ConnectionError, ssl.SSLError) as error:
                raise Closed(str(error)) from error
            if not more:
                raise Closed("end of stream")
            self._reader.feed(more)

    def greet(self, content_id, has_manifest=False, certificate=b""):
        """Exchanges Hellos; returns the other side's."""
        self.send(hello=self.schema.Hello(version_min=1, version_max=1, content_id=content_id,
                                          agent="pypeer/1", has_manifest=has_manifest,
                                          certificate=certificate))
        message = self.receive()
        if message.WhichOneof("body") == "goodbye":
            raise Closed(f"goodbye: {message.goodbye}")
        assert message.WhichOneof("body") == "hello", message
        return message.hello

    def plain_socket(self):
        """The socket below TLS."""
        return self._socket

    def cipher(self):
        """The name of the TLS cipher suite."""
        return self._socket.cipher()[0]

    def close(self):
        self._socket.close()


def dial_patiently(identity, endpoint):
    """Dials until a peer listens: `firn get LINK` has nothing to say before it has the manifest."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return Connection(identity, endpoint)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            select.select([], [], [], 0.05)
