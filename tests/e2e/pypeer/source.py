"""Serves a content to one peer. `Source` is honest; its `payload_of` and `send_block` may be
overridden by tests that want a liar."""

import math
import threading
import time

from .connection import TIMEOUT, Closed
from .gf256 import combine
from .manifest import leaf_of
from .trust import CheckMaker

PART = 256 << 10
QUOTA = 4  # of a generation that no State has mentioned


class Source:
    MAKES_SUMS = False  # for anybody who sends a key, though it does not speak for the authority
    LIES = False  # in those

    def __init__(self, connection, manifest, content, chance, certificate=b""):
        """`content`: the content's bytes; `chance`: a random.Random; `certificate`: of a source
        that speaks for the content's authority."""
        self.connection = connection
        self.schema = connection.schema
        self.manifest = manifest
        self.blocks = manifest.cut(content)
        self.chance = chance
        self.sent = {g: [] for g in range(manifest.generation_count)}  # vectors, in order
        self.generations_sent = []  # of block sequence i + 1
        self.goodbye = None
        # What the other side reported.
        self.state_seen = False
        self.acknowledged = 0
        self.credit = 0
        self.rank = {}
        self.quota = {}
        self.complete = set()
        self.wanted = {}  # generations of which it takes source blocks alone: those it asks for
        self.plain_sent = {}  # and those that were sent of them
        self.leaves_asked = False
        self.proven_only = False
        self.received = {}  # what it says came to it from others, by the prefix of their ids
        makes = certificate or self.MAKES_SUMS
        self.checks = CheckMaker(self.blocks, bool(certificate), self.LIES) if makes else None
        self.hello = connection.greet(manifest.content_id, has_manifest=True,
                                      certificate=certificate)
        if self.hello.has_manifest:
            self.say_what_i_have()

    def say_what_i_have(self):
        self.connection.send(state=self.schema.State(
            complete=[self.schema.Span(first=0, count=self.manifest.generation_count)]))

    def serve_until(self, done, limits=None, timeout=TIMEOUT):
        """Answers, and sends what the other side grants, until `done()` holds.
        limits: {generation: blocks of it to send in all}; without, as many as are granted."""
        deadline = time.monotonic() + timeout
        while not done():
            while self._send_one(limits):
                pass
            self.take(self.connection.receive(deadline))

    def serve_all(self, limits=None):
        """Serves until the other side has all, or leaves: one that is complete and not needed may
        leave before its last State is due."""
        self.serve_until(
            lambda: self.goodbye or len(self.complete) == self.manifest.generation_count, limits)

    def serve_in_background(self, limits=None):
        """serve_all in a thread that ends with the connection; `ended` is set then."""
        self.ended = threading.Event()

        def run():
            try:
                self.serve_all(limits)
            except (Closed, TimeoutError, OSError):
                pass  # the download is done, or the test is
            self.ended.set()

        threading.Thread(target=run, daemon=True).start()

    def take(self, message):
        body = message.WhichOneof("body")
        if body == "state":
            self._take_state(message.state)
        elif body == "block":
            if message.block.HasField("state"):
                self._take_state(message.block.state)
        elif body == "manifest_request":
            offset = message.manifest_request.offset
            data = self.manifest.file_bytes
            self.connection.send(manifest_part=self.schema.ManifestPart(
                total_bytes=len(data), offset=offset, data=data[offset : offset + PART]))
        elif body == "check_request":
            if self.checks:
                for fields in self.checks.replies(message.check_request):
                    self.connection.send(check_reply=self.schema.CheckReply(**fields))
            else:
                for generation in message.check_request.generations:
                    self.connection.send(check_reply=self.schema.CheckReply(generation=generation))
        elif body == "leaf_request":
            self.leaves_asked = True
            for generation in message.leaf_request.generations:
                self.connection.send(leaf_reply=self.schema.LeafReply(
                    generation=generation, leaves=self.leaves_of(generation)))
        elif body == "goodbye":
            self.goodbye = message.goodbye

    def _take_state(self, state):
        if not self.state_seen and not self.hello.has_manifest:
            self.say_what_i_have()
        self.state_seen = True
        self.acknowledged = max(self.acknowledged, state.acknowledged)
        self.credit = max(self.credit, state.credit)
        self.proven_only = state.proven_only
        if state.received:
            self.received = {entry.peer: entry.blocks for entry in state.received}
        for span in state.complete:
            self.complete.update(range(span.first, span.first + span.count))
        for span in state.withdrawn:
            self.complete.difference_update(range(span.first, span.first + span.count))
        for span in state.unwanted:
            self.quota.update((g, 0) for g in range(span.first, span.first + span.count))
        for entry in state.generations:
            self.rank[entry.generation] = entry.rank
            self.quota[entry.generation] = entry.quota
            bits = entry.wanted_blocks
            self.wanted.pop(entry.generation, None)
            if bits:
                self.wanted[entry.generation] = {
                    i for i in range(8 * len(bits)) if bits[i // 8] >> (i % 8) & 1}

    def rank_of(self, generation):
        """The rank that the other side last reported."""
        if generation in self.complete:
            return self.manifest.blocks_in(generation)
        return self.rank.get(generation, 0)

    def _send_one(self, limits):
        if not self.state_seen or len(self.generations_sent) >= self.credit:
            return False
        in_flight = self.generations_sent[self.acknowledged:]
        for g in range(self.manifest.generation_count):
            if g in self.wanted:
                if g not in self.complete and self._send_plain(g, in_flight.count(g)):
                    return True
                continue
            limit = math.inf if limits is None else limits.get(g, 0)
            if (g not in self.complete and len(self.sent[g]) < limit
                    and in_flight.count(g) < self.quota.get(g, QUOTA)):
                self.send_block(g, bytes(self.chance.randrange(1, 256)
                                         for _ in range(self.manifest.blocks_in(g))))
                return True
        return False

    def _send_plain(self, g, in_flight):
        """A source block that the other side asks for, each once unless it got lost."""
        sent = self.plain_sent.setdefault(g, set())
        if in_flight == 0:
            sent.clear()
        lacking = sorted(self.wanted[g] - sent)
        if not lacking or in_flight >= self.quota.get(g, QUOTA):
            return False
        sent.add(lacking[0])
        unit = bytes(i == lacking[0] for i in range(self.manifest.blocks_in(g)))
        self.generations_sent.append(g)
        self.send_made(self.schema.Block(
            generation=g, sequence=len(self.generations_sent), source_index=lacking[0],
            payload=self.payload_of(g, unit)))
        return True

    def send_made(self, block):
        """Sends a Block that has all its fields."""
        self.connection.send(block=block)

    def leaves_of(self, generation):
        return b"".join(leaf_of(block) for block in self.blocks[generation])

    def send_block(self, g, vector, **changes):
        """Sends the coded block that belongs to the vector; `changes` replace its fields."""
        self.generations_sent.append(g)
        self.sent[g].append(vector)
        fields = {"generation": g, "sequence": len(self.generations_sent),
                  "coefficients": vector, "payload": self.payload_of(g, vector),
                  **changes}
        self.send_made(self.schema.Block(**fields))

    def payload_of(self, generation, vector):
        return combine(vector, self.blocks[generation])
