"""What the tests of the pages in a browser share: tabs that are signed in, and what must hold of them."""

import unittest

import browser
import doors
import harness
from harness import BUILD

AXE = harness.ROOT / ".cache/axe-core/axe.min.js"
PICTURES = BUILD / "tests/e2e/pages"
STAGE = BUILD / "tests/app/page_stage"


# Of a page that is still being read some of it can be seen already, and its script has not run.
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd > 0"


class Page(doors.Door):
    """Tabs of one browser, and the programs whose pages they show."""

    @classmethod
    def setUpClass(cls):
        if not browser.find():
            raise unittest.SkipTest("no Chromium: scripts/setup --checks installs it")
        cls.browser = cls.enterClassContext(browser.Browser())

    def tab(self, path="/", signed_in=True, **options):
        tab = self.browser.tab(**options)
        self.addCleanup(tab.close)
        if signed_in and options.get("script", True):
            tab.go(f"{self.url}/#token={self.token}")
            self.wait_signed_in(tab)
            if path != "/":
                tab.go(self.url + path)
        elif signed_in:
            tab.go(self.url + "/")
            tab.ask("document.querySelector('#token').focus()")
            tab.type(self.token)
            self.follow(tab, lambda: tab.key("Enter"))
            tab.go(self.url + path)
        else:
            tab.go(self.url + path)
        return tab

    @staticmethod
    def wait_signed_in(tab):
        """Waits until the page that an address with the token leads to has been read whole."""
        tab.wait_for(f"!document.querySelector('#token') && {LOADED}")

    def follow(self, tab, act):
        """Does what brings another page, and waits for it."""
        loads = len(tab.seen("Page.loadEventFired"))
        act()
        tab.wait_event("Page.loadEventFired", loads)

    def stage(self, *words):
        """The pages over a state that is made up (tests/app/page/stage.cc)."""
        if not STAGE.exists():
            self.skipTest("built without libwebsockets")
        self.process = self.programs.start("stage", [STAGE, *words])
        self.enter(self.process)

    def assert_quiet(self, tab, *expected):
        """No script of a stranger ran, nothing was refused by the policy, nothing came from elsewhere."""
        complaints = [text for text in tab.complaints() if not any(word in text for word in ("401", *expected))]
        self.assertEqual([], complaints)
        strange = [url for url in tab.requested() if not url.startswith((self.url + "/", "data:"))]
        self.assertEqual([], strange)

    def assert_accessible(self, tab, name):
        if not AXE.exists():
            return  # what looks at states says at its end that this was skipped
        tab.ask(AXE.read_text() + "; 0")
        found = tab.ask("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map("
                        "v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + ' ' + "
                        "n.failureSummary).join(' | ')))")
        self.assertEqual([], found, name)
