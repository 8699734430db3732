"""An HTTP server for tests of origins: it serves the files of a folder, counts, and has faults that are switched on and
off while it runs (`server.faults`). Also the proxy of such tests: it answers for whatever host a request names."""

import contextlib
import email.utils
import hashlib
import hmac
import http.server
import mimetypes
import pathlib
import re
import socket
import threading
import time
import urllib.parse

PIECE = 16 << 10


class Faults:
    """What the server does wrong. An attribute that is set holds from the next request on, `rate`, `dies_after` and
    `stalls_after` also for answers under way."""

    whole = False  # 200 and the whole file in answer to a Range
    shift = 0  # Content-Range and bytes begin so many bytes later than asked
    unranged = False  # 206 without Content-Range
    encoding = ""  # Content-Encoding
    status = 0  # answer this, without a file
    status_after = None  # (count, status): answer this after so many more requests
    retry_after = None  # the header, with `status`
    close_each = False  # close the connection after each answer
    at_once = 0  # more answers than these at the same time are 503; 0: any number
    one_connection = False  # others wait until the connection has ended
    less = 0  # so many bytes are left out at the end, then the connection is closed
    more = 0  # so many bytes follow the answer, whose length is not announced
    endless = False  # as many as the client takes
    stalls_after = None  # bytes of an answer; then nothing, until this is None again
    undated = False  # neither ETag nor Last-Modified
    keys = None  # (id, secret) of AWS: whatever these have not signed is answered 403
    redirect = None  # URL, or function of the target that makes one, or None
    rate = 0  # bytes per second of each connection
    dies_after = None  # bytes of all answers; then it stops as if killed


