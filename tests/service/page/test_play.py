"""The page in a browser: what players see and do while they play."""

import re

import cv2
import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from rules.stacks import Stacks
from service.follower import Seen
from service.session import GameSession
from tests.service.page.conftest import DESKTOP, PHONE, Opener, Site, play, see
from vision.frame import ImageBGR

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])


@pytest.fixture
def session(site: Site) -> GameSession:
    """A game of three turns."""
    session = site.session()
    play(session)
    return session


def turns(page: Page) -> list[str]:
    """The numbers of the turns in the list, the newest first."""
    return page.locator(".turns .n").all_inner_texts()


@SIZES
def test_turns_appear_as_they_happen(
    visit: Opener, session: GameSession, size: dict[str, int]
) -> None:
    """The list, the score and whose turn it is follow each event, without reloading."""
    page = visit("/", size)
    expect(page.locator(".score.moves")).to_contain_text("Yellow")
    assert turns(page) == ["3", "2", "1"]

    see(session, d4="B", d5="YB", c5="B", e6="Y")

    expect(page.locator(".turns li").first).to_contain_text("e6")
    expect(page.locator(".score.moves")).to_contain_text("Ada")
    assert turns(page) == ["4", "3", "2", "1"]


@SIZES
def test_the_board_stands_in_three_dimensions(
    visit: Opener, session: GameSession, size: dict[str, int]
) -> None:
    """The 3D board is drawn, and can be turned and zoomed with keys."""
    page = visit("/", size)
    stage = page.locator(".stage")
    expect(stage.locator("canvas")).to_be_visible()
    page.wait_for_timeout(800)
    before = stage.screenshot()

    stage.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    page.wait_for_timeout(800)

    assert stage.screenshot() != before


@SIZES
def test_a_broken_rule_is_told_in_words(
    visit: Opener, session: GameSession, size: dict[str, int]
) -> None:
    """An illegal turn is alerted with its sentence, its rule, and a way to let it stand."""
    page = visit("/", size)
    see(session, d4="B", d5="YB", c5="B", h1="Y")
    alert = page.locator(".breach")
    expect(alert).to_contain_text("Turn 4 of Yellow is against the rules")
    expect(alert).to_contain_text("h1")
    expect(alert.get_by_role("link", name="The rule").first).to_have_attribute(
        "href", re.compile("/rules/kewbz")
    )
    place = alert.bounding_box()
    assert place is not None
    assert place["y"] < size["height"], "one must not have to scroll to it"

    alert.get_by_role("button", name="Let it stand").click()

    expect(alert).to_have_count(0)
    expect(page.locator(".turns li").first).to_contain_text("let stand")


def test_the_board_is_whole_above_the_bar(visit: Opener, session: GameSession) -> None:
    """An alert pushes the board down behind the bar of a phone; what is above the bar is drawn."""
    page = visit("/", {**PHONE, "height": 740})
    see(session, d4="B", d5="YB", c5="B", h1="Y")
    expect(page.locator(".breach")).to_be_visible()
    page.wait_for_timeout(800)
    stage, bar = page.locator(".stage").bounding_box(), page.locator(".top nav").bounding_box()
    assert stage is not None
    assert bar is not None
    assert stage["y"] < bar["y"] < stage["y"] + stage["height"]
    above = slice(round(stage["y"]), round(bar["y"]))

    drawn = picture(page)[above]
    page.add_style_tag(content=".top nav { visibility: hidden }")

    assert (picture(page)[above] == drawn).all()


def picture(page: Page) -> ImageBGR:
    """The window as one sees it; a part of it would be drawn in another way."""
    return shown(page)


def shown(what: Page | Locator) -> ImageBGR:
    """A window, or a part of it, as a picture."""
    png = np.frombuffer(what.screenshot(), np.uint8)
    return np.asarray(cv2.imdecode(png, cv2.IMREAD_COLOR), np.uint8)


