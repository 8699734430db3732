"""Peers as the last version had them: they tell each other Epochs and claims, for which this version
has no messages (docs/protocol.md, "Retired"). Their schema is last_version.proto."""

import collections
import itertools
import time

from .claims import make_claim
from .connection import Connection
from .epochs import EpochMaker, hash_of, make_nonce
from .gf256 import combine
from .leech import Leech
from .source import Source
from .wire import last_version_pb2


RETIRED = ("epoch", "epoch_request", "epoch_proof", "false_claim")  # kinds of messages


def dial(identity, endpoint):
    return Connection(identity, endpoint, schema=last_version_pb2)


class OldSource(Source):
    """One that has heard of false rows. After its first State and before each block it says something
    of that, unasked: each of SAYS in turn."""

    SAYS = ("epoch_request", "false_claim")
    CLAIMS = False  # something of each block, whether or not the other side wants claims

    def __init__(self, connection, *arguments):
        self.said = collections.Counter()
        self.wants_claims = False
        self._next = itertools.cycle(self.SAYS)
        super().__init__(connection, *arguments)

    def say_what_i_have(self):
        super().say_what_i_have()
        for _ in self.SAYS:
            self.say(next(self._next))

    def say(self, kind):
        self.connection.send(**{kind: getattr(self, kind)()})
        self.said[kind] += 1

    def epoch_request(self):
        return last_version_pb2.EpochRequest(nonce=make_nonce(), alarm=True, wanted=[0])

    def false_claim(self):
        """About a block that is true."""
        vector = bytes([1] * self.manifest.blocks_in(0))
        block = last_version_pb2.Block(generation=0, coefficients=vector,
                                       payload=combine(vector, self.blocks[0]))
        return last_version_pb2.FalseClaim(generation=0, coefficients=vector,
                                           claim=self._claim(block))

    def _claim(self, block):
        return make_claim(self.connection.identity, self.manifest.content_id, block)

    def _take_state(self, state):
        super()._take_state(state)
        self.wants_claims = state.wants_claims

    def send_made(self, block):
        self.say(next(self._next))
        if self.CLAIMS or self.wants_claims:
            block.claim = self._claim(block)
        super().send_made(block)


class OldSpeaker(OldSource):
    """One that speaks for the content's authority, in a large mesh and under alarm."""

    SAYS = RETIRED
    CLAIMS = True

    def __init__(self, connection, manifest, content, chance, certificate):
        self._maker = EpochMaker(connection.identity, manifest, certificate, 0,
                                 manifest.cut(content)[0])
        self._nonce = make_nonce()  # of a peer that stands behind the other side
        self._number = 0
        super().__init__(connection, manifest, content, chance, certificate)

    def epoch(self):
        epoch = self._maker.epoch([hash_of([self._nonce])])
        self._number = epoch.number
        return epoch

    def epoch_proof(self):
        """That the latest Epoch names a list which holds the nonce."""
        return last_version_pb2.EpochProof(epoch=self._number, lists=[self._nonce])


class OldLeech(Leech):
    """One that asks for Epochs, and for claims while `wants_claims`."""

    def __init__(self, connection, content_id):
        self.wants_claims = False  # which goes along with proven_only
        self.heard = collections.Counter()  # messages, by kind
        self.claims = 0  # that came with blocks
        super().__init__(connection, content_id)

    def wishes(self):
        wishes = {**super().wishes(), "wants_epochs": True, "wants_claims": self.wants_claims}
        if self.wants_claims:
            wishes["proven_only"] = True
        return wishes

    def ask_for_epoch(self):
        self.connection.send(epoch_request=last_version_pb2.EpochRequest(
            nonce=make_nonce(), alarm=True, wanted=[0]))

    def take(self, message):
        body = message.WhichOneof("body")
        self.heard[body] += 1
        if body == "block":
            self.claims += bool(message.block.claim)
        super().take(message)

    def listen(self, seconds):
        """Takes what comes, and asks for nothing."""
        deadline = time.monotonic() + seconds
        try:
            while True:
                self.take(self.connection.receive(deadline))
        except TimeoutError:
            pass
