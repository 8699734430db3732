#!/usr/bin/python3
"""The pages in a real browser: without a sign of trouble in any state, by mouse, keyboard and drop,
with script and without. Pictures of the states stay in the build folder, under tests/e2e/pages."""

import json

import browser
import doors
import harness
from harness import KIB, MIB
from pages import AXE, PICTURES, Page


class States(Page):
    # Name of the picture, path, and a text that the page must show.
    SHOWN = (("04-contents", "/", "holiday pictures"),
             ("05-downloading", "/content/downloading", "stalled"),
             ("06-seeding", "/content/seeding", "160 verified of 160"),
             ("07-large", "/content/large", "1000 connected"),
             ("08-zoomed", "/content/large?from=50000&count=3200", "All 100000 generations"),
             ("09-hostile", "/content/hostile", "<img src=x onerror=alert(1)>"),
             ("10-failed", "/content/failed", "no space left"),
             ("11-searching", "/content/searching", "no peer is known"),
             ("15-queued", "/content/queued", "2. in line, high"),
             ("16-moving", "/content/moving", "no space left"),
             ("12-not-found", "/content/none", "no content has this id"))

    def look(self, tab, name):
        """Keeps a picture of each colour scheme, and asks axe of both."""
        tab.show_all()
        for scheme in ("light", "dark"):
            tab.colours(scheme == "dark")
            tab.picture(PICTURES / f"{name}-{scheme}.png")
            with self.subTest(name, scheme=scheme):
                self.assert_accessible(tab, name)

    def test_each_state_shows_what_it_should_in_both_colour_schemes(self):
        self.stage()
        tab = self.tab()
        for name, path, text in self.SHOWN:
            tab.go(self.url + path)
            self.assertIn(text, tab.text(), name)
            self.look(tab, name)
        self.assert_quiet(tab, "404")
        self.skip_without_axe()

    def skip_without_axe(self):
        if not AXE.exists():
            self.skipTest("axe-core was not asked, as there is none: scripts/setup --checks brings it")

    def test_signing_in(self):
        self.stage("none")
        tab = self.tab(signed_in=False)
        self.assertIn("Token", tab.text())
        self.look(tab, "01-sign-in")
        tab.ask("document.querySelector('#token').focus()")
        tab.type("wrong")
        self.follow(tab, lambda: tab.key("Enter"))
        self.assertIn("not the token", tab.text())
        self.look(tab, "02-wrong-token")
        tab.go(f"{self.url}/#token={self.token}")
        self.wait_signed_in(tab)
        self.assertIn("There is no content yet", tab.text())
        self.assertEqual("", tab.ask("location.hash"))
        self.look(tab, "03-empty")
        self.assert_quiet(tab)
        self.skip_without_axe()

    def test_a_narrow_window_shows_all_of_it(self):
        self.stage("kinds", "1000")
        for width in (380, 768):
            tab = self.tab(width=width, height=800)
            tab.go(self.url + "/")
            self.assertLessEqual(tab.ask("document.querySelector('button[value=pause]').getBoundingClientRect().right"),
                                 width)
        tab = self.tab(width=380, height=800)
        for name, path in (("13-narrow-contents", "/"), ("14-narrow-content", "/content/downloading")):
            tab.go(self.url + path)
            self.look(tab, name)
            for _ in ("as it comes", "with all forms open"):
                self.assertLessEqual(tab.ask("document.documentElement.scrollWidth"), 380, name)
                # What stands in cards needs no scrolling to the side.
                self.assertEqual([], tab.ask("[...document.querySelectorAll('.cards td, .cards button')].filter(e => "
                                             "e.getBoundingClientRect().right > innerWidth).map(e => e.innerText)"))
                tab.ask("document.querySelectorAll('details').forEach(e => e.open = true)")
            tab.picture(PICTURES / f"{name}-open.png")
            self.assertEqual([], tab.ask("[...document.querySelectorAll('table')].filter(e => !e.closest('.wide') && "
                                         "e.getBoundingClientRect().right > innerWidth).map(e => e.innerText)"),
                             "tables that are cut off and cannot be scrolled")
        self.skip_without_axe()

    def test_axe_would_notice(self):
        self.skip_without_axe()
        self.stage()
        tab = self.tab()
        tab.ask("document.querySelector('main').append(document.createElement('button')), 0")
        with self.assertRaisesRegex(AssertionError, "button-name"):
            self.assert_accessible(tab, "a button without a name")