def test_what_is_owed_is_told(visit: Opener, session: GameSession) -> None:
    """While a hand fetches the second piece, the page says which and where."""
    page = visit("/")

    see(session, d4="B", d5="YB", c5="B", b5="Y")

    expect(page.locator(".owed")).to_contain_text(re.compile(r"Yellow: .* on "))
    expect(page.locator(".owed")).to_contain_text("Still to do")


def test_a_bonus_is_no_debt(visit: Opener, site: Site) -> None:
    """TURRIS lets players decline it, so the page does not say that it is still to do."""
    session = site.session(game="turris", players={})
    see(session)
    see(session, a1="L", b1="L")
    see(session, a1="L", b1="L", c1="DD")
    see(session, a1="L", b1="L", c1="DD", a2="L", b2="L")

    page = visit("/")

    expect(page.locator(".owed")).to_contain_text("may use a bonus")
    expect(page.locator(".owed")).to_contain_text("Still allowed")
    expect(page.locator(".owed")).not_to_contain_text("Still to do")


def test_a_misread_cell_is_corrected_by_keyboard(visit: Opener, site: Site) -> None:
    """Tap a cell, say what stands there: later turns and scores change."""
    session = site.session()
    see(session)
    see(session, h8="B")
    see(session, h8="B", d5="Y")
    page = visit("/")
    expect(page.locator(".breach")).to_be_visible()
    page.get_by_role("button", name="Flat board").click()
    for cell, add in (("h8", False), ("d4", True)):
        page.get_by_role("button", name="Correct").click()
        page.get_by_role("button", name=re.compile(f"^{cell}:")).press("Enter")
        dialog = page.get_by_role("dialog")
        if add:
            dialog.get_by_role("button", name="Add blue").press("Enter")
        else:
            dialog.get_by_role("button", name="Empty").press("Enter")
        dialog.get_by_label("It has been so").select_option("1")
        dialog.get_by_role("button", name="Save").press("Enter")
        expect(dialog).to_have_count(0)

    expect(page.locator(".breach")).to_have_count(0)
    expect(page.locator(".turns li")).to_have_count(2)
    assert [t["move"] for t in session.state.turns] == ["+d4B", "+d5Y"]


def test_doubt_is_answered_with_one_tap(visit: Opener, site: Site) -> None:
    """A question shows its choices; the answer is judged."""
    session = site.session()
    see(session)
    see(session, d4="B")
    doubt = {"d5": {"B": 0.6, "Y": 0.4}}
    session.observed(Seen(Stacks.of({"d4": "B", "d5": "B"}), doubt, certainty=0.6))
    page = visit("/", PHONE)

    page.locator(".question").get_by_role("button", name="yellow").click()

    expect(page.locator(".question")).to_have_count(0)
    assert session.state.turns[-1]["move"] == "+d5Y"


def test_a_question_about_several_cells_is_answered_as_a_whole(visit: Opener, site: Site) -> None:
    """One piece may lie on all of them, and half a piece would be told as a breach."""
    session = site.session()
    see(session)
    see(session, d4="B")
    doubt = {cell: {"B": 0.4, "Y": 0.3, "BB": 0.3} for cell in ("h7", "h8")}
    session.observed(Seen(Stacks.of({"d4": "B", "h7": "B", "h8": "B"}), doubt, certainty=0.4))
    page = visit("/", PHONE)
    first, second = (page.locator(".question fieldset").nth(k) for k in (0, 1))

    first.get_by_role("button", name="yellow", exact=True).click()
    expect(first.locator("[aria-pressed=true]")).to_have_count(1)
    assert len(session.state.turns) == 1
    second.get_by_role("button", name="yellow", exact=True).click()

    expect(page.locator(".question")).to_have_count(0)
    assert session.state.turns[-1]["move"] == "+h7Y +h8Y"


