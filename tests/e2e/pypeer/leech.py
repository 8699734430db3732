"""Downloads from one peer: takes blocks, reports rank and credit, decodes, checks. Generations
whose leaves it holds are fetched as source blocks, each compared with its leaf."""

import time

from .connection import TIMEOUT
from .gf256 import Span
from .manifest import HASH_BYTES, Manifest, leaf_of, merkle_root

WINDOW = 8  # blocks granted at a time


class Leech:
    def __init__(self, connection, content_id):
        self.connection = connection
        self.schema = connection.schema
        self.hello = connection.greet(content_id)
        self.manifest = None
        self.check_key = b""
        self.proven_only = False
        self.prefer_coded = False
        self.blocks = []  # all received, in order
        self.done = {}  # verified generations: their bytes
        self._spans = {}
        self._leaves = {}  # of generations that are fetched as source blocks
        self._plain = {}  # and the blocks that have come of them
        self._asked = {}  # and those that were asked for last
        self._before = {}  # and the sequence up to which others may have been on their way
        self._acknowledged = self._credit = 0
        self._content_id = content_id

    def fetch_manifest(self):
        data = b""
        total = None
        while total is None or len(data) < total:
            self.connection.send(manifest_request=self.schema.ManifestRequest(offset=len(data)))
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
        self.connection.send(check_request=self.schema.CheckRequest(generations=generations))
        replies = {}
        for _ in generations:
            reply = self._receive("check_reply")
            replies[reply.generation] = reply
            self.check_key = reply.key or self.check_key
        return replies

    def await_state(self):
        """The other side has told what it holds."""
        self._receive("state")

    def await_blocks(self, count):
        for _ in range(count):
            self._receive("block")

    def ask_leaves(self, generations):
        """The leaves of each generation, right by its digest; None where the other side has none.
        What came of such a generation before is dropped: rows that nothing proves."""
        self.connection.send(leaf_request=self.schema.LeafRequest(generations=generations))
        found = {}
        while len(found) < len(generations):
            reply = self._receive("leaf_reply")
            g, joined = reply.generation, reply.leaves
            assert g in generations and g not in found, reply
            found[g] = [joined[i : i + HASH_BYTES] for i in range(0, len(joined), HASH_BYTES)] or None
            if found[g]:
                assert len(joined) == HASH_BYTES * self.manifest.blocks_in(g), "not a leaf a block"
                assert merkle_root(found[g]) == self.manifest.digests[g], "the root does not fit"
                if g in self._spans:
                    self._leaves[g], self._plain[g] = found[g], {}
                    self._before[g] = self._credit
                    self._spans[g] = Span(self.manifest.blocks_in(g))
        return found

    def _wanted_blocks(self, g, among):
        """The field of a State's entry: what has not come of `among` (None: of all blocks)."""
        if g not in self._leaves:
            return b""
        n = self.manifest.blocks_in(g)
        self._asked[g] = {i for i in range(n)
                          if i not in self._plain[g] and (among is None or i in among)}
        bits = sum(1 << i for i in self._asked[g])
        return bits.to_bytes((n + 7) // 8, "little")

    def _held_blocks(self, g):
        """The field beside that one: what has come."""
        if g not in self._leaves:
            return b""
        bits = sum(1 << i for i in self._plain[g])
        return bits.to_bytes((self.manifest.blocks_in(g) + 7) // 8, "little")

    def _proves_itself(self, block):
        """Whether it is a source block; another one, or one that was not asked for, must have been
        on its way when this peer began to ask."""
        g, index = block.generation, block.source_index
        is_source = block.WhichOneof("coding_vector") == "source_index"
        if block.sequence > self._before[g]:
            assert is_source, "a coded block"
            assert index in self._asked[g], "a block that was not asked for"
            assert index not in self._plain[g], "a block that has come"
        if is_source:
            assert leaf_of(block.payload) == self._leaves[g][index], "a false block"
            self._plain[g][index] = block.payload
        return is_source

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
        if block.generation in self._leaves and not self._proves_itself(block):
            return
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

    def send_state(self, granted=WINDOW, generations=None, among=None):
        """Reports everything; lets the other side send `granted` blocks of `generations`. Of those
        whose leaves it holds it asks for the blocks `among`."""
        wanted = self._spans if generations is None else generations
        self._credit = max(self._credit, self._acknowledged + granted)
        self.connection.send(state=self.schema.State(
            acknowledged=self._acknowledged,
            credit=self._credit,
            complete=[self.schema.Span(first=g, count=1) for g in sorted(self.done)],
            generations=[
                self.schema.GenerationState(
                    generation=g, rank=span.rank,
                    quota=min(granted, self.manifest.blocks_in(g) - span.rank)
                    if g in wanted else 0,
                    wanted_blocks=self._wanted_blocks(g, among), held_blocks=self._held_blocks(g))
                for g, span in self._spans.items()],
            **self.wishes()))

    def wishes(self):
        """Fields of a State: which blocks it takes."""
        return {"proven_only": self.proven_only, "prefer_coded": self.prefer_coded}

    def download(self, until=None, timeout=TIMEOUT, generations=None, among=None):
        """Takes blocks until `until()` holds; by default until all is verified."""
        until = until or (lambda: not self._spans)
        deadline = time.monotonic() + timeout
        self.send_state(generations=generations, among=among)
        while not until():
            self._receive("block", deadline)
            self.send_state(generations=generations, among=among)

    def content(self):
        """The bytes of the whole content; everything must be verified."""
        return self.manifest.joined(self.done[g] for g in range(self.manifest.generation_count))
