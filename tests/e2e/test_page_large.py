#!/usr/bin/python3
"""A content of 100,000 generations and 1,000 peers in a real browser: what its map tells, and that
no piece of work keeps the page from answering for 50 ms."""

import json
import statistics

import harness
from pages import Page

TASK_MS = 50
RUNS = 3
# A piece of work for comparison: a table of 1,500 rows, made and laid out at once.
REFERENCE = ("(() => { const table = document.createElement('table'); table.innerHTML = "
             "'<tr><td>1</td><td>two</td><td>three</td></tr>'.repeat(1500); document.body.append(table); "
             "const height = table.offsetHeight; table.remove(); return height; })()")
REFERENCE_MS = 75  # CPU time on two cores of a cloud machine that others used as well


class Trace:
    """What the thread of a tab's page does meanwhile; a context manager."""

    def __init__(self, tab):
        self.tab, self.browser = tab, tab.browser

    def __enter__(self):
        self.heard = self.browser.listen()
        self.browser.call("Tracing.start", transferMode="ReportEvents", traceConfig={
            "recordMode": "recordUntilFull", "includedCategories": ["toplevel", "devtools.timeline"]})
        return self

    def __exit__(self, *_):
        self.browser.call("Tracing.end")
        self.browser.wait(lambda: next((1 for name, _ in self.heard if name == "Tracing.tracingComplete"), None),
                          "the end of a trace")
        self.events = [event for name, params in self.heard if name == "Tracing.dataCollected"
                       for event in params["value"]]

    def process(self, url):
        """The process in which the scripts of an address ran."""
        own, = {event["pid"] for event in self.events if url in json.dumps(event.get("args", {}))
                and event["name"] in ("FunctionCall", "EvaluateScript")}
        return own

    def longest_ms(self, process):
        """CPU time of the longest task of a process's main thread."""
        main = {(event["pid"], event["tid"]) for event in self.events if event["name"] == "thread_name"
                and event["args"]["name"] == "CrRendererMain" and event["pid"] == process}
        return max(event["tdur"] for event in self.events if event.get("ph") == "X" and "tdur" in event
                   and event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in main) / 1000


class Large(Page):
    def test_no_task_takes_longer_than_50_ms(self):
        self.stage()
        tab = self.tab()
        tasks, references = [], []
        for _ in range(RUNS):
            with Trace(tab) as trace:
                self.use(tab)
            process = trace.process(self.url)
            tasks.append(trace.longest_ms(process))
            with Trace(tab) as trace:
                tab.ask(REFERENCE)
            references.append(trace.longest_ms(process))
        # A machine that is slower, or whose cores others share, gets the time that it takes longer
        # for the reference as well.
        slower = max(1, statistics.median(references) / REFERENCE_MS)
        said = f"longest tasks {tasks} ms, reference {references} ms"
        print(said)
        self.assertLess(statistics.median(tasks), TASK_MS * slower, said)

    def use(self, tab):
        """Loads the page, lets it live for some events, points at cells, and zooms."""
        tab.go(self.url + "/content/large")
        tab.wait_for("document.querySelector('#live').innerText == 'Live'")
        self.events(tab, 3)
        for x in range(20):
            tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=200 + 40 * x, y=500 + 5 * x)
        tab.ask("document.querySelectorAll('details').forEach(e => e.open = true)")
        self.events(tab, 3)
        self.follow(tab, lambda: tab.ask("document.querySelector('#cells a').dispatchEvent(new MouseEvent('click'))"))
        self.events(tab, 2)

    def events(self, tab, count):
        """Waits until the server has told the page something that many times."""
        seen = len(tab.seen("Network.eventSourceMessageReceived"))
        tab.browser.wait(lambda: len(tab.seen("Network.eventSourceMessageReceived")) >= seen + count or None,
                         f"{count} events")

    def test_the_map_is_binned_and_zooms_to_single_generations(self):
        self.stage()
        tab = self.tab("/content/large")
        self.assertIn("Each cell stands for 25 generations", tab.text())
        self.assertEqual(4000, self.cells(tab))
        # A page that is still being read has some of its words and cells already.
        # The numbers beside the rows stand clear of one another.
        self.assertEqual(0, tab.ask("(all => all.filter((e, i) => i && e.top < all[i - 1].bottom).length)"
                                    "([...document.querySelectorAll('#cells text')].map(e => e.getBoundingClientRect()))"))
        self.follow(tab, lambda: tab.mouse("#row-3 a", "click"))
        self.assertIn("All 100000 generations", tab.text())
        self.assertEqual(3200, self.cells(tab))
        self.assertIn("from=9600&count=3200", tab.ask("location.search"))
        self.assertNotIn("Each cell stands", tab.text())

    def cells(self, tab):
        return tab.ask("[...document.querySelectorAll('#cells path')].reduce("
                       "(sum, e) => sum + e.getAttribute('d').split('M').length - 1, 0)")

    def test_pointing_at_a_cell_tells_who_supplies_it(self):
        self.stage()
        tab = self.tab("/content/downloading?from=240&count=60")
        # All states have a look of their own.
        styles = set(tab.ask("[...document.querySelectorAll('.legend rect')].map(e => e.getAttribute('class'))"))
        looks = set(tab.ask("[...document.querySelectorAll('.legend rect')].map(e => getComputedStyle(e).fill + "
                            "getComputedStyle(e).stroke)"))
        self.assertEqual((10, 10), (len(styles), len(looks)))
        tab.mouse("#row-0 path.s")
        tab.wait_for("/^generations? /.test(told.innerText)")
        tab.ask("document.querySelector('#cell').focus()")
        tab.key("Home")
        for _ in range(60):
            words = tab.ask("told.innerText")
            if "from " in words and " at 192.0.2." in words:
                break
            number = tab.ask("Number(cell.value)")
            tab.key("ArrowRight")
            tab.wait_for(f"told.innerText.startsWith('generation {240 + number + 1}:')")
        self.assertRegex(words, r"^generation \d+: [a-z ]+, rank \d+ of 64, .*from \w{8} at 192\.0\.2\.\d+:\d+ \(\d+\)")
        self.assertEqual(words.split(":")[0], tab.ask("cell.getAttribute('aria-valuetext')").split(":")[0])
        tab.key("ArrowDown")
        self.assertEqual("visible", tab.ask("cursor.getAttribute('visibility')"))
        self.assert_quiet(tab)

    def test_a_cell_of_many_generations_is_zoomed_into_by_keyboard(self):
        self.stage()
        tab = self.tab("/content/large")
        tab.tab_to("e.id == 'cell'")
        tab.key("ArrowDown")
        tab.key("ArrowRight")
        tab.wait_for("told.innerText.startsWith('generations 3225 to 3249')")
        self.follow(tab, lambda: tab.key("Enter"))
        self.assertEqual(25, self.cells(tab))
        tab.wait_for("document.activeElement.tagName == 'BODY' && location.hash == '#map'")

    def test_tables_stand_behind_map_and_chart(self):
        self.stage()
        tab = self.tab("/content/downloading")
        for details, words in (("map-details", "From (rows)"), ("rates-table", "Ago")):
            tab.tab_to(f"e.parentElement.id == '{details}'")
            tab.key("Enter")
            # A table of many rows has no text before the browser has laid it out.
            tab.wait_for(f"document.body.innerText.includes('{words}')")
        self.events(tab, 2)
        self.assertTrue(tab.ask("document.getElementById('map-details').open"))


if __name__ == "__main__":
    harness.main()