class Request:
    def __init__(self, handler):
        self.method = handler.command
        self.target = handler.path
        self.path = urllib.parse.unquote(urllib.parse.urlsplit(handler.path).path)
        self.headers = handler.headers
        self.connection = handler.client_address[1]
        self.status = 0
        self.sent = 0  # bytes of its body

    def range(self):
        """(first, behind the last) as asked for, or None."""
        text = self.headers.get("Range", "")
        if not text.startswith("bytes="):
            return None
        first, last = text[len("bytes="):].split("-")
        return int(first), int(last) + 1

    def is_signed_by(self, key, secret, region="us-east-1"):
        """Whether Authorization is AWS's signature, version 4, of this request to S3."""
        found = re.fullmatch(r"AWS4-HMAC-SHA256 *Credential=([^, ]+), *SignedHeaders=([^, ]+), *Signature=(\w+)",
                             self.headers.get("Authorization", ""))
        if not found:
            return False
        credential, names, signature = found.groups()
        date, payload = self.headers["X-Amz-Date"], self.headers["X-Amz-Content-Sha256"]
        scope = f"{date[:8]}/{region}/s3/aws4_request"
        path, _, query = self.target.partition("?")
        canonical = "\n".join([
            self.method, urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"), query,
            *(f"{name}:{' '.join(self.headers[name].split())}" for name in names.split(";")), "", names, payload])
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        signing = ("AWS4" + secret).encode()
        for word in (*scope.split("/"), f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}"):
            signing = hmac.digest(signing, word.encode(), "sha256")
        return (credential, signature) == (f"{key}/{scope}", signing.hex()) and {"host", "x-amz-date"} <= set(
            names.split(";"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120
    disable_nagle_algorithm = True  # head and body are two writes

    def setup(self):
        super().setup()
        self.origin = self.server.origin

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        request = self.origin.heard(self)
        with self.origin.answering() as count:
            self.answer(request, 503 if 0 < self.origin.faults.at_once < count else 0)

    def answer(self, request, status):
        faults = self.origin.faults
        self.close_connection |= faults.close_each
        target = faults.redirect(self.path) if callable(faults.redirect) else faults.redirect
        if target:
            return self.say(request, 302, {"Location": target})
        if faults.keys and not request.is_signed_by(*faults.keys):
            status = 403
        status = status or self.origin.refusal()
        if status:
            headers = {} if faults.retry_after is None else {"Retry-After": faults.retry_after}
            return self.say(request, status, headers)
        file = self.origin.file_of(request.path)
        if file is None:
            return self.say(request, 404, {})
        self.say_file(request, file)

    def do_CONNECT(self):
        """A tunnel, as a proxy makes."""
        request = self.origin.heard(self)
        request.status = 200
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as there:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=pump, args=(there, self.connection), daemon=True)
            back.start()
            pump(self.connection, there)
            back.join()
        self.close_connection = True

    def say(self, request, status, headers):
        request.status = status
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "6")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"sorry\n")

    def say_file(self, request, file):
        faults = self.origin.faults
        with file.open("rb") as opened:
            status = file.stat()
            size, etag = status.st_size, f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
            asked = request.range()
            if asked and self.headers.get("If-Range", etag) != etag:
                asked = None
            if faults.whole or not asked:
                request.status, first, end = 200, 0, size
            elif asked[0] >= size:
                return self.say(request, 416, {"Content-Range": f"bytes */{size}"})
            else:
                first = min(asked[0] + faults.shift, size - 1)
                request.status, end = 206, min(asked[1] + faults.shift, size)
            self.send_response(request.status)
            if request.status == 206 and not faults.unranged:
                self.send_header("Content-Range", f"bytes {first}-{end - 1}/{size}")
            if not faults.undated:
                self.send_header("ETag", etag)
                self.send_header("Last-Modified", email.utils.formatdate(status.st_mtime, usegmt=True))
            self.send_header("Content-Type", mimetypes.guess_type(file.name)[0] or "application/octet-stream")
            if faults.encoding:
                self.send_header("Content-Encoding", faults.encoding)
            if faults.more or faults.endless:
                self.close_connection = True
            else:
                self.send_header("Content-Length", str(end - first))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command == "HEAD":
                return
            opened.seek(first)
            self.say_bytes(request, opened, max(end - first - faults.less, 0))
            for _ in range(faults.more):
                self.wfile.write(b"!")
            while faults.endless:
                self.wfile.write(b"!" * PIECE)
            self.close_connection |= faults.less > 0

    def say_bytes(self, request, opened, count):
        faults = self.origin.faults
        due = time.monotonic()
        while count > 0:
            size = min(count, PIECE)
            if faults.stalls_after is not None:
                if request.sent >= faults.stalls_after:
                    self.origin.wait_while_stalled(self.connection)
                    continue
                size = min(size, faults.stalls_after - request.sent)
            if faults.rate:
                size = min(size, max(faults.rate // 20, 1))
                due = max(due, time.monotonic() - 0.1) + size / faults.rate
                time.sleep(max(due - time.monotonic(), 0))
            data = opened.read(self.origin.allowance(size))
            if not data:  # the file has become shorter
                raise ConnectionAbortedError
            self.wfile.write(data)
            request.sent += len(data)
            count -= len(data)
            self.origin.count(len(data))


def pump(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(PIECE):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address, origin):
        self.origin = origin
        super().__init__(address, Handler)

    def process_request_thread(self, connection, address):
        with contextlib.ExitStack() as turn:
            if self.origin.faults.one_connection:
                turn.enter_context(self.origin.turn)
            super().process_request_thread(connection, address)

    def get_request(self):
        connection, address = super().get_request()
        if self.origin.tls:  # the handshake is made by the connection's thread
            connection = self.origin.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        self.origin.connected(connection)
        return connection, address

    def shutdown_request(self, request):
        self.origin.closed(request)
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """A client that goes in the middle of an answer is no error."""


class OriginServer:
    """Serves the files below `root` from its making on. `stop()` ends it as a kill would, `start()` brings it back at
    the same port. The counts go on."""

    def __init__(self, root, host="127.0.0.1", port=0, tls=None):
        self.tls = tls  # ssl.SSLContext
        self.root = pathlib.Path(root)
        self.faults = Faults()
        self.requests = []
        self.connections = 0
        self.turn = threading.Lock()
        self.total = 0  # bytes of all bodies
        self._address = (host, port)
        self._open = set()
        self._answers = 0  # under way
        self._changed = threading.Condition()
        self._server = None
        self.start()

    def start(self):
        self._server = Server(self._address, self)
        self._address = self._server.server_address[:2]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        with self._changed:
            server, self._server = self._server, None
        if server is None:
            return
        server.shutdown()
        server.socket.close()
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.notify_all()

    @property
    def running(self):
        return self._server is not None

    @property
    def port(self):
        return self._address[1]

    def url(self, path="", user=""):
        return f"http{'s' if self.tls else ''}://{user}{self._address[0]}:{self.port}/{urllib.parse.quote(path)}"

    def wait(self, holds, timeout=60):
        """Until holds() of what has been counted."""
        with self._changed:
            if not self._changed.wait_for(holds, timeout):
                raise AssertionError(f"the origin served {self.total} bytes in {len(self.requests)} requests")

    def wait_served(self, count, timeout=60):
        self.wait(lambda: self.total >= count, timeout)

    def statuses(self):
        return [request.status for request in self.requests]

    def set(self, **faults):
        """Switches faults on, or off by their ordinary values."""
        with self._changed:
            for name, value in faults.items():
                assert hasattr(Faults, name), name
                setattr(self.faults, name, value)
            self._changed.notify_all()

    # Called by its threads.

    def file_of(self, path):
        file = self.root.joinpath(*[part for part in path.split("/") if part not in ("", "..")])
        return file if file.is_file() and not path.endswith("/") else None

    def connected(self, connection):
        with self._changed:
            self.connections += 1
            self._open.add(connection)
            self._changed.notify_all()

    def closed(self, connection):
        with self._changed:
            self._open.discard(connection)

    def heard(self, handler):
        request = Request(handler)
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        return request

    @contextlib.contextmanager
    def answering(self):
        with self._changed:
            self._answers += 1
            count = self._answers
        try:
            yield count
        finally:
            with self._changed:
                self._answers -= 1

    def refusal(self):
        with self._changed:
            if self.faults.status_after is not None:
                left, status = self.faults.status_after
                self.faults.status_after = (max(left - 1, 0), status)
                return status if left == 0 else 0
            return self.faults.status

    def allowance(self, size):
        """How many of these bytes may go before it dies."""
        with self._changed:
            if self.faults.dies_after is None:
                return size
            left = self.faults.dies_after - self.total
        if left <= 0:
            self.stop()
            raise ConnectionAbortedError
        return min(size, left)

    def count(self, size):
        with self._changed:
            self.total += size
            self._changed.notify_all()

    def wait_while_stalled(self, connection):
        with self._changed:
            self._changed.wait_for(lambda: self.faults.stalls_after is None or not self.running)
        if not self.running:
            raise ConnectionAbortedError


class ProxyServer(OriginServer):
    """A proxy. For http it answers for every host, out of its folder; for https it tunnels."""

    def hosts(self):
        """Those that requests named by a whole URL, as a proxy's do."""
        return {urllib.parse.urlsplit(request.target).netloc for request in self.requests} - {""}
