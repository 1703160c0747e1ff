"""What record_memory() notes of allocations, and the page that shows it."""

import re
from html.parser import HTMLParser

import pytest

import stator
from stator.errors import DTypeError, InvalidValueError
from stator.memory._timeline import MemoryEvent, MemorySnapshot
from stator.memory._timeline_page import COLUMNS, columns, page


def test_allocations_and_their_ends_are_noted_by_op(be):
    early = be.ones(100)
    be.memory.record()
    x = be.zeros(1000)
    y = x + 1
    del early, x
    snapshot = be.memory.snapshot()
    assert snapshot.recording
    assert [(e.bytes, e.op) for e in snapshot.events] == [(8000, "zeros"), (8000, "add"), (-8000, "zeros")]
    times = [e.time for e in snapshot.events]
    assert times == sorted(times)
    assert times[0] >= 0
    be.memory.record(False)
    del y
    assert len(be.memory.snapshot().events) == 3
    assert not be.memory.snapshot().recording


def test_a_new_recording_forgets_the_one_before(be):
    be.memory.record()
    x = be.zeros(10)
    be.memory.record()
    del x
    y = be.zeros(20)
    assert [(e.bytes, e.op) for e in be.memory.snapshot().events] == [(160, "zeros")]
    be.memory.record(False)
    del y


def test_no_more_events_are_kept_than_were_asked_for(be):
    be.memory.record(max_events=2)
    for _ in range(3):
        be.zeros(10)
    be.memory.record(False)
    snapshot = be.memory.snapshot()
    assert (len(snapshot.events), snapshot.dropped) == (2, 4)


def test_nothing_is_recorded_unless_it_is_asked_for(be):
    with stator.Backend(be.device_name) as other:
        other.ones(10)
        assert other.memory.snapshot() == MemorySnapshot((), 0, False)


def test_arguments_are_checked(be):
    with pytest.raises(DTypeError, match=r"^Backend\.memory\.record"):
        be.memory.record("yes")
    for wrong in (0, -1, 2**40):
        with pytest.raises(InvalidValueError, match=r"^Backend\.memory\.record"):
            be.memory.record(max_events=wrong)
    with pytest.raises(DTypeError, match=r"^Backend\.memory\.timeline"):
        be.memory.timeline(1.5)


EVENTS = (
    MemoryEvent(0.0, 100, "add"),
    MemoryEvent(1.0, 300, "<matmul>"),
    MemoryEvent(1.0, -100, "add"),
    MemoryEvent(2.0, -300, "<matmul>"),
    MemoryEvent(4.0, 50, "add"),
)


def test_owners_are_those_with_the_highest_peak_first():
    assert [tuple(owner) for owner in MemorySnapshot(EVENTS, 0, False).owners()] == [
        ("<matmul>", 300, 0, 1),
        ("add", 100, 50, 2),
    ]


def test_a_column_shows_the_most_that_was_live_in_its_time():
    found, seconds = columns(MemorySnapshot(EVENTS, 0, False), ["<matmul>", "add"])
    assert (len(found), seconds) == (COLUMNS, 4.0)
    at = {second: found[min(int(second / 4 * COLUMNS), COLUMNS - 1)] for second in (0.5, 1.0, 1.5, 3.0, 4.0)}
    assert at == {0.5: [0, 100], 1.0: [300, 100], 1.5: [300, 0], 3.0: [0, 0], 4.0: [0, 50]}


class Checked(HTMLParser):
    """Notes the elements, and that each is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_is_well_formed(be, tmp_path):
    be.memory.record()
    x = be.ones(1000) + 1
    path = tmp_path / "memory.html"
    be.memory.timeline(path)
    be.memory.record(False)
    del x
    text = path.read_text(encoding="utf-8")
    parser = Checked()
    parser.feed(text)
    assert not parser.open
    assert not re.search(r"https?:|src=|href=|@import|url\(", text)
    assert "prefers-color-scheme: dark" in text
    assert len([tag for tag, _ in parser.seen if tag == "polygon"]) == 2
    assert "<td>7.8 KiB</td>" in text


def test_names_are_escaped_and_ops_beyond_the_largest_are_one_area():
    many = tuple(MemoryEvent(float(i), 1000 - i, f"<op{i}>") for i in range(20))
    text = page(MemorySnapshot(many, 3, False), "cpu")
    assert "<op" not in text
    assert text.count("<polygon") == 9
    assert "3 more were dropped" in text
    assert text.count("<tr>") == 21


def test_a_page_of_nothing_says_so():
    assert "Nothing was recorded" in page(MemorySnapshot((), 0, False), "cpu")
