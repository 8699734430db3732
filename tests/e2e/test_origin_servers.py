#!/usr/bin/python3
"""Origins as people have them: nginx, lighttpd, and a bucket of S3's kind (npm's s3rver). Each server is started here,
in the foreground and in a folder of the test, and skipped where it is missing (scripts/setup --checks)."""

import os
import re
import select
import shutil
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

import harness
from harness import KIB, MIB, UNREACHABLE
from origins import DIFFERS, OriginTest

NAMES = {
    "big.bin": 2 * MIB,
    "a file.txt": 100 * KIB,
    "\u00fcber/gr\u00f6\u00dfe.bin": 300 * KIB,
    "100%41.txt": 10 * KIB,
    "a#b.txt": 70 * KIB,
    "what?.txt": 3000,
    "a+b&c=d;e.bin": 90 * KIB,
    "empty": 0,
}


def program(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


class RealServer(OriginTest):
    def setUp(self):
        super().setUp()
        self.use_tree(NAMES)
        self.state = self.folder / "server"
        self.state.mkdir()
        self.port = harness.free_port()

    def start(self, *command, **popen):
        """Runs it until the test ends; it accepts connections when this returns."""
        log = (self.state / "said").open("w")
        self.addCleanup(log.close)
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.state, **popen)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        deadline = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                said = (self.state / "said").read_text()
                self.assertIsNone(process.poll(), said)
                self.assertLess(time.monotonic(), deadline, said)
                select.select([], [], [], 0.05)

    def url(self, path="holiday/"):
        return f"http://127.0.0.1:{self.port}/{path}"

    def fetched(self, url=None, *options, name="get"):
        url = url or self.url()
        complete = self.assert_downloaded(self.path, self.fetch_from(url, *options, name=name))
        self.assert_all_from(url, complete)

    def assert_refuses(self, words, *options, url=None):
        url = url or self.url()
        get = self.fetch_from(url, "--timeout", "2s", *options, name="refused")
        self.assert_ends_without(get, words, status=UNREACHABLE)


NGINX = """
daemon off; master_process off; worker_processes 1; pid {state}/pid; error_log stderr;
events {{ worker_connections 64; }}
http {{
  access_log {state}/access; default_type application/octet-stream; {temporary}
  server {{ listen 127.0.0.1:{port}; root {root}; {more} }}
}}
"""


@unittest.skipUnless(program("nginx"), "no nginx here")
class Nginx(RealServer):
    def serve_by(self, more=""):
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        config = self.state / "nginx.conf"
        config.write_text(NGINX.format(
            state=self.state, port=self.port, root=self.path.parent, more=more,
            temporary=" ".join(f"{kind}_temp_path {self.state}/{kind};" for kind in kinds)))
        os.chmod(self.folder, 0o755)  # a worker may run as another user
        self.start(program("nginx"), "-e", "stderr", "-p", self.state, "-c", config)

    def log(self):
        return (self.state / "access").read_text()

    def test_a_folder_comes_with_all_its_names_by_ranges(self):
        self.serve_by()
        self.fetched()
        statuses = set(re.findall(r'HTTP/1\.1" (\d+) ', self.log()))
        self.assertLessEqual(statuses, {"200", "206"}, self.log())
        self.assertIn("206", statuses)
        self.assertIn('"firn/', self.log())

    def test_a_connection_at_a_time_and_a_limited_rate_are_borne(self):
        self.serve_by("keepalive_timeout 0; limit_rate 2m;")
        self.fetched()

    def test_a_password_is_asked_for(self):
        passwords = self.state / "passwords"
        passwords.write_text("joe:{PLAIN}open sesame\n")
        self.serve_by(f'auth_basic "private"; auth_basic_user_file {passwords};')
        self.assert_refuses("answers 401")
        url = self.url().replace("//", "//joe:open%20sesame@")
        complete = self.assert_downloaded(self.path, self.fetch_from(url))
        self.assert_all_from(self.url(), complete)

    def test_a_server_that_compresses_all_serves_ranges_as_they_are(self):
        # Asked for nothing compressed, it compresses nothing.
        self.serve_by("gzip on; gzip_types *; gzip_min_length 1;")
        self.fetched()

    def test_a_server_without_ranges_is_told_and_left_alone(self):
        self.serve_by("max_ranges 0;")
        self.assert_refuses("sends the whole file where a part was asked for")

    def test_a_file_that_was_replaced_is_found(self):
        self.serve_by()
        (self.path / "big.bin").write_bytes(bytes(2 * MIB))
        self.assert_refuses(DIFFERS)


