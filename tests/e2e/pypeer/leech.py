"""Downloads from one peer: takes blocks, reports rank and credit, decodes, checks."""

import time

from .connection import TIMEOUT
from .gf256 import Span
from .manifest import Manifest
from .wire import peer_pb2

WINDOW = 8  # blocks granted at a time


class Leech:
    def __init__(self, connection, content_id):
        self.connection = connection
        self.hello = connection.greet(content_id)
        self.manifest = None
        self.check_key = b""
        self.wants_claims = False
        self.blocks = []  # all received, in order
        self.done = {}  # verified generations: their bytes
        self._spans = {}
        self._acknowledged = 0
        self._content_id = content_id

    def fetch_manifest(self):
        data = b""
        total = None
        while total is None or len(data) < total:
            self.connection.send(manifest_request=peer_pb2.ManifestRequest(offset=len(data)))
            part = self._receive("manifest_part")
            assert part.offset == len(data) and part.data, part
            total = part.total_bytes
            data += part.data
        self.use_manifest(Manifest(data))
        assert self.manifest.content_id == self._content_id
        return self.manifest

    def use_manifest(self, manifest):
        self.manifest = manifest
        self._spans = {g: Span(manifest.blocks_in(g)) for g in range(manifest.generation_count)}

    def check_sums(self, generations):
        """Asks a peer that speaks for the authority: CheckReplies by generation."""
        self.connection.send(check_request=peer_pb2.CheckRequest(generations=generations))
        replies = {}
        for _ in generations:
            reply = self._receive("check_reply")
            replies[reply.generation] = reply
            self.check_key = reply.key or self.check_key
        return replies

    def take(self, message):
        """Keeps the block that a message may hold."""
        if message.WhichOneof("body") == "block":
            self._take(message.block)

    def _receive(self, kind, deadline=None):
        """The next message of that kind; blocks are kept, others passed over."""
        deadline = deadline or time.monotonic() + TIMEOUT
        while True:
            message = self.connection.receive(deadline)
            self.take(message)
            if message.WhichOneof("body") == kind:
                return getattr(message, kind)

    def _take(self, block):
        kind = block.WhichOneof("coding_vector")
        if kind == "source_index":
            vector = bytearray(self.manifest.blocks_in(block.generation))
            vector[block.source_index] = 1
        else:
            vector = block.coefficients
        n = self.manifest.blocks_in(block.generation)
        assert len(vector) == n and len(block.payload) == self.manifest.k
        assert block.sequence > self._acknowledged
        self._acknowledged = block.sequence
        self.blocks.append((block.generation, bytes(vector), block.recoded))
        span = self._spans.get(block.generation)
        if span is None:
            return  # verified already
        span.insert(vector, block.payload)
        if span.rank == n:
            data = span.solution()
            assert self.manifest.is_right(block.generation, data), "the digest does not fit"
            self.done[block.generation] = data
            del self._spans[block.generation]

    def rank(self, generation):
        if generation in self.done:
            return self.manifest.blocks_in(generation)
        return self._spans[generation].rank

    def send_state(self, granted=WINDOW, generations=None):
        """Reports everything; lets the other side send `granted` blocks of `generations`."""
        wanted = self._spans if generations is None else generations
        self.connection.send(state=peer_pb2.State(
            acknowledged=self._acknowledged,
            credit=self._acknowledged + granted,
            wants_claims=self.wants_claims, proven_only=self.wants_claims,
            complete=[peer_pb2.Span(first=g, count=1) for g in sorted(self.done)],
            generations=[
                peer_pb2.GenerationState(generation=g, rank=span.rank,
                                         quota=min(granted, self.manifest.blocks_in(g) - span.rank)
                    if g in wanted else 0)
                for g, span in self._spans.items()]))

    def download(self, until=None, timeout=TIMEOUT, generations=None):
        """Takes blocks until `until()` holds; by default until all is verified."""
        until = until or (lambda: not self._spans)
        deadline = time.monotonic() + timeout
        self.send_state(generations=generations)
        while not until():
            self._receive("block", deadline)
            self.send_state(generations=generations)

    def content(self):
        """The bytes of the whole content; everything must be verified."""
        return self.manifest.joined(self.done[g] for g in range(self.manifest.generation_count))
