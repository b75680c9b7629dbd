from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from nbgraph.drawing import picture, small_picture

from .shapes import HOSTILE, chain, nested, refund, tree

NAMESPACE = "{http://www.w3.org/2000/svg}"


def group(root: Element, path: str) -> Element:
    found = root.find(f".//{NAMESPACE}g[@data-node='{path}']")
    assert found is not None
    return found


def tags(parent: Element, place: str) -> list[str]:
    found = parent.find(f"{NAMESPACE}g[@class='{place}']")
    assert found is not None
    return [element.tag.removeprefix(NAMESPACE) for element in found]


def test_a_picture_is_deterministic_and_stands_on_a_white_plate():
    text = picture(refund())
    plate = ElementTree.fromstring(text)[0]
    assert picture(refund()) == text
    assert (plate.tag, plate.get("fill")) == (f"{NAMESPACE}rect", "#fff")


def test_a_picture_has_no_style_sheet_no_variable_and_no_id():
    text = picture(refund(), {"ask": "running"})
    assert not re.search(r"<style|var\(|url\(|\bid=|href", text)


def test_each_mark_has_a_shape_of_its_own():
    labels = ("running", "done", "waiting", "failed", "skipped", "idle")
    marks = dict(zip([f"path{i}" for i in range(6)], labels, strict=True))
    root = ElementTree.fromstring(picture(chain(*labels), marks))
    badges = [tags(group(root, path), "nbgraph-badge") for path in marks]
    assert badges == [
        ["circle", "circle", "path"],
        ["circle", "circle", "path"],
        ["path", "path", "circle", "path"],
        ["rect", "rect", "path"],
        ["circle", "circle", "path"],
        [],
    ]


def test_a_second_line_is_data_and_moves_the_name_up():
    root = ElementTree.fromstring(picture(refund(), {"ask": "done"}, {"ask": "<b>0.8 s</b>\x00"}))
    ask, pay = group(root, "ask"), group(root, "pay")
    assert [e.text for e in ask.iter(f"{NAMESPACE}text")] == ["ask", "<b>0.8 s</b>␀"]
    assert [e.text for e in pay.iter(f"{NAMESPACE}text")] == ["pay"]


def test_edges_show_what_was_taken_and_what_was_not_chosen():
    text = picture(
        refund(),
        {"ask": "done", "pay": "done", "deny": "skipped"},
        taken={("__start__", "ask"), ("ask", "pay"), ("pay", "__end__")},
    )
    root = ElementTree.fromstring(text)
    paths = root.findall(f".//{NAMESPACE}g[@data-edge]/{NAMESPACE}path[@fill='none']")
    styles = [(path.get("stroke-width"), path.get("stroke-dasharray")) for path in paths]
    assert styles == [("1.8", None), ("1.8", None), ("1", "3 3"), ("1", "3 3"), ("1.8", None)]
    assert group(root, "__end__")[0].get("fill") == "#e6f3f1"


def test_a_mark_on_an_unknown_node_is_ignored():
    assert picture(refund(), {"elsewhere": "done"}) == picture(refund())


def test_hostile_names_parse():
    ElementTree.fromstring(picture(chain(*HOSTILE, name=HOSTILE[3])))


def texts(text: str) -> list[str]:
    found = [each.text or "" for each in ElementTree.fromstring(text).iter(f"{NAMESPACE}text")]
    return sorted(found)


def test_a_small_picture_shows_the_same_texts_and_a_badge_for_each_mark():
    marks, lines = {"ask": "done", "pay": "waiting"}, {"ask": "×2 · 0.85 s"}
    text = small_picture(refund(), marks, lines, taken={("ask", "pay")})
    assert texts(text) == texts(picture(refund(), marks, lines, taken={("ask", "pay")}))
    root = ElementTree.fromstring(text)
    used = [each.get("href") for each in root.iter(f"{NAMESPACE}use")]
    kept = [each.get("id") for each in root.iter(f"{NAMESPACE}g") if each.get("id")]
    assert (used, kept) == (["#done", "#waiting"], ["done", "waiting"])
    assert not re.search(r"<style|var\(|url\(|<title", text)
    ElementTree.fromstring(small_picture(chain(*HOSTILE, name=HOSTILE[3])))
    ElementTree.fromstring(small_picture(nested()))


def test_in_a_small_picture_no_box_covers_a_text():
    marks = {"ask": "done", "pay": "waiting", "deny": "failed"}
    text = small_picture(refund(), marks, {"ask": "0.8 s"}, taken={("__start__", "ask")})
    assert text.rindex("<rect") < text.index("<text")


def test_a_small_picture_has_less_than_half_of_the_length():
    shape = tree(100)
    marks = {node.path: "done" for node in shape.nodes}
    lines = dict.fromkeys(marks, "0.8 s")
    taken = {(edge.source, edge.target) for edge in shape.edges}
    small, whole = (draw(shape, marks, lines, taken=taken) for draw in (small_picture, picture))
    assert len(small) <= len(whole) / 2
