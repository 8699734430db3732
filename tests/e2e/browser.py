"""Chromium without a window, for tests of the pages: driven over a pipe by its DevTools protocol,
so that neither a driver nor a port is needed.

`Browser` is the process, `Tab` a page in it. Each wait is for an answer or an event of the browser,
or for a condition in the page, and has a deadline.
"""

import base64
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 60
# Keys by name: (code, Windows key code, text).
KEYS = {"Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), " ": ("Space", 32, " "),
        "ArrowRight": ("ArrowRight", 39, ""), "ArrowLeft": ("ArrowLeft", 37, ""),
        "ArrowDown": ("ArrowDown", 40, ""), "ArrowUp": ("ArrowUp", 38, ""),
        "Home": ("Home", 36, ""), "End": ("End", 35, ""), "Escape": ("Escape", 27, "")}
SHIFT = 8


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Failed(Exception):
    """The browser refused, ended, or did not do in time what was waited for."""


class Browser:
    """A context manager; the process and its profile are gone after it."""

    def __init__(self):
        self._number = 0
        self._answers, self._tabs = {}, {}
        self._own = []  # the events of no tab
        self.heard = threading.Condition()
        self._open = True

    def __enter__(self):
        self._profile = tempfile.mkdtemp(prefix="firn-browser-")
        low_in, our_out = os.pipe()
        our_in, low_out = os.pipe()
        # The browser reads descriptor 3 and writes 4: until then they have other numbers.
        its_in, its_out = (fcntl.fcntl(low, fcntl.F_DUPFD, 10) for low in (low_in, low_out))
        options = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self._profile}",
                   "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   "--disable-default-apps", "--disable-extensions", "--hide-scrollbars"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # it has none for root
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{its_in} 4>&{its_out} {its_in}<&- {its_out}>&-', find(), *options],
            pass_fds=(its_in, its_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        for its_own in (low_in, low_out, its_in, its_out):
            os.close(its_own)
        self._out, self._in = os.fdopen(our_out, "wb"), os.fdopen(our_in, "rb")
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self._process.wait(20)
            self._out.close()
        except (Failed, OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._listener.join()
        self._in.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _listen(self):
        rest = b""
        while part := self._in.read1(1 << 20):
            *messages, rest = (rest + part).split(b"\0")
            for message in map(json.loads, messages):
                with self.heard:
                    if "id" in message:
                        self._answers[message["id"]] = message
                    elif (tab := self._tabs.get(message.get("sessionId"))) is not None:
                        tab.events.append((message["method"], message["params"]))
                    elif "sessionId" not in message:
                        self._own.append((message["method"], message["params"]))
                    self.heard.notify_all()
        with self.heard:
            self._open = False
            self.heard.notify_all()

    def wait(self, find_it, what, timeout=TIMEOUT):
        """The first result of find_it() that is not None, asked whenever the browser said something."""
        deadline = time.monotonic() + timeout
        with self.heard:
            while (found := find_it()) is None:
                left = deadline - time.monotonic()
                if left <= 0 or not self._open:
                    raise Failed(f"{what}: " + ("not in time" if self._open else "the browser has ended"))
                self.heard.wait(left)
        return found

    def call(self, method, session=None, **params):
        with self.heard:
            self._number += 1
            number = self._number
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        answer = self.wait(lambda: self._answers.pop(number, None), method)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def listen(self):
        """The list that the browser's own events, from now on, are put into: (method, params)."""
        with self.heard:
            self._own = []
            return self._own

    def tab(self, **options):
        """A page with cookies and storage of its own."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session, context)
        with self.heard:
            self._tabs[session] = tab
        tab.begin(**options)
        return tab


class Tab:
    def __init__(self, browser, session, context):
        self.browser, self.session, self.context = browser, session, context
        self.events = []  # (method, params), as they came

    def begin(self, script=True, dark=False, width=1280, height=900):
        self.width = width
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.colours(dark)
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def colours(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def seen(self, method):
        """The params of all events of that name so far."""
        with self.browser.heard:
            return [params for name, params in self.events if name == method]

    def wait_event(self, method, after=0):
        """The params of the event of that name after the first `after` ones."""
        def found():
            events = [params for name, params in self.events if name == method]
            return events[after] if len(events) > after else None
        return self.browser.wait(found, method)

    def go(self, url):
        """Loads a page, and waits until it has loaded."""
        loads = len(self.seen("Page.loadEventFired"))
        answer = self.call("Page.navigate", url=url)
        if "errorText" in answer:
            raise Failed(f"{url}: {answer['errorText']}")
        if "loaderId" in answer:  # else only what follows '#' has changed
            self.wait_event("Page.loadEventFired", loads)

    def ask(self, expression):
        """The value of a JavaScript expression; a promise's when it is kept."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(f"{expression[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, condition, timeout=TIMEOUT):
        """Waits until a JavaScript expression is true; a page may be replaced by another meanwhile."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                # Looks again at each frame, so that the test need not sleep between questions.
                if self.ask(f"new Promise(done => {{ let n = 0; const look = () => {{ const it = {condition};"
                            " it || n++ > 20 ? done(Boolean(it)) : setTimeout(look, 50); }; look(); })"):
                    return
            except Failed as failed:
                if not any(word in str(failed) for word in ("navigated", "destroyed", "null", "Cannot find")):
                    raise
            if time.monotonic() > deadline:
                raise Failed(f"{condition}: not in {timeout} s; the page says: "
                             + str(self.ask("document.body.innerText"))[:2000])

    def text(self):
        return self.ask("document.body.innerText")

    def key(self, name, modifiers=0):
        code, number, text = KEYS[name]
        common = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def tab_to(self, condition, at_most=200):
        """Presses Tab until `condition`, on `e`, the focused element, holds."""
        for _ in range(at_most):
            self.key("Tab")
            if self.ask(f"(e => Boolean({condition}))(document.activeElement)"):
                return
        raise Failed(f"no element with {condition} came into focus")

    def mouse(self, selector, kind="mouseMoved"):
        """Moves the mouse over the middle of an element, or presses it there."""
        x, y = self.ask("(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
                        " return [b.x + b.width / 2, b.y + b.height / 2]; })"
                        f"(document.querySelector({json.dumps(selector)}))")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if kind == "click":
            for event in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=event, x=x, y=y, button="left", clickCount=1)

    def drop(self, *paths):
        """Drags files from outside over the page and lets go of them."""
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=300, y=200, data=data)

    def requested(self):
        """The addresses of all that the page has asked for."""
        return [event["request"]["url"] for event in self.seen("Network.requestWillBeSent")]

    def complaints(self):
        """What the page's console, or the browser, says against it."""
        said = [entry["entry"]["text"] + " " + entry["entry"].get("url", "")
                for entry in self.seen("Log.entryAdded") if entry["entry"]["level"] == "error"]
        said += [str(event["exceptionDetails"].get("exception", event)) for event in
                 self.seen("Runtime.exceptionThrown")]
        return said + [str(event) for event in self.seen("Page.javascriptDialogOpening")]

    def show_all(self):
        """Makes the window as high as the page: what is out of sight may not be laid out."""
        for height in (400, None, None):  # what comes into sight may be higher than it was taken to be
            height = height or self.ask("document.documentElement.scrollHeight")
            self.call("Emulation.setDeviceMetricsOverride", width=self.width, height=height, deviceScaleFactor=1,
                      mobile=False)
            self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, path):
        """A screenshot of the whole page, as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))
