"""The page in a browser: people with roles, languages, keyboards, and other eyes."""

import re

import pytest
from playwright.sync_api import Page, expect

import page_build
from rules.stacks import Stacks
from service.follower import Seen
from service.settings import Settings
from tests.service.page.conftest import PHONE, Opener, Site, play, see

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AXE = page_build.SOURCES / "node_modules" / "axe-core" / "axe.min.js"
LANGUAGES = {"en": "Play", "de": "Spielen", "fr": "Jouer", "es": "Jugar", "nl": "Spelen"}


def invitation(site: Site, session: str, role: str, player: str | None = None) -> str:
    """The part of an invitation's address behind the host name."""
    assert site.server is not None
    token = site.server.access.issue(role, session, player)  # type: ignore[arg-type]
    return f"/#join={token}"


@pytest.fixture
def strict_site(site: Site) -> Site:
    """A server for which nobody is host by being on the same machine."""
    site.stop()
    site.settings = Settings(data=site.settings.data, localhost="nobody")
    site.start()
    return site


def serious(page: Page) -> list[tuple[str, str, list[str]]]:
    """What the accessibility checker axe finds serious or critical."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run().then((result) => result.violations)")
    return [
        (one["id"], one["help"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


class TestRoles:
    """Who scans which code."""

    def test_a_player_joins_by_his_code(self, strict_site: Site, visit: Opener) -> None:
        """The token goes from the address into a cookie, and the tools of players appear."""
        session = strict_site.session()
        play(session)

        page = visit(invitation(strict_site, session.id, "player", "B"), PHONE)

        expect(page.get_by_role("button", name="Undo")).to_be_visible()
        assert "join" not in page.url
        assert page.context.cookies()[0]["httpOnly"]

    def test_an_onlooker_only_watches(self, strict_site: Site, visit: Opener) -> None:
        """He sees the game, and no button that changes it."""
        session = strict_site.session()
        play(session)

        page = visit(invitation(strict_site, session.id, "onlooker"))

        expect(page.locator(".turns li")).to_have_count(3)
        for name in ("Undo", "Correct", "Pause", "Invite"):
            expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)

    def test_a_stranger_is_asked_for_the_code(self, strict_site: Site, visit: Opener) -> None:
        """Without an invitation nothing is shown; the pairing code makes a host."""
        session = strict_site.session()
        play(session)
        assert strict_site.server is not None
        page = visit("/")
        expect(page.get_by_role("heading", name="Welcome")).to_be_visible()

        page.get_by_label("Pairing code").fill(strict_site.server.access.code)
        page.get_by_role("button", name="Become host").click()

        expect(page.get_by_role("button", name="Invite")).to_be_visible()

    def test_the_host_shows_codes(self, site: Site, visit: Opener) -> None:
        """Each role has its code, as a picture and as an address."""
        session = site.session()
        play(session)
        page = visit("/")
        page.get_by_role("button", name="Invite").click()
        dialog = page.get_by_role("dialog")

        dialog.get_by_role("button", name="To play as Ada").click()

        expect(dialog.locator("img.qr")).to_be_visible()
        expect(dialog.get_by_role("button", name="Copy address")).to_be_visible()


class TestLanguages:
    """Five languages."""

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_the_browser_chooses(self, site: Site, visit: Opener, language: str) -> None:
        """The page and the rules' sentences come in the browser's language."""
        session = site.session()
        play(session)
        see(session, d4="B", d5="YB", c5="B", h1="Y")

        page = visit("/", locale=f"{language}-XX" if language != "en" else "en-GB")

        expect(page.get_by_role("link", name=LANGUAGES[language], exact=True)).to_be_visible()
        assert page.evaluate("document.documentElement.lang") == language
        said = session.state.turns[-1]["breaks"][0]["says"][language]
        expect(page.locator(".breach")).to_contain_text(said)

    def test_another_language_can_be_chosen(self, site: Site, visit: Opener) -> None:
        """The choice stays on the device."""
        site.session()
        page = visit("/games")
        page.get_by_role("button", name="Options").click()
        page.get_by_label("Language").select_option("nl")
        expect(page.get_by_role("link", name="Regels", exact=True)).to_be_visible()

        page.reload()

        expect(page.get_by_role("link", name="Regels", exact=True)).to_be_visible()


class TestSetup:
    """A new game."""

    def test_a_newcomer_opens_a_game(self, site: Site, visit: Opener) -> None:
        """Game, names, who begins, and the table waits for the start position."""
        page = visit("/setup", PHONE)
        page.get_by_role("button", name=re.compile("KEWBZ")).click()
        page.get_by_label("Name blue").fill("Ada")
        page.get_by_label("Name yellow").fill("Bo")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Begin").click()

        expect(page.locator(".scores")).to_contain_text("Ada")
        expect(page.locator(".alerts")).to_contain_text("Waiting for the start position")

    def test_without_a_camera_positions_are_told_by_hand(self, site: Site, visit: Opener) -> None:
        """Tap a cell, say what stands there, and the rules judge it."""
        session = site.session(by_hand=True)
        page = visit("/", PHONE)
        expect(page.locator(".alerts")).to_contain_text("Then: Start now.")
        page.get_by_role("button", name="Start now").click()
        page.get_by_role("button", name="Flat board").click()

        for cell, colour in (("d4", "blue"), ("d5", "yellow")):
            page.get_by_role("button", name=re.compile(f"^{cell}:")).click()
            dialog = page.get_by_role("dialog")
            dialog.get_by_role("button", name=f"Add {colour}").click()
            dialog.get_by_role("button", name="Save").click()
            expect(dialog).to_have_count(0)

        assert [turn["move"] for turn in session.state.turns] == ["+d4B", "+d5Y"]

    def test_rules_lead_to_the_broken_one(self, site: Site, visit: Opener) -> None:
        """The link of an alert shows the rule among its sisters."""
        page = visit("/rules/kewbz?rule=kewbz.square")

        expect(page.locator(".rules .asked")).to_contain_text("kewbz.square")


class TestAccess:
    """Keyboard, screen reader, small data, no network."""

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize(
        "path",
        ["/", "/t/{id}/restore", "/t/{id}/replay", "/rules", "/rules/kewbz", "/games", "/setup", "/t/{id}/cameras",
         "/camera", "/overlay", "/nothing"],
    )  # fmt: skip
    def test_the_checker_finds_nothing_serious(
        self, site: Site, visit: Opener, path: str, theme: str
    ) -> None:
        """The checker axe finds nothing serious or critical on any page, on desktop and phone."""
        session = site.session()
        play(session)
        see(session, d4="B", d5="YB", c5="B", h1="Y")
        page = visit(path.format(id=session.id), color_scheme=theme)
        expect(page.locator("main, .overlay-page").first).to_be_visible()
        page.wait_for_timeout(600)

        assert serious(page) == []
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        assert serious(page) == []

    def test_dialogs_and_the_flat_board_are_checked_too(self, site: Site, visit: Opener) -> None:
        """What opens on top of a page is as accessible as the page."""
        session = site.session()
        play(session)
        page = visit("/")
        page.get_by_role("button", name="Flat board").click()
        page.get_by_role("button", name="Correct").click()
        page.get_by_role("button", name=re.compile("^d4:")).click()

        assert serious(page) == []

    def test_a_players_cards_and_the_demo_are_checked_too(self, site: Site, visit: Opener) -> None:
        """What only players of CUBE, or onlookers of the demo, get to see."""
        session = site.session(game="cube", players=[{"id": "1", "name": "Ada"}, {"id": "2"}])
        see(session, a1="R", d1="Y", a4="B", d4="G")
        page = visit("/")
        page.get_by_text("Lay down a card").click()
        assert serious(page) == []
        page = visit(invitation(site, session.id, "player", "1"), PHONE, color_scheme="dark")
        expect(page.get_by_text("Your cards")).to_be_visible()
        assert serious(page) == []

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_the_assistant_and_doubt_are_checked_too(
        self, site: Site, visit: Opener, theme: str
    ) -> None:
        """Every step of a new game, a table that is not set up yet, and marks of doubt."""
        page = visit("/setup", PHONE, color_scheme=theme)
        page.get_by_role("button", name="KEWBZ").click()
        page.get_by_text("House rules").click()
        assert serious(page) == []
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="A phone").click()
        assert serious(page) == []
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("heading", name="Where is the board?")).to_be_visible()
        assert serious(page) == []
        page.get_by_role("link", name="Play").first.click()
        expect(page.get_by_text("This table is not set up yet")).to_be_visible()
        assert serious(page) == []
        session = site.session()
        see(session)
        doubt = {"d4": {"B": 0.8, "BB": 0.2}}
        session.observed(Seen(Stacks.of({"d4": "B"}), doubt, certainty=0.8))
        page.goto(site.url("/"))
        page.get_by_role("button", name="Flat board").click()
        expect(page.locator(".mark-doubt")).to_have_count(1)
        assert serious(page) == []

    def test_the_keyboard_reaches_the_content_first(self, site: Site, visit: Opener) -> None:
        """The first stop of the Tab key leads past the navigation."""
        site.session()
        page = visit("/games")
        expect(page.get_by_role("heading", name="Games")).to_be_visible()

        page.keyboard.press("Tab")

        assert page.evaluate("document.activeElement.className") == "skip"

    def test_the_first_load_is_small(self, site: Site, visit: Opener) -> None:
        """Under 300 KB come over the wire before the 3D part is asked for."""
        session = site.session()
        sizes: dict[str, int] = {}

        def listen(page: Page) -> None:
            page.on(
                "requestfinished",
                lambda asked: sizes.update({asked.url: asked.sizes()["responseBodySize"]}),
            )

        page = visit(f"/t/{session.id}/play", before=listen, service_workers="block")
        expect(page.locator(".stage canvas")).to_be_visible()
        page.wait_for_timeout(300)

        first = sum(size for url, size in sizes.items() if "scene-" not in url)
        assert any("scene-" in url for url in sizes), "the 3D part must be a file of its own"
        assert 1000 < first < 300_000

    def test_it_opens_without_a_network(self, site: Site, visit: Opener) -> None:
        """Once visited, the page itself opens without its server and says what is missing."""
        site.session()
        page = visit("/games")
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.reload()
        expect(page.get_by_role("heading", name="Games")).to_be_visible()

        site.stop()
        page.goto(site.url("/games"))

        expect(page.get_by_role("status")).to_contain_text("The server does not answer")
        site.problems.clear()  # the browser logs what it could not reach
        site.start()
