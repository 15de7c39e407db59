"""The set-up assistant in a browser: from nothing to a judged turn, and a lens measured on the way."""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from calibration.camera import Camera, Lens
from calibration.cv import Image
from calibration.lens_board import DEFAULT_BOARD, LensBoard
from calibration.store import read
from rules.registry import find_game
from rules.stacks import Stacks
from service.assistant import colour_stacks
from service.pictures import jpeg_of
from tests.service.page.conftest import Opener, Site
from vision.virtual.scene import Kind, Scene
from vision.virtual.studio import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NEWCOMER_S = 180


class Phone:
    """Sends what is held before it to every camera that waits for a phone."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._film: list[bytes] = []
        self._number = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def see(self, image: Image) -> None:
        """From now on this is before the phone."""
        self.film([image])

    def film(self, images: Sequence[Image]) -> None:
        """From now on these are before the phone, a second each, with the noise of a webcam."""
        rng = np.random.default_rng(1)
        self._film = [
            jpeg_of(cv2.add(image, rng.normal(0, 1.5, image.shape), dtype=cv2.CV_8U), 95)  # type: ignore[arg-type]
            for image in images
            for _ in range(6)
        ]

    def _run(self) -> None:
        while not self._stop.wait(0.15):
            film = self._film
            if film and self._site.server is not None:
                self._number += 1
                for phone in tuple(self._site.server.phones.values()):
                    phone.take(film[self._number % len(film)], 10**7)

    def close(self) -> None:
        """Put the phone away."""
        self._stop.set()
        self._thread.join()


@pytest.fixture
def phone(site: Site) -> Iterator[Phone]:
    """A phone that is propped up before the table."""
    phone = Phone(site)
    yield phone
    phone.close()


def new_table(page: Page) -> None:
    """KEWBZ for Ada and Bo, watched by a phone."""
    page.get_by_role("button", name="KEWBZ").click()
    page.get_by_label("Name blue").fill("Ada")
    page.get_by_label("Name yellow").fill("Bo")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="A phone").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Cameras")).to_be_visible()


def looked_at(page: Page, wanted: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end, page.locator("main").inner_text()
        page.wait_for_timeout(200)


def test_a_newcomer_begins_within_three_minutes(visit: Opener, site: Site, phone: Phone) -> None:
    """Game, names, a phone, find the board, learn the colours: the first turn is judged."""
    studio = Studio(Scene.from_seed(3, Kind.of(find_game("kewbz")), rig="two"))
    phone.see(studio.empty()["overhead"])
    began = time.monotonic()
    page = visit("/setup")
    new_table(page)
    name = page.url.split("/t/")[1].split("/")[0]

    page.get_by_role("button", name="Find the board").click()
    expect(page.get_by_role("status").filter(has_text="Looking for the board")).to_be_visible()
    expect(page.locator(".alert.good")).to_contain_text("The board is found", timeout=90_000)
    expect(page.locator(".cell-line").first).to_be_attached()

    live = site.sessions.get(name)
    phone.see(studio.still(colour_stacks(live.session), spare=False)["overhead"])
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Learn the colours").click()
    expect(page.locator(".alert").filter(has_text="colours are learned")).to_be_visible(
        timeout=90_000
    )
    phone.see(studio.empty()["overhead"])
    looked_at(page, lambda: live.session.state.phase == "play")
    page.get_by_role("link", name="Play").last.click()
    phone.see(studio.still(Stacks.of({"d4": "B"}))["overhead"])

    expect(page.locator(".turns")).to_contain_text("+d4", timeout=60_000)
    assert time.monotonic() - began < NEWCOMER_S
    assert live.session.state.turns[0]["player"] == "B"


def test_without_a_camera_a_virtual_table_is_set_up(visit: Opener, site: Site) -> None:
    """Nothing to plug in: the virtual table waits for each step, then its first turn is judged."""
    began = time.monotonic()
    page = visit("/setup")
    page.get_by_role("button", name="KEWBZ").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Virtual table").click()
    page.get_by_role("button", name="Begin").click()

    for number in range(2):
        page.get_by_role("button", name="Find the board").nth(number).click()
        expect(page.locator(".cameras .alert.good")).to_have_count(number + 1, timeout=90_000)
    page.get_by_role("button", name="Learn the colours").click()
    expect(page.get_by_text("The colours are learned")).to_be_visible(timeout=90_000)
    page.get_by_role("link", name="Play").last.click()

    expect(page.locator(".turns li")).not_to_have_count(0, timeout=90_000)
    assert time.monotonic() - began < NEWCOMER_S


def test_a_table_that_is_not_set_up_says_so(visit: Opener, site: Site) -> None:
    """In the page's language, without a word for a shell: the host is led to what is missing."""
    cameras = {"overhead": {"source": "phone"}}
    body = {"game": "kewbz", "folder": "kitchen", "cameras": cameras}
    page = visit("/games", locale="de-DE")
    table = page.request.post(site.url("/api/v1/tables"), data=body).json()["id"]
    code = page.request.post(
        site.url(f"/api/v1/sessions/{table}/invitations"), data={"role": "onlooker"}
    ).json()["url"]

    page.goto(site.url(f"/t/{table}/play"))
    guest = visit(f"/t/{table}/play#{code.partition('#')[2]}", locale="nl-NL")

    expect(page.get_by_role("heading", name="Dieser Tisch ist noch nicht")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("calibrate")
    expect(page.get_by_role("button", name="Jetzt beginnen")).to_have_count(0)
    expect(guest.get_by_text("De gastheer stelt de camera's in")).to_be_visible()
    expect(guest.get_by_role("link", name="Camera's instellen")).to_have_count(0)
    page.get_by_role("link", name="Kameras einrichten").click()
    expect(page.get_by_role("heading", name="Wo ist das Brett?")).to_be_visible()


def test_cameras_that_left_are_found_again_among_the_tables(visit: Opener, site: Site) -> None:
    """Nothing is left to set up where no camera follows; the host is led to the tables."""
    session = site.session(by_hand=True)
    page = visit(f"/t/{session.id}/cameras")
    expect(page.locator("main")).to_contain_text("No camera follows this table")
    expect(page.get_by_role("heading", name="Where is the board?")).to_have_count(0)

    page.locator("main").get_by_role("link", name="Tables").click()

    expect(page.get_by_role("heading", name="Games")).to_be_visible()


def test_what_is_not_found_is_told_in_the_chosen_language(
    visit: Opener, phone: Phone, site: Site
) -> None:
    """No board in the picture: the page says so in German and offers the corners."""
    phone.see(np.full((720, 1280, 3), 90, dtype=np.uint8))
    page = visit("/setup", locale="de-DE")
    page.get_by_role("button", name="KEWBZ").click()
    page.get_by_role("button", name="Weiter").click()
    page.get_by_role("button", name="Ein Telefon").click()
    page.get_by_role("button", name="Beginnen").click()

    page.get_by_role("button", name="Brett suchen").click()

    expect(page.locator(".alert.owed")).to_contain_text("wurde nicht gefunden", timeout=90_000)
    expect(page.get_by_role("slider")).to_have_count(4)


def lens_pictures() -> list[Image]:
    """The lens board held before a camera in eleven ways."""
    board = LensBoard.parse(DEFAULT_BOARD)
    lens = Lens((1280, 720), np.array([[1000.0, 0, 640], [0, 1000, 360], [0, 0, 1]]), np.zeros(5))
    flat = board.charuco().generateImage((1120, 800), marginSize=0)
    print_px = np.array([[0, 0], [1120, 0], [1120, 800], [0, 800]], dtype=np.float32)
    wide, high = board.columns * board.square_mm, board.rows * board.square_mm
    mm = np.array([[0, 0, 0], [wide, 0, 0], [wide, high, 0], [0, high, 0]], dtype=float)
    middle = np.array([wide / 2, high / 2, 0])
    ways = [(0, 0, 0, 0), (35, 0, -90, -40), (-35, 0, 90, 40), (0, 35, -90, 40), (0, -35, 90, -40)]
    ways += [(25, 25, 0, 50), (-25, 25, 0, -50), (30, -30, -110, 0), (-30, 30, 110, 0)]
    ways += [(15, -40, -60, 30), (40, 15, 60, -30)]
    found = []
    for tilt, turn, x, y in ways:
        rotation = cv2.Rodrigues(np.radians([tilt, turn, 4.0]))[0]
        place = np.array([x, y, 430.0]) - rotation @ middle
        corners = Camera.of(lens, rotation, place).project(mm).astype(np.float32)
        warp = cv2.getPerspectiveTransform(print_px, corners)
        picture = cv2.warpPerspective(
            flat, warp, (1280, 720), flags=cv2.INTER_AREA, borderValue=(170,)
        )
        found.append(np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), dtype=np.uint8))
    return found


def test_the_lens_is_measured_on_the_page(visit: Opener, site: Site, phone: Phone) -> None:
    """Pictures of the lens board take themselves, are counted, and give a lens."""
    phone.film(lens_pictures())
    page = visit("/setup")
    new_table(page)
    name = page.url.split("/t/")[1].split("/")[0]
    page.get_by_text("Measure the lens (optional)").click()

    page.get_by_role("button", name="Take pictures").click()
    expect(page.locator(".lens")).to_contain_text(
        re.compile("([89]|1[0-9]) pictures; 8 are enough"), timeout=60_000
    )
    page.get_by_role("button", name="Measure the lens").click()

    expect(page.locator(".lens .alert")).to_contain_text("The lens is measured", timeout=60_000)
    (record,) = read(Path(site.sessions.get(name).setup["table"])).lenses.values()
    assert abs(record.lens.focal_px / 1000 - 1) < 0.02
