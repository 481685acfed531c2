"""What scripts make of times, sizes and terminal output: the same words as Python's, and never markup."""

import pytest

from portal import words

LINES = [
    ("plain", "plain"),
    ("progress 1%\rprogress 50%\rprogress 99%", "progress 99%"),
    ("long line\rshort", "shortline"),
    ("\x1b[2Kgone\r\x1b[2Knew", "new"),
    ("abc\b\bX", "aXc"),
    ("abc\x1b[2DX\x1b[5CY", "aXc    Y"),
    ("a\x00b", "aNULb"),
    ("bell\x07 and \x1b]0;a title\x07 after", "bell and  after"),
    ("\x1b]8;;http://evil.test\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1b[2J\x1b[10;10Hstays\x1b[?1049h", "stays"),
    ("\x1b[999999999Cfar", " " * 8192 + "far"),
    ("cut off \x1b[3", "cut off "),
    ("\x1bPq#0;2;0;0;0\x1b\\sixel", "sixel"),
    ("\x9b31mold", "x9B31mold"),
    ("grüße 🙂\r🙃", "🙃rüße 🙂"),
]


@pytest.fixture
def blank(portal):
    portal.open("")
    return portal


def test_running_times_read_the_same(blank):
    values = [0, 41.9, 59, 60, 3138, 20470, 183604]
    assert blank.module("words", "a.map(m.clock)", values) == [words.clock(value) for value in values]


def test_sizes_read_the_same(blank):
    values = [0, 1, 39, 1023, 1024, 18_637, 102_000, 102_350, 1_048_000, 1_048_200, 5 << 30, 3 << 50]
    assert blank.module("words", "a.map(m.size)", values) == [words.size(value) for value in values]


def test_moments_read_the_same(blank):
    now, aways = words.moment(1_789_632_478), [0, 4, -4, 5, 59, 60, 3599, 3600, 86_399, 86_400, 6 * 86_400, -300, -90_000]
    said = [words.relative(words.moment(now.timestamp() - away), now) for away in aways]
    assert blank.module("words", "a.map(m.relative)", aways) == said


def test_a_line_ends_as_a_terminal_would_show_it(blank):
    read = "a.map((line) => m.readLine(line).runs.map((run) => run.text).join(''))"
    assert blank.module("ansi", read, [line for line, _ in LINES]) == [shown for _, shown in LINES]


def test_colours_become_classes_and_go_on_to_the_next_line(blank):
    told = blank.module("ansi", "[m.readLine(a), m.readLine('next', m.readLine(a).style)]", "\x1b[31mred\x1b[1mbold")
    runs = [(run["text"], run["style"]["fg"], run["style"]["flags"]) for run in told[0]["runs"]]
    assert runs == [("red", "r", ""), ("bold", "r", "bold")]
    assert told[1]["runs"][0]["style"] == {"fg": "r", "bg": "", "flags": "bold"}


def test_all_ways_to_name_a_colour(blank):
    ways = {"38;5;208": "rgb(255 135 0)", "38;2;1;2;3": "rgb(1 2 3)", "38:5:9": "r", "38;5;255": "rgb(238 238 238)",
            "38;2;999;0": "rgb(255 0 0)", "94": "b", "31;39": "", "0": ""}
    read = "a.map((codes) => m.readLine('\\x1b[' + codes + 'mx').style.fg)"
    assert blank.module("ansi", read, list(ways)) == list(ways.values())


def test_text_of_a_log_is_never_markup(blank):
    hostile = "\x1b[31m<img src=x onerror=alert(1)>\x1b[0m<script>alert(1)</script>"
    row = "m.rowsOf({ line: 0, parts: [{ text: a }], query: 'img', marked: false }).elements[0]"
    assert blank.module("log-row", f"{row}.querySelector('img, script, a[href^=http]') === null", hostile)
    shown = blank.module("log-row", f"{row}.querySelector('code').textContent", hostile)
    assert shown == "<img src=x onerror=alert(1)><script>alert(1)</script>"


def test_search_hits_are_marked_across_colours(blank):
    row = "m.rowsOf({ line: 0, parts: [{ text: a }], query: 'Ab', marked: false }).elements[0].querySelectorAll('mark')"
    assert blank.module("log-row", f"[...{row}].map((mark) => mark.textContent)", "xa\x1b[31mb\x1b[0mx AB") == ["a", "b", "AB"]


TAIL = """(() => {
  const t = new m.Tail(0, 0), text = new TextDecoder();
  for (const [at, chunk] of a) t.push(at, new TextEncoder().encode(chunk));
  const lines = [];
  for (let i = t.first; i < t.total; i++) lines.push(m.partsOf(t.line(i), [], text).map((part) => part.text ?? `<${part.cut}>`).join(""));
  return { lines, total: t.total, end: t.end, size: t.size, first: t.first };
})()"""


def tail(blank, chunks):
    return blank.module("log-bytes", TAIL, chunks)


def test_the_tail_cuts_frames_into_lines_wherever_they_break(blank):
    text = "one\ntwo\r\n\nüber\nlast"
    whole = [(0, text)]
    split = [(len(text[:i].encode()), text[i]) for i in range(len(text))]
    assert tail(blank, whole)["lines"] == tail(blank, split)["lines"] == ["one", "two", "", "über", "last"]


def test_frames_that_come_twice_or_overlap_count_once(blank):
    told = tail(blank, [(0, "one\ntw"), (0, "one\ntw"), (4, "two\nth"), (10, "ree\n")])
    assert told["lines"] == ["one", "two", "three"]
    assert told["end"] == 14


def test_of_a_long_line_head_and_end_are_held(blank):
    told = blank.module("log-bytes", """(() => {
      const t = new m.Tail(0, 0), piece = new Uint8Array(65536).fill(121);
      t.push(0, new TextEncoder().encode("START"));
      for (let i = 0; i < 160; i++) t.push(5 + i * 65536, piece);
      t.push(t.end, new TextEncoder().encode("END\\nnext"));
      const parts = m.partsOf(t.line(0), [], new TextDecoder());
      const ends = parts[0].text.startsWith("START") && parts[2].text.endsWith("END");
      return { size: t.size, cut: parts[1].cut, ends, total: t.total };
    })()""")
    assert told["size"] < 300_000
    assert told["ends"] is True
    assert told["total"] == 2
    assert told["cut"] > 10_000_000


def test_the_tail_keeps_its_bound_and_its_line_numbers(blank):
    told = blank.module("log-bytes", """(() => {
      const t = new m.Tail(0, 0), line = new TextEncoder().encode("0123456789abcde\\n".repeat(4096));
      let most = 0;
      for (let i = 0; i < 1024; i++) { t.push(t.end, line); most = Math.max(most, t.size); }
      const last = m.partsOf(t.line(t.total - 1), [], new TextDecoder());
      return { most, end: t.end, total: t.total, last, exact: t.line(t.first).from === t.first * 16 };
    })()""")
    assert told["most"] <= 5 << 20
    assert told["end"] == 64 << 20
    assert told["total"] == 4 << 20
    assert told["last"] == [{"text": "0123456789abcde"}]
    assert told["exact"] is True