def test_what_is_not_certain_is_marked(visit: Opener, site: Site) -> None:
    """A doubt that no verdict depends on is shown on the board and in words, until it is gone."""
    session = site.session()
    see(session)
    doubt = {"d4": {"B": 0.8, "BB": 0.2}}
    session.observed(Seen(Stacks.of({"d4": "B"}), doubt, certainty=0.8))
    page = visit("/")
    page.get_by_role("button", name="Flat board").click()

    expect(page.locator(".unsure")).to_contain_text("Not certain: d4")
    expect(page.locator(".mark-doubt")).to_have_count(1)
    see(session, d4="B")

    expect(page.locator(".unsure")).to_have_count(0)
    expect(page.locator(".mark-doubt")).to_have_count(0)


def test_what_kiebitz_corrects_itself_is_told(visit: Opener, site: Site) -> None:
    """A scene that only an earlier misreading explains: nobody is blamed, and the page says so."""
    session = site.session()
    page = visit("/", locale="fr-FR")
    play(session)
    doubted = {"f6": {"": 0.7, "Y": 0.3}}
    later = {"d4": "B", "d5": "YB", "c5": "B", "f6": "Y", "f7": "B"}
    session.observed(Seen(Stacks.of(later), doubted=doubted))

    expect(page.locator(".alert.good")).to_contain_text("avait mal lu f6")
    expect(page.locator(".breach")).to_have_count(0)
    see(session, **later, e3="Y")

    expect(page.locator(".alert.good")).to_have_count(0)


def test_undo_pause_and_resume(visit: Opener, session: GameSession) -> None:
    """The buttons do what they say, and only while they make sense."""
    page = visit("/")
    page.on("dialog", lambda dialog: dialog.accept())

    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".turns li")).to_have_count(2)
    see(session, d4="B", d5="Y")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".alerts")).to_contain_text("Anything may be touched")
    page.get_by_role("button", name="Go on").click()

    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_what_keeps_a_paused_game_from_going_on_is_told(
    visit: Opener, session: GameSession
) -> None:
    """While something stands otherwise, the page leads to where it is listed."""
    page = visit("/")
    session.pause()
    expect(page.locator(".alerts")).to_contain_text("Anything may be touched")
    expect(page.get_by_role("link", name="Something stands otherwise")).to_have_count(0)

    see(session, d4="B", d5="YB", c5="B", a8="Y")
    page.get_by_role("link", name="Something stands otherwise").click()

    expect(page.get_by_text("yellow on a8, level 1")).to_be_visible()


def test_legal_places_are_shown_on_demand(visit: Opener, session: GameSession) -> None:
    """Exactly the cells that the rules allow are marked, turn by turn."""
    page = visit("/")
    page.get_by_role("button", name="Flat board").click()
    expect(page.locator(".mark-legal")).to_have_count(0)

    page.get_by_role("button", name="Legal places").click()

    cells = {cell for turn in session.legal() for cell in turn["cells"]}
    expect(page.locator(".mark-legal")).to_have_count(len(cells))
    see(session, d4="B", d5="YB", c5="B", e6="Y")

    after = {cell for turn in session.legal() for cell in turn["cells"]}
    assert len(after) != len(cells)
    expect(page.locator(".mark-legal")).to_have_count(len(after))


@SIZES
def test_restore_lists_missing_and_surplus_pieces(
    visit: Opener, session: GameSession, size: dict[str, int]
) -> None:
    """After an accident the page says piece by piece what to put back."""
    session.pause()
    page = visit(f"/t/{session.id}/restore", size)
    expect(page.locator(".good")).to_be_visible()

    see(session, d4="B", d5="Y", c6="B", c5="B")

    expect(page.locator(".marks.missing li")).to_have_text(re.compile("blue on d5, level 2"))
    expect(page.locator(".marks.surplus li")).to_have_text(re.compile("blue on c6, level 1"))
    expect(page.get_by_role("button", name="Go on")).to_be_disabled()