LIGHTTPD = """
server.document-root = "{root}"
server.bind = "127.0.0.1"
server.port = {port}
server.upload-dirs = ( "{state}" )
mimetype.assign = ( "" => "application/octet-stream" )
{more}
"""


@unittest.skipUnless(program("lighttpd"), "no lighttpd here")
class Lighttpd(RealServer):
    def serve_by(self, more=""):
        config = self.state / "lighttpd.conf"
        config.write_text(LIGHTTPD.format(state=self.state, port=self.port, root=self.path.parent, more=more))
        self.start(program("lighttpd"), "-D", "-f", config)

    def test_a_folder_comes_with_all_its_names(self):
        self.serve_by()
        self.fetched()

    def test_connections_that_carry_few_requests_are_borne(self):
        self.serve_by("server.max-keep-alive-requests = 1\n")
        self.fetched()

    def test_a_server_without_ranges_is_told_and_left_alone(self):
        self.serve_by('server.range-requests = "disable"\n')
        self.assert_refuses("sends the whole file where a part was asked for")


S3RVER = harness.ROOT / ".cache/s3rver/node_modules/.bin/s3rver"
ACCOUNT = "S3RVER"  # the one that it has; id and secret are the same


@unittest.skipUnless(program("node") and S3RVER.exists(), "no s3rver in .cache (scripts/setup --checks)")
class Bucket(RealServer):
    def setUp(self):
        super().setUp()
        self.start("node", S3RVER, "-d", self.state / "data", "-a", "127.0.0.1", "-p", str(self.port),
                   "--no-vhost-buckets", "--configure-bucket", "bucket")
        self.endpoint = f"http://127.0.0.1:{self.port}"
        for path in NAMES:
            self.put("holiday/" + path, (self.path / path).read_bytes())

    def put(self, key, data):
        """s3rver lets everybody write."""
        urllib.request.urlopen(urllib.request.Request(
            f"{self.endpoint}/bucket/{urllib.parse.quote(key)}", data, method="PUT",
            headers={"Content-Type": "application/octet-stream"})).close()

    def keys(self, account=ACCOUNT):
        os.environ.update(AWS_ACCESS_KEY_ID=account, AWS_SECRET_ACCESS_KEY=account)

    def test_a_bucket_is_read_with_keys_of_the_environment(self):
        self.keys()
        self.fetched("s3://bucket/holiday/", "--endpoint", self.endpoint)

    def test_a_bucket_is_read_with_keys_and_endpoint_of_awss_files(self):
        aws = self.folder / "home" / ".aws"
        aws.mkdir()
        (aws / "credentials").write_text(
            f"[default]\naws_access_key_id = nobody\naws_secret_access_key = x\n\n"
            f"[work]\naws_access_key_id = {ACCOUNT}\naws_secret_access_key = {ACCOUNT}\n")
        (aws / "config").write_text(f"[profile work]\nregion = eu-central-1\nendpoint_url = {self.endpoint}\n")
        os.environ["AWS_PROFILE"] = "work"
        self.fetched("s3://bucket/holiday/")

    def test_an_account_that_is_unknown_there_is_told(self):
        # s3rver looks at the account and not at the signature, which test_origins.py has.
        self.keys("somebody")
        self.assert_refuses("answers 403", "--endpoint", self.endpoint, url="s3://bucket/holiday/")

    def test_a_bucket_that_is_not_there(self):
        self.keys()
        self.assert_refuses("answers 404", "--endpoint", self.endpoint, url="s3://another/holiday/")

    def test_a_bucket_is_an_ordinary_origin_for_whoever_knows_its_http_url(self):
        # s3rver lets everybody read.
        self.fetched(self.url("bucket/holiday/"))

    def test_without_keys_a_public_bucket_is_read_too(self):
        self.fetched("s3://bucket/holiday/", "--endpoint", self.endpoint)


if __name__ == "__main__":
    harness.main()
