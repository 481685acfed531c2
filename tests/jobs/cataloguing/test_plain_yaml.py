"""What no catalogue may have in it is a fault in words, whatever it is and wherever it stands."""

import factories
import pytest

from jobs import cataloguing
from jobs.cataloguing import plain_yaml

BOMB = "limits: [{a: &a [x,x,x,x,x,x,x,x,x,x], b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a], member: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]}]"
ODD = [
    "2020-13-45", "2020-12-01", "!!int x", "!!timestamp x", "!!python/name:os.system x", "! x", "9" * 5000, "0x_", "0b_", "1" + ":59" * 2000,
    '"\\ud800"', '"a\\0"', "[[x]]", "{a: [x]}", "{[x]: y}", "1e999", ".nan", "[" * 1500, "*a", "<<", "=", "'",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [("[1, -2, 0x1f, 1.5, yes, ~, 'yes', granite]", [1, -2, 31, 1.5, True, None, "yes", "granite"]), ("", None),
     ("a: 2020-12-01\nb: {c: []}", {"a": "2020-12-01", "b": {"c": []}}), ("a: &b 1", {"a": 1}), ("9" * 50, "9" * 50)],
)  # fmt: skip
def test_what_json_could_say_is_read(text, found):
    assert plain_yaml.read(text) == found


@pytest.mark.parametrize("text", [BOMB, "a: &a [*a]", "!!set {a}", "!!int x", "0x_", '"\\ud800"', "[" * 1500])
def test_the_rest_is_refused_in_words(text):
    with pytest.raises(plain_yaml.Odd) as refused:
        plain_yaml.read(text)
    assert 10 < len(str(refused.value)) <= 300


@pytest.mark.django_db
@pytest.mark.parametrize("value", ODD, ids=lambda value: value[:12])
def test_every_field_takes_it_as_a_fault_or_as_a_text(value):
    factories.coretype(code="granite")
    lines = []
    for part, module in cataloguing.PARTS.items():
        lines.append(f"{part}:")
        for name in sorted(module.KNOWN):
            code = "" if name == "code" or part == "limits" else "code: granite, "
            lines.append(f"- {{{code}{name}: {value}\n  }}")
    with pytest.raises(cataloguing.Faults) as refused:
        cataloguing.read("\n".join([*lines, "- {}"]), None)
    assert all(len(fault) < 500 for fault in refused.value.all)


def test_what_is_in_it_twice_is_written_twice():
    same = {"code": "on", "names": ["2020-12-01", "!x", "ü"]}
    text = plain_yaml.written({"first": same, "second": same})
    assert "&" not in text
    assert plain_yaml.read(text) == {"first": same, "second": same}


@pytest.mark.django_db
def test_a_name_that_nobody_reads_is_a_fault_in_every_part():
    text = "\n".join(f"{part}:\n- {{colour: red}}" for part in cataloguing.PARTS)
    with pytest.raises(cataloguing.Faults) as refused:
        cataloguing.read(text, None)
    assert [fault.partition(" ")[0] for fault in refused.value.all if "not known: colour" in fault] == ["region", "coretype", "workstation", "limit"]