class Strangers(Page):
    def test_names_and_agents_of_strangers_are_text(self):
        self.stage()
        for path in ("/", "/content/hostile", "/content/failed"):
            tab = self.tab(path)
            tab.wait_for("document.querySelector('#live').innerText == 'Live'")
            self.assertEqual(0, tab.ask("document.querySelectorAll('main img, main script, main svg[onload]').length"))
            self.assertIn("<img src=x onerror=alert(1)>", tab.text())
            self.assert_quiet(tab)
        tab = self.tab("/content/hostile")
        self.assertIn("<script>alert(3)</script>", tab.text())

    def test_a_hostile_name_that_was_shared_is_text(self):
        seed = self.share(self.file(100 * KIB, doors.HOSTILE))
        self.daemon()
        self.rpc("add", source=seed.link(), folder=str(self.folder / "d"))
        id = self.wait_for(lambda contents: contents[0]["complete"])[0]["content_id"]
        for path in ("/", "/content/" + id):
            tab = self.tab(path)
            self.assertIn(doors.HOSTILE, tab.text())
            self.assert_quiet(tab)


    def test_a_strangers_page_in_a_stream_is_saved_and_what_is_shown_has_no_origin(self):
        self.daemon()
        call = f"fetch('{self.url}/rpc', {{method: 'POST', credentials: 'include', body: '{{}}'}})"
        page = f"<!doctype html><script>{call}</script>".encode()
        picture = f'<svg xmlns="http://www.w3.org/2000/svg"><script>{call}</script></svg>'.encode()
        seed = self.share(self.tree({"page.html": page, "x.svg": picture, "page.txt": page}))
        self.rpc("add", source=seed.link(), folder=str(self.folder / "d"))
        id = self.wait_for(lambda contents: contents[0]["complete"])[0]["content_id"]
        urls = {file["path"]: file["url"] for file in self.rpc("play", content=id)["files"]}
        tab = self.tab()
        for name in ("page.html", "x.svg"):
            with self.assertRaises(browser.Failed, msg=name):
                tab.go(urls[name])  # it is saved, and the tab stays where it was
        tab.go(urls["page.txt"])
        self.assertIn("<script>", tab.text())
        self.assertEqual("null", tab.ask("self.origin"))
        self.assertEqual([], [url for url in tab.requested() if "/rpc" in url])


