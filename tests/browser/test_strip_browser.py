"""The strip above the board in a real browser: its sentence, its words, how a word is chosen."""

from browser.dashboard import until

from attention.explain.strip import strip_of, strip_of_pair
from attention.session.compare import pair
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.teach.by_hand import made

CHIPS = """[...document.querySelectorAll('.board-words .board-word')]
  .map(chip => [...chip.children].map(part => part.textContent))"""


def says(dashboard) -> str:
    return dashboard.page.locator(".board-says").inner_text()


def agrees(dashboard) -> None:
    """The sentence and the shares are those of the address."""
    s = dashboard.settings()
    strip = strip_of(view(s, run(s)), s.query, s.digits)
    dashboard.wait_for(
        "said => document.querySelector('.board-says').textContent === said",
        "".join(text for text, _ in strip.sentence),
    )
    assert [share for _, share in dashboard.page.evaluate(CHIPS)] == list(strip.shares)
    chosen = dashboard.page.locator(".board-strip [aria-checked=true]")
    found = chosen.evaluate_all("nodes => nodes.map(n => [...n.parentNode.children].indexOf(n))")
    assert found == [s.query], dashboard.page.locator(".board-strip").evaluate_all(
        "nodes => nodes.map(node => node.outerHTML)"
    )


def test_a_word_that_is_clicked_becomes_the_query_and_the_card_follows(look):
    dashboard = look(example="cat-sat")
    assert says(dashboard) == "“sat” looks mostly at “cat” (47%) and “on” (29%)."
    size = "getComputedStyle(document.querySelector('.board-says')).fontSize"
    assert dashboard.page.evaluate(size) == "16px"
    dashboard.click("weights", 2, 1).idle()
    dashboard.after(dashboard.page.get_by_role("radio", name="mat, 1%").click)
    assert says(dashboard) == "“mat” looks mostly at “on” (65%) and “cat” (15%)."
    assert dashboard.settings().query == 5
    until(dashboard.page.locator(".board-card[data-cell='weights,5,3']"))
    assert dashboard.result() == "0.65"
    agrees(dashboard)
    dashboard.page.go_back()
    dashboard.wait_for("() => document.querySelector('.board-says').textContent.includes('sat')")
    agrees(dashboard)


def test_arrow_keys_go_through_the_words_and_keep_the_focus(look):
    dashboard = look(example="cat-sat")
    dashboard.page.locator(".board-strip [aria-checked=true]").focus()
    for key, query in (("ArrowRight", 3), ("ArrowDown", 4), ("End", 5), ("ArrowRight", 0)):
        dashboard.page.keyboard.press(key)
        dashboard.wait_for("q => location.search.includes(`query=${q}`)", query)
        dashboard.idle()
        assert (
            dashboard.page.evaluate(
                "[...document.activeElement.parentNode.children].indexOf(document.activeElement)"
            )
            == query
        )
    assert dashboard.page.locator(".board-strip [tabindex='0']").count() == 1
    agrees(dashboard)


def test_the_sentence_is_renewed_by_randomize_and_by_a_mask(look):
    dashboard = look(example="cat-sat")
    dashboard.after(dashboard.page.get_by_role("button", name="Randomize").click)
    agrees(dashboard)
    dashboard.menu("set_mask", "look-ahead (causal)")
    agrees(dashboard)
    hidden = dashboard.page.get_by_role("radio", name="mat, hidden")
    assert "line-through" in hidden.locator("span").first.evaluate(
        "node => getComputedStyle(node).textDecoration"
    )


def test_of_a_second_sentence_the_queries_are_chosen_and_the_keys_have_the_shares(look):
    dashboard = look(example="cat-sat")
    dashboard.page.get_by_text("second sentence").click()
    dashboard.wait_for("() => document.querySelector('.board-asking:not([hidden])')")
    dashboard.idle()
    agrees(dashboard)
    queries = dashboard.page.locator(".board-asking [role=radio]")
    assert dashboard.page.locator(".board-words [role=radio]").count() == 0
    dashboard.after(queries.nth(0).click)
    assert dashboard.settings().query == 0
    agrees(dashboard)


def test_where_not_all_words_have_room_a_list_of_them_is_at_the_end(look):
    dashboard = look(390, example="trained-it")
    choice = dashboard.page.locator(".board-query")
    queries = view(s := EXAMPLES["trained-it"].build(), run(s)).labels["queries"]
    assert choice.locator("option").all_inner_texts() == list(queries)
    dashboard.after(lambda: choice.select_option(index=2))
    assert dashboard.settings().query == 2
    agrees(dashboard)
    line, word = (
        dashboard.page.locator(found).bounding_box()
        for found in (".board-words", ".board-words [aria-checked=true]")
    )
    assert line["x"] <= word["x"] and word["x"] + word["width"] <= line["x"] + line["width"]


def test_a_word_of_the_lines_becomes_the_query_too(look):
    dashboard = look(example="cat-sat")
    dashboard.tab("Lines")
    dashboard.after(dashboard.page.locator(".looks [data-query='5'] .query").click)
    assert dashboard.settings().query == 5
    agrees(dashboard)
    shares = dashboard.page.locator(".looks .chosen .share").all_text_contents()
    assert shares == [share for _, share in dashboard.page.evaluate(CHIPS)]


