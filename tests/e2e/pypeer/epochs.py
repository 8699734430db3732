"""Epochs (docs/protocol.md): keys that the authority tells all peers. Times are microseconds."""

import hashlib
import os
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .trust import CheckHash, accepts
from .wire import peer_pb2

NONCE_BYTES = 16
DRIFT_SHARE = 5000  # clocks drift by less than this part of the time against each other
BOUND_LIFE = 180_000_000  # of a clock that may have stood still


def now():
    """Of this peer's own clock."""
    return time.monotonic_ns() // 1000


def signed_bytes(epoch, content_id):
    parts = [b"firn epoch v1", content_id, epoch.number.to_bytes(8, "big"),
             epoch.time.to_bytes(8, "big"), bytes([epoch.alarm]), epoch.key,
             len(epoch.sums).to_bytes(4, "big")]
    for one in epoch.sums:
        parts += [one.generation.to_bytes(4, "big"), len(one.sums).to_bytes(4, "big"), one.sums]
    parts.append(len(epoch.heard).to_bytes(4, "big"))
    for one in epoch.heard:
        parts += [one.nonce, one.age.to_bytes(4, "big")]
    parts += [(len(epoch.convicted) // 32).to_bytes(4, "big"), epoch.convicted]
    return b"".join(parts)


def is_certified(authority_key, content_id, peer_id, certificate):
    """Whether the peer speaks for the authority, by the certificate of its Hello or Epochs."""
    return _signed(authority_key, certificate, b"firn authority v1" + content_id + peer_id)


def is_signed(epoch, content_id, authority_key):
    """Whether a peer that speaks for the authority has signed it."""
    speaker = hashlib.sha256(epoch.speaker).digest()
    return (is_certified(authority_key, content_id, speaker, epoch.certificate)
            and _signed(epoch.speaker, epoch.signature, signed_bytes(epoch, content_id)))


def _signed(key, signature, message):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def hash_of(nonces):
    """What stands for a list of nonces, as one nonce."""
    return hashlib.sha256(b"firn nonces v1" + b"".join(nonces)).digest()[:NONCE_BYTES]


def leads_to(lists, heard):
    """Whether the lists of an EpochProof lead to one of the nonces that its Epoch names; which."""
    split = [[one[i : i + NONCE_BYTES] for i in range(0, len(one), NONCE_BYTES)] for one in lists]
    for nonces, following in zip(split, split[1:]):
        if hash_of(nonces) not in following:
            return None
    return next((one for one in heard if one.nonce == hash_of(split[-1])), None)


class SpeakerClock:
    """What this peer knows of the speaker's clock: that it was never beyond `latest`."""

    def __init__(self):
        self._bound = None  # (sent by our clock, heard by the speaker's)

    def heard(self, sent, heard):
        at = now()
        old = self._bound is not None and at - self._bound[0] > BOUND_LIFE
        before = self.latest(at)
        self._bound, kept = (sent, heard), self._bound
        if before is not None and not old and before < self.latest(at):
            self._bound = kept

    def shows(self, time):
        """The speaker's clock is at `time` or beyond."""
        if self._bound is not None and self.latest(now()) < time:
            self._bound = None

    def latest(self, at):
        """At `at`, of our clock; None: nothing is known."""
        if self._bound is None:
            return None
        sent, heard = self._bound
        return heard + (at - sent) + abs(at - sent) // DRIFT_SHARE + 1


class EpochReader:
    """Follows the Epochs of a content: checks them, learns of the speaker's clock by nonces of its
    own, and judges rows."""

    def __init__(self, manifest):
        self._manifest = manifest
        self.clock = SpeakerClock()
        self.latest = None
        self._sent = {}  # nonce or hash of a list with one of ours: when it was sent

    def nonce(self):
        """One to be sent now."""
        nonce = os.urandom(NONCE_BYTES)
        self._sent[nonce] = now()
        return nonce

    def list_with(self, nonces):
        """The list of a relay: its own nonce, and those of its neighbours."""
        whole = [self.nonce(), *nonces]
        self._sent[hash_of(whole)] = self._sent.pop(whole[0])
        return whole

    def came(self, epoch):
        """Whether it is news, and the authority's."""
        if self.latest is not None and epoch.number <= self.latest.number:
            return False
        if not is_signed(epoch, self._manifest.content_id, self._manifest.info.authority_key):
            return False
        self.latest = epoch
        self.clock.shows(epoch.time)
        for one in epoch.heard:
            if one.nonce in self._sent:
                self.clock.heard(self._sent.pop(one.nonce), epoch.time - one.age)
        return True

    def proved(self, proof):
        """Whether an EpochProof about the latest Epoch holds."""
        named = leads_to(proof.lists, self.latest.heard)
        if named is None:
            return False
        first = proof.lists[0]
        for nonce in (first[i : i + NONCE_BYTES] for i in range(0, len(first), NONCE_BYTES)):
            if nonce in self._sent:
                self.clock.heard(self._sent.pop(nonce), self.latest.time - named.age)
        return True

    def judge(self, generation, arrived, vector, payload):
        """Whether the row is true; None: the latest Epoch does not judge it, as it has no sums of
        the generation, or may have been told before the row came."""
        latest_then = self.clock.latest(arrived)
        sums = next((one.sums for one in self.latest.sums if one.generation == generation), None)
        if sums is None or latest_then is None or latest_then >= self.latest.time:
            return None
        tag = len(sums) // self._manifest.blocks_in(generation)
        check_hash = CheckHash(self.latest.key, generation, self._manifest.k, tag)
        return accepts(check_hash, [sums[i : i + tag] for i in range(0, len(sums), tag)],
                       vector, payload)


class EpochLink:
    """A connection on which Epochs are spoken of, to the speaker or to a peer behind this one."""

    def __init__(self, connection):
        self.connection = connection
        self.wants = False  # the other side wants Epochs from us
        self.number = 0     # the latest that it has
        self.goodbye = None

    def tell(self, reader, wants=False):
        """A State that takes no blocks."""
        number = reader.latest.number if reader.latest else 0
        self.connection.send(state=peer_pb2.State(epoch=number, wants_epochs=wants))

    def ask(self, nonce, wanted=(), alarm=True):
        self.connection.send(epoch_request=peer_pb2.EpochRequest(
            nonce=nonce, alarm=alarm, wanted=wanted))

    def hand_on(self, epoch):
        self.connection.send(epoch=epoch)

    def prove(self, epoch, lists):
        self.connection.send(epoch_proof=peer_pb2.EpochProof(
            epoch=epoch.number, lists=[b"".join(nonces) for nonces in lists]))

    def await_message(self, kind, fits=lambda message: True):
        """The next message of that kind that fits; States are noted on the way."""
        while True:
            message = self.connection.receive()
            body = message.WhichOneof("body")
            state = message.state if body == "state" else (
                message.block.state if body == "block" and message.block.HasField("state") else None)
            if state is not None:
                self.wants, self.number = state.wants_epochs, max(self.number, state.epoch)
            if body == kind and fits(getattr(message, kind)):
                return getattr(message, kind)
