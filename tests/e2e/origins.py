"""What the tests of origins share: a content, a server that has its files, peers that use it."""

import base64
import ctypes
import datetime
import functools
import ipaddress
import os
import shutil
import subprocess
import threading
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import harness
from harness import KIB, LISTEN, MIB
from origin_server import Faults, OriginServer, ProxyServer

# Generations of 64 KiB.
SMALL = ["--generation-size", "16", "--block-size", "4K"]
GENERATION = 64 * KIB

DIFFERS = "differ from the content"  # what is said of bytes that have another digest

PUBLIC_HOST = "203.0.113.7"  # RFC 5737: as good as any address of the Internet, and nobody's


class OriginTest(harness.SwarmTest):
    """`self.path` is the content's file or folder, `self.manifest` its manifest, which names no origin."""

    def setUp(self):
        super().setUp()
        # Nothing of the user's own goes along, and no proxy is used that a test does not name.
        kept = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(kept)))
        for name in list(os.environ):
            if name.lower().endswith("_proxy") or name.startswith("AWS_"):
                del os.environ[name]
        home = self.folder / "home"
        home.mkdir()
        os.environ["HOME"] = str(home)

    def use_file(self, size=4 * MIB, name="content.bin"):
        self.path = self.file(size, name)
        self.manifest = self.create(self.path, *SMALL)
        return self.path

    def use_tree(self, files, *options):
        self.path = self.tree(files)
        self.manifest = self.create(self.path, *SMALL, *options)
        return self.path

    def serve(self, root=None, kind=OriginServer, **where):
        """A server of the folder that the content stands in."""
        server = kind(root or self.path.parent, **where)
        self.addCleanup(server.stop)
        return server

    def proxy(self, root=None):
        """A proxy, which the environment names from now on, for programs that are started later."""
        proxy = self.serve(root, ProxyServer)
        os.environ["http_proxy"] = proxy.url()
        return proxy

    def fetch(self, *options, what=None, name="get", seed="none", into=None):
        """A running `firn get` of the manifest (or link `what`) that knows nobody but who is named."""
        return self.get(what or self.manifest, name, "--no-tracker", "--seed", seed, *options, into=into)

    def fetch_from(self, url, *options, **named):
        return self.fetch("--origin", url, *options, **named)

    def holder(self, *options, name="holder"):
        """A running peer that has the content, and knows nobody but who is named."""
        return self.firn(name, "seed", self.manifest, self.path.parent, "--no-tracker", *LISTEN, *options)

    def teller(self, manifest=None, name="teller", *options):
        """A running peer that passes the manifest on and has nothing of the content: its endpoint."""
        teller = self.get(manifest or self.manifest, name, "--no-tracker", "--no-origin", "--seed", "forever", *options)
        return teller.endpoint()

    def url_of(self, server, user="", suffix=""):
        """The URL of the content there."""
        return server.url(self.path.name + ("/" if self.path.is_dir() else ""), user) + suffix

    # --- what must hold ---

    def said(self, program):
        return program.output("stdout") + "\n" + program.output("stderr")

    def wait_notice(self, program, words, timeout=60):
        return program.wait_event("notice", timeout, lambda event: words in event["message"])

    def assert_ends_without(self, program, *words, status=harness.UNREACHABLE, timeout=60):
        self.assertEqual(status, program.wait_exit(timeout), program.story())
        for word in words:
            self.assertIn(word, self.said(program))

    def assert_all_from(self, url, complete):
        """All bytes of the content have come from this origin."""
        self.assertEqual({url: complete["bytes"]}, from_origins(complete))

    def assert_nowhere(self, secrets, *texts):
        for text in texts:
            for secret in secrets:
                self.assertNotIn(secret, text)


class FaultTest(OriginTest):
    """A content of 1 MiB, and an origin that does something wrong."""

    def setUp(self):
        super().setUp()
        self.use_file(MIB)
        self.origin = self.serve()
        self.url = self.url_of(self.origin)

    def mend(self):
        self.origin.set(**{name: value for name, value in vars(Faults).items() if not name.startswith("_")})

    def assert_fault(self, words, **faults):
        """A download from the faulty origin says so. It completes from a peer that comes later; without one it ends by
        --timeout, and completes from where it stood once the origin is right again. Returns what the first had of it."""
        self.origin.set(**faults)
        beside = self.fetch_from(self.url, name="beside")
        alone = self.fetch_from(self.url, "--timeout", "2s", name="alone")
        notice = self.wait_notice(beside, words)
        self.assertIn(self.url, notice["message"])
        self.holder("--peer", beside.endpoint())
        complete = self.assert_downloaded(self.path, beside)
        self.assert_ends_without(alone, words, self.url)
        self.mend()
        self.assert_downloaded(self.path, self.fetch_from(self.url, name="alone"))
        return from_origins(complete).get(self.url, 0)


def from_origins(complete):
    """{URL as shown: bytes} of a `complete` event, without those that gave nothing."""
    return {origin["url"]: origin["bytes"] for origin in complete["from_origins"] if origin["bytes"]}


def ws_of(url):
    """The part of a link that names an origin."""
    return "/ws=" + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def origins_in(link):
    """The URLs that a link names."""
    parts = [part[len("ws="):] for part in link.split("?")[0].split("/") if part.startswith("ws=")]
    return [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode() for part in parts]


def certificate(folder):
    """A PEM file with key and certificate of 127.0.0.1, which is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.utcnow()
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(key, hashes.SHA256()))
    path = folder / "server.pem"
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                       serialization.NoEncryption())
                     + made.public_bytes(serialization.Encoding.PEM))
    return path


CLONE_NEWNET = 0x40000000


def can_make_networks():
    return harness.is_root() and shutil.which("ip") and not subprocess.run(
        ["unshare", "--net", "true"], capture_output=True).returncode


def in_own_network(test):
    """The test's programs and servers are in a network of their own, which has PUBLIC_HOST. Needs root and `ip`."""

    @functools.wraps(test)
    def within(self):
        failures = []

        def run():
            try:
                if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), "unshare")
                for command in ("ip link set lo up", f"ip address add {PUBLIC_HOST}/24 dev lo"):
                    subprocess.run(command.split(), check=True)
                test(self)
            except BaseException as error:  # noqa: BLE001 (it is raised again below)
                failures.append(error)

        thread = threading.Thread(target=run)  # a network is a thread's, and of what it starts
        thread.start()
        thread.join()
        if failures:
            raise failures[0]

    return unittest.skipUnless(can_make_networks(), "needs root and networks of its own")(within)
