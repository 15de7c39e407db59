"""A phone as camera, end to end: Chromium's fake webcam plays a game, and the page judges it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, expect

from calibration import colour_store, store
from calibration.colour_fit import ColourView, fit_colours
from service.tables import begin_table
from tests.service.page.conftest import DESKTOP, PHONE, Site
from vision.virtual.live import VirtualSource, VirtualTable, play_scene
from vision.virtual.play import rehearse
from vision.virtual.script import parse_script

pytestmark = [pytest.mark.browser, pytest.mark.slow]
GAME = "@ scene seed=3 family=tune rig=two\ngame = kewbz\n\nB +d4B\nY +d5Y\n"
CAMERA = "overhead"
FPS = 15


@pytest.fixture(scope="module")
def played() -> VirtualTable:
    """A play of two turns at a virtual table."""
    script = parse_script(GAME)
    return VirtualTable(play_scene(script), rehearse(script))


@pytest.fixture(scope="module")
def film(played: VirtualTable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the phone sees, as a file for Chromium's fake webcam (it plays 30 pictures a second)."""
    file = tmp_path_factory.mktemp("film") / "play.mjpeg"
    source = VirtualSource(played, CAMERA)
    frames = (source.frame(number) for number in range(int(played.play.seconds * FPS)))
    jpegs = [frame.jpeg for frame in frames if frame is not None and frame.jpeg]
    file.write_bytes(b"".join(jpeg for jpeg in jpegs for _ in range(30 // FPS)))
    return file


@pytest.fixture
def table(played: VirtualTable, tmp_path: Path) -> Path:
    """A table folder whose one camera is a phone, calibrated as the virtual camera stands."""
    folder = tmp_path / "table"
    folder.mkdir()
    (folder / "table.toml").write_text(
        f'game = "kewbz"\n[cameras.{CAMERA}]\nsource = "phone"\n', encoding="utf-8"
    )
    scene, studio = played.scene, played.studio
    empty, known = studio.empty()[CAMERA], studio.colour_picture()
    camera = scene.cameras[CAMERA]
    view = ColourView(camera, known.pictures[CAMERA], empty)
    (colours,) = fit_colours([view], scene.kind.board, scene.kind.colours, known.stacks)
    record = store.CameraRecord(camera, method="corners", rms_px=0.3, verdict="good")
    calibration = store.Calibration().with_camera(CAMERA, record)
    calibration = colour_store.with_colours(calibration, {CAMERA: colours}, date="", source="")
    store.write(folder, calibration)
    colour_store.save_empty(folder, CAMERA, empty)
    return folder


@pytest.fixture
def phone(chromium: str, chromiums: Playwright, film: Path) -> Iterator[Browser]:
    """A browser whose webcam shows the play."""
    browser = chromiums.chromium.launch(
        executable_path=chromium,
        args=[
            "--no-sandbox",
            "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream",
            f"--use-file-for-fake-video-capture={film}",
        ],
    )
    yield browser
    browser.close()


def test_a_phone_watches_a_game(site: Site, phone: Browser, table: Path) -> None:
    """Scan, allow, prop up: pictures arrive, a turn is read, judged, and shown to everybody."""
    assert site.server is not None
    begin_table(site.server, table)
    session = site.sessions.current()
    token = site.server.access.issue("camera", session, None)
    context = phone.new_context(viewport=PHONE, locale="en-GB")  # type: ignore[arg-type]
    camera = context.new_page()
    camera.goto(site.url(f"/camera?name={CAMERA}#join={token}"))

    camera.get_by_role("button", name="Start the camera").click()

    expect(camera.get_by_role("status")).to_contain_text("Sending", timeout=15_000)
    watching = phone.new_context(viewport=DESKTOP, locale="en-GB")  # type: ignore[arg-type]
    page = watching.new_page()
    page.goto(site.url(f"/t/{session}/play"))
    expect(page.locator(".turns")).to_contain_text("+d4", timeout=90_000)
    expect(page.locator(".turns")).to_contain_text("+d5", timeout=90_000)
    assert [turn["move"] for turn in site.sessions.get(session).session.state.turns][:1] == ["+d4B"]
