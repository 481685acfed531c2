"""Archives: what climbs out, what explodes, what is broken; and members that count as files."""

import gzip
import io
import tarfile
import zipfile

import pytest

from jobs.validation import Folder, Request, Severity, Stored, unpacked, validate
from jobs.validation.archives import MAX_ENTRIES, look


def zipped(path, names, text="x"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, text)


def tarred(path, *infos):
    with tarfile.open(path, "w") as archive:
        for name, kind, target in infos:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info)


def messages(folder, name):
    return [finding.message for finding in look(Folder(folder), name).findings]


@pytest.mark.parametrize(
    "entry", ["../../evil.txt", "/tmp/evil.txt", "..\\evil.txt", "C:\\evil.txt", "a/../../evil.txt", "a\\b.txt", "a\nb"]
)
def test_entries_that_climb_out_are_named(tmp_path, entry):
    zipped(tmp_path / "a.zip", ["good.txt", entry])
    (message,) = messages(tmp_path, "a.zip")
    assert repr(entry)[1:-1].replace("\\\\", "\\") in message or entry in message


@pytest.mark.parametrize(
    ("kind", "target"),
    [(tarfile.SYMTYPE, "/etc"), (tarfile.SYMTYPE, "../x"), (tarfile.LNKTYPE, "../../x"), (tarfile.CHRTYPE, ""), (tarfile.FIFOTYPE, "")],
)
def test_links_out_and_devices_are_refused(tmp_path, kind, target):
    tarred(tmp_path / "a.tar", ("odd", kind, target))
    assert "odd" in messages(tmp_path, "a.tar")[0]


def test_a_link_inside_is_good(tmp_path):
    tarred(tmp_path / "a.tar", ("dir/link", tarfile.SYMTYPE, "../other"))
    assert messages(tmp_path, "a.tar") == []


def test_a_link_in_a_zip_is_seen(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    assert "link" in messages(tmp_path, "a.zip")[0]


def test_a_zip_bomb_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros", "w") as member:
        for _ in range(300):
            member.write(bytes(1 << 20))
    assert "unpack" in messages(tmp_path, "a.zip")[0]


def test_a_compressed_tar_bomb_is_refused(tmp_path):
    with gzip.open(tmp_path / "a.tar.gz", "wb", 1) as stream:
        info = tarfile.TarInfo("zeros")
        info.size = 300 << 20
        stream.write(info.tobuf())
        for _ in range(300):
            stream.write(bytes(1 << 20))
    assert "unpack" in messages(tmp_path, "a.tar.gz")[0]


def test_too_many_entries_are_refused(tmp_path):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a", "")
    # The record at the end says how many there are; nobody counts on its being honest.
    raw = bytearray(data.getvalue())
    wide = b"PK\x06\x06" + bytes(28) + (MAX_ENTRIES + 1).to_bytes(8, "little") + bytes(16)
    (tmp_path / "a.zip").write_bytes(bytes(raw[:-22]) + wide + bytes(raw[-22:]))
    assert f"{MAX_ENTRIES:,}" in messages(tmp_path, "a.zip")[0]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"\x1f\x8bbroken", b"just text"])
def test_what_is_no_archive_is_said(tmp_path, data):
    (tmp_path / "a.zip").write_bytes(data)
    assert "opened" in messages(tmp_path, "a.zip")[0]


def test_a_cut_upload_is_said(tmp_path):
    zipped(tmp_path / "a.zip", ["a", "b"], "text " * 1000)
    whole = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(whole[: len(whole) // 2])
    assert "opened" in messages(tmp_path, "a.zip")[0]


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_members_stand_beside_the_files(tmp_path, kind):
    name = f"a.{kind}"
    if kind == "zip":
        zipped(tmp_path / name, ["deck/block.inp"], "hello")
    else:
        with tarfile.open(tmp_path / name, "w:gz" if kind == "tar.gz" else "w") as archive:
            info = tarfile.TarInfo("deck/block.inp")
            info.size = 5
            archive.addfile(info, io.BytesIO(b"hello"))
    inputs = unpacked(Folder(tmp_path), {name: True})
    assert "deck/block.inp" in inputs.names()
    assert inputs.size("deck/block.inp") == 5
    with inputs.open("deck/block.inp") as stream:
        assert stream.read() == b"hello"


def test_flags_decide_what_is_unpacked(tmp_path):
    zipped(tmp_path / "a.zip", ["x"])
    zipped(tmp_path / "b.zip", ["y"])
    assert set(unpacked(Folder(tmp_path), {"a.zip": True, "b.zip": False}).names()) == {"a.zip", "b.zip", "x"}


def test_an_archive_that_climbs_out_fails_the_whole_validation(tmp_path):
    zipped(tmp_path / "a.zip", ["ok", "../../evil.txt"])
    found = validate(Request("shell", "", "ls", 1, unpacked(Folder(tmp_path), ["a.zip"])))
    assert [(finding.severity, finding.file) for finding in found] == [(Severity.ERROR, "a.zip")]


def test_an_archive_is_not_opened_before_somebody_asks_for_names(tmp_path):
    def opener():
        raise AssertionError("opened")

    inputs = unpacked(Stored([("a.zip", 10, opener)]), ["a.zip"])
    with pytest.raises(AssertionError):
        inputs.names()


def stored(*files):
    """Inputs in this order: (name, bytes)."""
    return Stored([(name, len(data), lambda data=data: io.BytesIO(data)) for name, data in files])


def packed(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def test_members_lie_in_the_folder_of_their_archive():
    inputs = unpacked(stored(("case/all.zip", packed(deck="x"))), ["case/all.zip"])
    assert list(inputs.names()) == ["case/all.zip", "case/deck"]


@pytest.mark.parametrize(
    ("order", "text", "says"),
    [
        (["deck", "a.zip"], b"of a", "deck is among the inputs and in a.zip; the latter counts."),
        (["a.zip", "deck"], b"own", "deck is in a.zip and among the inputs; the latter counts."),
        (["a.zip", "b.zip"], b"of b", "deck is in a.zip and in b.zip; the latter counts."),
        (["b.zip", "a.zip"], b"of a", "deck is in b.zip and in a.zip; the latter counts."),
    ],
)
def test_of_two_files_of_one_name_the_later_counts_and_it_is_said(order, text, says):
    data = {"deck": b"own", "a.zip": packed(deck="of a"), "b.zip": packed(deck="of b")}
    inputs = unpacked(stored(*((name, data[name]) for name in order)), {name for name in order if name.endswith(".zip")})
    assert inputs.open("deck").read() == text
    assert inputs.size("deck") == len(text)
    told = [found.message for found in validate(Request("shell", "", "cat deck", 1, inputs)) if found.thing == "deck"]
    assert told == [says]