def test_back_by_keys_is_no_arrow_and_a_lost_click_is_not_shown_as_taken(look):
    dashboard = look(example="cat-sat")
    dashboard.after(dashboard.page.get_by_role("radio", name="mat, 1%").click)
    dashboard.page.keyboard.press("Alt+ArrowLeft")
    dashboard.page.keyboard.press("Control+Home")
    dashboard.page.wait_for_timeout(500)
    assert dashboard.idle().settings().query in (2, 5)  # Back, where the browser has it on this key
    before = dashboard.settings().query
    app = "document.querySelector('[data-testid=stApp]').dataset.testConnectionState"
    dashboard.page.evaluate(f"{app} = 'PINGING_SERVER'")
    dashboard.page.locator(".board-words [role=radio]").nth(1).click()
    checked = dashboard.page.locator(".board-words [aria-checked=true]")
    assert checked.evaluate("n => [...n.parentNode.children].indexOf(n)") == before
    dashboard.page.evaluate(f"{app} = 'CONNECTED'")


def test_a_word_that_was_asked_for_is_not_shown_as_taken_where_no_answer_says_it(visit):
    dashboard = visit().open(example="cat-sat")
    dashboard.page.evaluate("WebSocket.prototype.send = () => {}")
    dashboard.page.locator(".board-words [role=radio]").nth(5).click()
    checked = dashboard.page.locator(".board-words [aria-checked=true]")
    place = "n => [...n.parentNode.children].indexOf(n)"
    assert checked.evaluate(place) == 5
    dashboard.wait_for(f"() => ({place})({CHECKED}) === 2")


def test_of_a_shorter_sentence_that_comes_before_the_answer_a_word_is_chosen(visit):
    dashboard = visit().open(example="cat-sat")
    dashboard.page.locator(".board-words [role=radio]").nth(5).evaluate("word => word.click()")
    dashboard.turn_to(example="four-words")
    dashboard.wait_for("() => document.querySelectorAll('.board-words .board-word').length === 4")
    dashboard.idle()
    agrees(dashboard)


CHECKED = "document.querySelector('.board-words [aria-checked=true]')"
CUT = """() => [...document.querySelectorAll('.board-says')].some(
  node => node.scrollHeight > node.clientHeight + 1 || node.scrollWidth > node.clientWidth + 1)"""


def test_the_sentence_is_whole_at_every_width(look, subtests):
    dashboard = look(example="cat-sat", query=4, mask="causal", sinks="2")
    dashboard.page.get_by_text("second sentence").click()
    dashboard.wait_for("() => document.querySelector('.board-asking:not([hidden])')")
    for width in (390, 780, 900, 1100, 1366, 1920):
        with subtests.test(width=width):
            dashboard.page.set_viewport_size({"width": width, "height": 800})
            dashboard.wait_for(f"() => !({CUT})()")


def test_a_link_to_another_page_is_followed_while_the_numbers_are_open(look):
    dashboard = look(example="cat-sat")
    page = dashboard.page
    links = {
        "/compare": page.get_by_test_id("stTopNavLink").get_by_text("Compare"),
        "/check": page.locator(".st-key-title").get_by_text("Check your code →"),
    }
    for path, link in links.items():
        dashboard.page.get_by_role("button", name="Numbers", exact=True).click()
        until(dashboard.page.locator(".st-key-set_randomize_seed").first)
        link.click()
        dashboard.wait_for("path => location.pathname === path", path)
        dashboard.choose_page("Explore")
        dashboard.wait_for("() => location.pathname === '/'")
        until(dashboard.page.locator(".board[data-tag]").first)
        dashboard.idle()


def test_on_compare_a_word_that_is_clicked_shows_both_and_its_rows(visit):
    dashboard = visit(1366, 768).open("compare", example="cat-sat")
    assert dashboard.page.evaluate(CHIPS)[1] == ["cat", "47→69%"]
    dashboard.after(dashboard.page.get_by_role("radio", name="mat,").click)
    s = dashboard.settings()
    a, b = pair.views(pair.PRESETS["scale"].make(s))
    strip = strip_of_pair(a, b, 5)
    assert s.query == 5
    assert says(dashboard) == "".join(text for text, _ in strip.sentence)
    assert [share for _, share in dashboard.page.evaluate(CHIPS)] == list(strip.shares)
    bottom = dashboard.page.locator("[data-stage=weights_difference]").bounding_box()
    below = dashboard.page.locator(".st-key-dock").bounding_box()
    assert bottom["y"] + bottom["height"] <= below["y"]
    assert not dashboard.page.evaluate(CUT)


def test_on_exercises_a_word_that_is_clicked_leaves_the_answers_and_the_link(visit):
    dashboard = visit(1366, 768).open("exercises", exercise_seed="3", asked="weights.2 output.2")
    words = list(made(3).tokens)
    assert dashboard.page.evaluate(CHIPS) == [[word, "?"] for word in words]
    before = dashboard.page.url
    dashboard.click("weights", 2, 0)
    dashboard.page.keyboard.type("5")
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    answered = dashboard.page.url
    assert answered != before
    dashboard.after(dashboard.page.get_by_role("radio", name=f"{words[1]},").click)
    strip = strip_of(view(made(3), run(made(3))), 1)
    assert [share for _, share in dashboard.page.evaluate(CHIPS)] == list(strip.shares)
    assert dashboard.page.url == answered
    assert dashboard.printed("weights")[2][0] == "5 ✗"