def test_replay_goes_through_the_game(visit: Opener, session: GameSession) -> None:
    """Slider and buttons show each turn; the game can be taken along."""
    page = visit(f"/t/{session.id}/replay?turn=1")
    expect(page.locator(".side")).to_contain_text("Turn 1 of 3")

    page.get_by_role("button", name="Next turn").click()
    expect(page.locator(".side")).to_contain_text("Turn 2 of 3")
    page.get_by_role("slider").fill("0")
    expect(page.locator(".player")).to_contain_text("Start")
    with page.expect_download() as file:
        page.get_by_role("link", name="Save as file").click()
    assert file.value.suggested_filename.endswith(".kiebitz")
    assert file.value.path().stat().st_size  # browsers may hold back a second one meanwhile
    with page.expect_download() as picture:
        page.get_by_role("button", name="Share as picture").click()

    assert picture.value.path().read_bytes().startswith(b"\x89PNG")


def test_a_restarted_server_goes_on(visit: Opener, session: GameSession, site: Site) -> None:
    """The page says that the connection is lost, comes back by itself, and misses nothing."""
    page = visit("/")
    expect(page.locator(".turns li")).to_have_count(3)

    site.stop()
    expect(page.locator(".strip.bad")).to_contain_text("Connection lost")
    site.start()
    again = site.sessions.get(session.id).session
    see(again, d4="B", d5="YB", c5="B", e6="Y")

    expect(page.locator(".turns li")).to_have_count(4, timeout=20_000)
    expect(page.locator(".strip.bad")).to_have_count(0)
    site.problems.clear()  # the browser logs each try to connect


def test_a_page_that_follows_shows_what_a_fresh_one_shows(visit: Opener, site: Site) -> None:
    """Event by event the page arrives at the same state that the server tells at once."""
    session = site.session(rules={"supply": 6})
    page = visit("/")
    expect(page.locator(".alerts")).to_contain_text("Waiting")
    d5 = {"d4": "B", "d5": "Y"}
    scenes = [{}, {"d4": "B"}, d5, {**d5, "h8": "B"}, d5, {**d5, "c5": "B"}]
    scenes += [{"d4": "B", "d5": "YB", "c5": "B"}, {"d4": "B", "d5": "YB", "c5": "B", "e6": "Y"}]
    for cells in scenes:
        see(session, **cells)
    expect(page.locator(".turns li")).to_have_count(5)
    session.pause()
    session.resume()
    session.undo()
    see(session, **scenes[-2])  # else what still stands would soon be taken for the turn again
    expect(page.locator(".turns li")).to_have_count(4)

    fresh = visit("/")
    expect(fresh.locator(".turns li")).to_have_count(4)
    told = fresh.locator(".side").inner_text()

    # The last events may still be on their way to a page that was open before.
    expect(page.locator(".side")).to_have_text(told, use_inner_text=True)


def test_the_end_is_told(visit: Opener, site: Site) -> None:
    """The winner is named with the reason."""
    session = site.session(rules={"supply": 1})
    see(session)
    see(session, d4="B")
    page = visit("/")

    expect(page.locator(".ending")).to_be_visible()


def test_a_new_game_begins_without_points(visit: Opener, site: Site) -> None:
    """A page that saw the last game end shows none of its points over the cleared board."""
    session = site.session(rules={"supply": 1})
    see(session)
    see(session, d4="B")
    page = visit("/")
    expect(page.locator(".points").last).not_to_have_text("0")

    see(session)

    expect(page.locator(".turns")).to_contain_text("No turn yet")
    expect(page.locator(".points").last).to_have_text("0")


def test_the_scoreboard_for_streams_is_transparent(visit: Opener, session: GameSession) -> None:
    """Streaming software gets score and last turn on nothing."""
    page = visit("/overlay")

    expect(page.locator(".overlay-page")).to_contain_text("Ada")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgba(0, 0, 0, 0)"


def test_long_pieces_are_drawn_whole(visit: Opener, site: Site) -> None:
    """A flat piece is one piece, not six cells; an upright one covers the two it stands on."""
    session = site.session(game="ksar", players=[{"id": "R"}, {"id": "B"}])
    see(session)
    flat = {f"{file}{rank}": "R" for file in "abc" for rank in (9, 10)}
    see(session, **flat)
    see(session, **flat, d10="BBB", e10="BBB")
    page = visit("/")

    page.get_by_role("button", name="Flat board").click()

    expect(page.locator(".flat .piece")).to_have_count(2)
    expect(page.locator(".flat .mark-last")).to_have_count(1)
    wide = [round(piece.bounding_box()["width"]) for piece in page.locator(".flat .piece").all()]  # type: ignore[index]
    assert max(wide) > 1.4 * min(wide)