class Use(Page):
    def test_a_link_is_added_paused_resumed_and_removed_by_keyboard_and_the_page_lives(self):
        source = self.file(3 * MIB)
        seed = self.share(source)
        self.daemon("--down-limit", "20K")  # it is not complete before it is paused
        tab = self.tab()
        tab.tab_to("e.id == 'add-source'")  # it is open where there is nothing else
        tab.type(seed.link())
        tab.tab_to("e.id == 'add-folder'")
        tab.type(str(self.folder / "d"))
        self.follow(tab, lambda: tab.key("Enter"))
        tab.ask("window.notReloaded = true")
        tab.wait_for(f"document.querySelector('table').innerText.includes({json.dumps(source.name)})")
        tab.tab_to("e.innerText == 'Pause'")
        tab.key("Enter")
        self.wait_for(lambda contents: contents[0]["state"] == "paused")
        tab.wait_for("document.querySelector('table').innerText.includes('paused')")
        tab.wait_for("document.activeElement.innerText == 'Resume'")
        tab.key("Enter")
        tab.wait_for("document.querySelector('table').innerText.includes('downloading')")
        self.rpc("limit", down="none")
        tab.wait_for("document.querySelector('table').innerText.includes('seeding')")
        self.assertTrue(tab.ask("window.notReloaded"))
        tab.tab_to(f"e.innerText == {json.dumps(source.name)}")
        self.follow(tab, lambda: tab.key("Enter"))
        self.assertIn("verified of", tab.text())
        tab.tab_to("e.innerText == 'Remove'")
        tab.key("Enter")
        tab.tab_to("e.innerText == 'Forget, keep files'")
        self.follow(tab, lambda: tab.key("Enter"))
        self.assertIn("There is no content yet", tab.text())
        self.assertTrue((self.folder / "d" / source.name).exists())
        self.assert_quiet(tab)

    def test_limits_are_set_and_a_folder_is_watched_by_keyboard(self):
        self.daemon()
        inbox = self.folder / "inbox"
        inbox.mkdir()
        tab = self.tab()
        tab.tab_to("e.innerText == 'Change limits'")
        tab.key("Enter")
        tab.tab_to("e.id == 'limit-up'")
        tab.type("2M")
        self.follow(tab, lambda: tab.key("Enter"))
        self.assertIn("2.0 MiB/s", tab.text())
        tab.tab_to("e.innerText == 'Watch a folder'")
        tab.key("Enter")
        tab.tab_to("e.id == 'watch-folder'")
        tab.type(str(inbox))
        tab.tab_to("e.id == 'watch-output'")
        tab.type(str(self.folder))
        self.follow(tab, lambda: tab.key("Enter"))
        self.assertIn(str(inbox), tab.text())
        self.assertEqual(1, len(self.rpc("watches")["folders"]))
        self.assert_quiet(tab)

    def test_a_manifest_is_dropped(self):
        manifest = self.create(self.file(100 * KIB))
        self.daemon("--download-dir", self.folder / "d")
        tab = self.tab()
        self.follow(tab, lambda: tab.drop(manifest))
        self.assertIn("content.bin", tab.text())
        content, = self.rpc("list")["contents"]
        self.assertEqual(str(self.folder / "d"), self.rpc("show", content=content["content_id"])["folder"])
        self.assert_quiet(tab)

    def test_what_cannot_be_done_is_said(self):
        self.daemon()
        tab = self.tab()
        tab.mouse("#add-source", "click")
        tab.type("firn:nonsense")
        tab.mouse("#add-folder", "click")
        tab.type(str(self.folder / "d"))
        self.follow(tab, lambda: tab.key("Enter"))
        self.assertIn("That was not done", tab.text())
        # The page that the form stands on, with what was typed.
        self.assertIn("Contents", tab.text())
        self.assertEqual(["firn:nonsense", str(self.folder / "d")],
                         tab.ask("['source', 'folder'].map(name => document.getElementById('add-' + name).value)"))
        self.assertEqual("alert", tab.ask("document.activeElement.getAttribute('role')"))
        self.assert_quiet(tab, "422")

    def test_the_link_is_copied_and_can_be_marked_without_script(self):
        self.stage()
        self.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        tab = self.tab("/content/seeding")
        link = tab.ask("document.querySelector('#link').value")
        self.assertTrue(link.startswith("firn:"), link)
        tab.mouse("#copy", "click")
        tab.wait_for("document.querySelector('#copy').innerText == 'Copied'")
        tab.ask("document.querySelector('#limit-up').closest('details').open = true")
        tab.ask("document.querySelector('#limit-up').focus()")
        tab.call("Input.dispatchKeyEvent", type="keyDown", key="v", code="KeyV", windowsVirtualKeyCode=86, modifiers=2,
                 commands=["paste"])
        self.assertEqual(link, tab.ask("document.querySelector('#limit-up').value"))
        plain = self.tab("/content/seeding", script=False)
        self.assertEqual(link, plain.ask("(e => { e.select(); return e.value.slice(e.selectionStart, e.selectionEnd); })"
                                         "(document.querySelector('#link'))"))
        self.assertEqual("none", plain.ask("getComputedStyle(document.querySelector('#copy')).display"))

    def test_files_are_not_deleted_before_a_box_is_ticked(self):
        self.stage()
        tab = self.tab("/content/seeding")
        tab.mouse("#removal summary", "click")
        tab.mouse("#removal button[value=remove_data]", "click")
        self.assertEqual("/content/seeding", tab.ask("location.pathname"))
        self.assertEqual("seeding", tab.ask("document.querySelector('#facts dd').innerText"))
        tab.mouse("#removal input[type=checkbox]", "click")
        self.follow(tab, lambda: tab.mouse("#removal button[value=remove_data]", "click"))
        self.assertIn("removing", tab.text())
        self.assert_quiet(tab)

    def test_a_page_tells_that_its_program_has_gone_and_when_it_is_to_be_reloaded(self):
        port = harness.free_port()
        self.daemon("--http", f"localhost:{port}")
        tab = self.tab()
        tab.wait_for("document.querySelector('#live').innerText == 'Live'")
        self.process.stop()
        tab.wait_for("document.querySelector('#live').innerText.startsWith('Not connected')")
        self.daemon("--http", f"localhost:{port}")  # which does not know the cookies of the one before
        tab.wait_for("document.querySelector('#live').innerText.includes('reload the page')")
        tab.go(self.url + "/")
        self.assertIn("Token", tab.text())

    def test_without_script_the_page_shows_and_does_the_same(self):
        seed = self.share(self.file(300 * KIB))
        self.daemon()
        self.rpc("add", source=seed.link(), folder=str(self.folder / "d"))
        self.wait_for(lambda contents: contents[0]["state"] == "seeding")
        id = self.rpc("list")["contents"][0]["content_id"]
        seed.kill()
        self.wait_for(lambda contents: contents[0]["peers"] == 0)
        self.rpc("pause", content=id)
        for path in ("/", "/content/" + id):
            plain = self.tab(path, script=False)
            live = self.tab(path)
            live.wait_for("document.querySelector('#live').innerText == 'Live'")
            # Rates go on while the second page is loaded.
            facts = ("(main => { main.querySelectorAll('.scripted, .rates').forEach(e => e.remove()); "
                     "return main.textContent; })(document.querySelector('main').cloneNode(true))")
            self.assertIn("content.bin", plain.ask(facts))
            self.assertEqual(plain.ask(facts), live.ask(facts))
        plain.mouse("button[value=resume]", "click")
        self.wait_for(lambda contents: contents[0]["state"] == "seeding")


if __name__ == "__main__":
    harness.main()
