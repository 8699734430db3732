"""A web server on 127.0.0.1 for tests: files with ranges and validators, and what goes wrong."""

import http.server
import threading

CHUNK = 16 << 10


class Page:
    """What the server has at a path, and how it fails there."""

    def __init__(self, data, etag='"v1"', modified="Sun, 06 Nov 1994 08:49:37 GMT", ranges=True,
                 length=True, headers=(), redirect=None, status=None, cut_at=None, hold_at=None):
        self.data = data
        self.etag = etag
        self.modified = modified
        self.ranges = ranges
        self.length = length
        self.headers = dict(headers)
        self.redirect = redirect
        self.status = status
        self.cut_at = list(cut_at or [])  # one request each: closed after so many bytes of it
        self.hold_at = hold_at  # after so many bytes nothing comes until `go_on`
        self.held = threading.Event()
        self.go_on = threading.Event()


class UrlServer:
    """Serves {path: Page}; `requests` lists (path, Range) of all requests."""

    def __init__(self, pages):
        self.pages = pages
        self.requests = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                server.requests.append((self.path, self.headers.get("Range")))
                server.answer(self)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # firn may go in the middle

        self.http = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def port(self):
        return self.http.server_address[1]

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def close(self):
        for page in self.pages.values():
            page.go_on.set()
        self.http.shutdown()
        self.http.server_close()

    def ranges_of(self, path):
        return [found for requested, found in self.requests if requested == path]

    def answer(self, request):
        page = self.pages.get(request.path)
        if page is None or page.status:
            request.send_response(page.status if page else 404)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        if page.redirect:
            request.send_response(302)
            request.send_header("Location", page.redirect)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        first, last = 0, len(page.data) - 1
        asked = request.headers.get("Range")
        condition = request.headers.get("If-Range")
        partial = asked and page.ranges and condition in (None, page.etag, page.modified)
        match = request.headers.get("If-Match")
        if match and match != page.etag:
            request.send_response(412)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        if partial:
            begin, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(begin), min(int(end or last), last)
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {first}-{last}/{len(page.data)}")
        else:
            request.send_response(200)
        if page.etag:
            request.send_header("ETag", page.etag)
        if page.modified:
            request.send_header("Last-Modified", page.modified)
        for name, value in page.headers.items():
            request.send_header(name, value)
        if page.length:
            request.send_header("Content-Length", str(last + 1 - first))
        else:
            request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        self.send_body(request, page, page.data[first:last + 1])

    def send_body(self, request, page, body):
        cut_at = page.cut_at.pop(0) if page.cut_at else None
        for at in range(0, len(body), CHUNK):
            if page.hold_at is not None and at >= page.hold_at and not page.go_on.is_set():
                page.held.set()
                page.go_on.wait(120)
            if cut_at is not None and at >= cut_at:
                request.close_connection = True
                return
            part = body[at:at + CHUNK]
            if page.length:
                request.wfile.write(part)
            else:
                request.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if not page.length:
            request.wfile.write(b"0\r\n\r\n")