def test_whole_pieces_are_put_down_by_hand(visit: Opener, site: Site) -> None:
    """Without a camera a long piece is told with one tap, and taken away as one."""
    session = site.session(game="turris", players=[{"id": "L"}, {"id": "D"}], by_hand=True)
    see(session)
    page = visit("/")
    page.get_by_role("button", name="Flat board").click()
    page.get_by_role("button", name=re.compile("^a1:")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Piece").select_option("2 × 1 × 1")
    dialog.get_by_role("button", name="Add light").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)

    expect(page.locator(".turns li").first).to_contain_text("a1–b1")
    assert session.state.stacks == {"a1": "L", "b1": "L"}
    page.get_by_role("button", name=re.compile("^b1:")).click()
    page.get_by_role("dialog").get_by_role("button", name="Remove the top piece").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator(".turns li")).to_have_count(0)
    assert session.state.stacks == {}


def test_undo_by_hand_clears_the_table_too(visit: Opener, site: Site) -> None:
    """Where nobody else says what stands there, the next piece is judged right after undo."""
    session = site.session(by_hand=True)
    see(session)
    see(session, d4="B")
    see(session, d4="B", d5="Y")
    page = visit("/")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Flat board").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name=re.compile("^d5: empty"))).to_be_visible()
    page.get_by_role("button", name=re.compile("^e5:")).click()
    page.get_by_role("dialog").get_by_role("button", name="Add yellow").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()

    expect(page.locator(".turns li").first).to_contain_text("e5")
    assert [t["move"] for t in session.state.turns] == ["+d4B", "+e5Y"]


def test_cards_are_drawn_and_laid_down(visit: Opener, site: Site) -> None:
    """The host taps a card together for a player without a phone, and it counts."""
    session = site.session(game="cube", players=[{"id": "1", "name": "Ada"}, {"id": "2"}])
    start = {"a1": "R", "d1": "Y", "a4": "B", "d4": "G"}
    for cells in ({}, {"b1": "G"}, {"b1": "G", "c1": "B"}, {"b1": "GR", "c1": "B"}):
        see(session, **start, **cells)
    see(session, **start, b1="GR", c1="BY")
    page = visit("/")
    page.get_by_text("Lay down a card").click()
    letters = "RYGB"
    for place, letter in (((1, 1), "R"), ((1, 2), "Y"), ((2, 1), "G"), ((2, 2), "B")):
        name = re.compile(f"^Row {place[0]}, column {place[1]}:")
        for _ in range(letters.index(letter) + 1):
            page.get_by_role("button", name=name).click()

    page.get_by_role("button", name="Lay down").click()

    expect(page.locator(".turns li").first).to_contain_text("Card")
    assert session.state.score == {"1": 1, "2": 0}
    assert session.state.turns[-1]["move"] == "claim RY/GB"


def test_a_new_block_at_the_back_is_whole(visit: Opener, site: Site) -> None:
    """It is no higher than those in front, but reaches further up in the picture."""
    session = site.session(game="turris", players={})
    see(session)
    see(session, a1="LL")
    page = visit("/")
    stage = page.locator(".stage")
    expect(stage.locator("canvas")).to_be_visible()
    page.wait_for_timeout(800)
    before = shown(stage)

    see(session, a1="LL", a2="DD")
    see(session, a1="LL", a2="DD", a3="LL")
    expect(page.locator(".turns li")).to_have_count(3)
    page.wait_for_timeout(800)
    after = shown(stage)

    assert (after != before).any()
    # Only the gleam of the background is there; a piece would be far from it.
    assert cv2.absdiff(after[:3], before[:3]).max() < 20, "a piece reaches beyond the upper edge"
