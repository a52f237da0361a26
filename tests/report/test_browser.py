"""Reports in a real browser: they load, they move, they can be read."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wavemmf as wm
from browser import start_browser

KARATE = wm.graphs.karate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from start_browser()


@pytest.fixture(scope="module")
def f():
    return wm.factorize(KARATE, core=8, k=4)


@pytest.fixture(scope="module")
def address(f, tmp_path_factory):
    page = tmp_path_factory.mktemp("report") / "karate.html"
    wm.report.write_report(f, page, KARATE, signal=np.arange(34.0))
    return page.as_uri()


@pytest.fixture
def page(browser, address):
    """Return the browser with the page of Karate freshly loaded, as on a laptop in daylight."""
    look_like(browser, 1280, 800, "light")
    browser.get(address)
    return browser


def look_like(browser, width, height, theme):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wish = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wish})


def problems(browser):
    return [entry["message"] for entry in browser.get_log("browser")]


def pixels(browser, name):
    """Return what a canvas shows."""
    image = pytest.importorskip("matplotlib.image", reason="matplotlib reads the pictures")
    code = "return document.getElementById(arguments[0]).toDataURL('image/png')"
    data = browser.execute_script(code, name).partition(",")[2]
    return image.imread(io.BytesIO(base64.b64decode(data)), format="png")


def text(browser, name):
    return browser.execute_script("return document.getElementById(arguments[0]).innerText", name)


def press(browser, name, *keys):
    from selenium.webdriver.common.by import By

    browser.find_element(By.ID, name).send_keys(*keys)


def click(browser, name):
    from selenium.webdriver.common.by import By

    browser.find_element(By.ID, name).click()


def slide(browser, place):
    code = "s = document.getElementById('slider'); s.value = arguments[0];"
    browser.execute_script(code + "s.dispatchEvent(new Event('input'))", place)


def test_nothing_is_blank_and_nothing_complains(page):
    for name in ("graph", "tree", "matrix-before", "matrix-after", "frequency", "reach", "hops",
                 "coefficients", "scale"):  # fmt: skip
        assert pixels(page, name).std() > 0.01, name
    assert problems(page) == []
    assert "26 wavelets" in text(page, "figures")


def test_the_slider_changes_the_picture(page):
    before = pixels(page, "graph"), pixels(page, "tree")
    slide(page, 20)
    assert text(page, "caption") == "Wavelet 20 of 26"
    for old, name in zip(before, ("graph", "tree"), strict=True):
        assert not np.array_equal(old, pixels(page, name))
    assert "level\n20 of 26" in text(page, "properties")
    slide(page, 34)
    assert text(page, "caption") == "Scaling function 8 of 8"
    assert problems(page) == []


def test_the_page_computes_the_wavelets_of_the_library(page, f):
    basis = f.basis().toarray()
    for place in (1, 14, 26, 30):
        slide(page, place)
        row = np.concatenate([f.rotations.wavelets, f.core_indices])[place - 1]
        seen = min(6, int((np.abs(basis[row]) > 1e-9).sum()))
        lines = text(page, "largest").replace("−", "-").split("\n")[-seen:]
        told = {int(node): float(value) for node, value in map(str.split, lines)}
        assert len(told) == seen
        for node, value in told.items():
            assert value == pytest.approx(basis[row, node], rel=6e-3, abs=1e-6)
        assert max(map(abs, told.values())) == pytest.approx(np.abs(basis[row]).max(), rel=6e-3)


def test_arrow_keys_move_through_the_wavelets(page):
    from selenium.webdriver.common.keys import Keys

    press(page, "slider", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert text(page, "caption") == "Wavelet 3 of 26"
    press(page, "graph", Keys.ARROW_LEFT)
    assert text(page, "caption") == "Wavelet 2 of 26"
    press(page, "graph", Keys.PAGE_DOWN, Keys.ARROW_RIGHT)
    assert text(page, "caption") == "Wavelet 13 of 26"
    press(page, "slider", Keys.END)
    assert text(page, "caption") == "Scaling function 8 of 8"
    press(page, "slider", Keys.ARROW_RIGHT, Keys.HOME)
    assert text(page, "caption") == "Wavelet 1 of 26"


def test_all_controls_have_names_and_can_be_reached(page):
    code = """return [...document.querySelectorAll('button, input, canvas:not([aria-hidden])')]
        .filter(e => !(e.textContent.trim() || e.getAttribute('aria-label')
        || e.getAttribute('aria-labelledby')) || e.disabled).map(e => e.id)"""
    assert page.execute_script(code) == []


def test_hovering_tells_the_value(page):
    code = """
        const canvas = document.getElementById('graph'), box = canvas.getBoundingClientRect();
        for (let x = 0; x < box.width; x += 6) for (let y = 0; y < box.height; y += 6) {
          canvas.dispatchEvent(new PointerEvent('pointermove',
            {clientX: box.left + x, clientY: box.top + y, bubbles: true}));
          const told = document.getElementById('tooltip');
          if (!told.hidden) return told.textContent;
        }"""
    assert page.execute_script(code).startswith("node ")


def test_a_click_on_the_tree_chooses_a_wavelet(page):
    click(page, "tree")  # in its middle
    assert text(page, "caption") != "Wavelet 1 of 26"
    assert problems(page) == []


def test_light_and_dark(browser, page, address):
    light = pixels(page, "graph")
    click(page, "theme")
    assert page.execute_script("return document.documentElement.dataset.theme") == "dark"
    assert not np.array_equal(light, pixels(page, "graph"))
    click(page, "theme")
    np.testing.assert_array_equal(light, pixels(page, "graph"))
    look_like(browser, 1280, 800, "dark")
    browser.get(address)
    assert page.execute_script("return document.documentElement.dataset.theme") == "dark"


def test_zooming_and_widening(page):
    before = pixels(page, "graph")
    click(page, "zoom-in")
    assert not np.array_equal(before, pixels(page, "graph"))
    click(page, "zoom-all")
    np.testing.assert_array_equal(before, pixels(page, "graph"))
    narrow = pixels(page, "tree").shape
    page.execute_script("document.documentElement.style.width = '500px'")
    click(page, "tree-zoom")
    assert pixels(page, "tree").shape != narrow
    assert problems(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen(browser, address, theme):
    look_like(browser, 390, 844, theme)
    browser.get(address)
    width, screen = browser.execute_script(
        "return [document.documentElement.scrollWidth, innerWidth]"
    )
    assert width == screen == 390
    assert problems(browser) == []


@pytest.mark.parametrize("case", ["alone", "diagonal", "all core", "one", "drop"])
def test_other_pages(browser, f, tmp_path, case):
    made = {
        "alone": f,
        "diagonal": wm.factorize(np.diag([1.0, 2.0, 3.0]), core=0, k=2),
        "all core": wm.factorize(np.eye(3), core=3, k=2),
        "one": wm.factorize(np.eye(1), core=1, k=2),
        "drop": wm.factorize(KARATE, core=8, k=6, drop=3),
    }[case]
    page = tmp_path / "page.html"
    wm.report.write_report(made, page)
    browser.get(page.as_uri())
    slide(browser, made.n)
    assert problems(browser) == []
    assert pixels(browser, "graph").std() > 0.001
