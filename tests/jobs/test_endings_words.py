"""How a command ended, in words: what its exit code does not tell."""

from jobs import endings


def test_a_full_disk_is_said_with_the_exit_code():
    assert endings.in_words({"code": 3}) == "The command ended with exit code 3: the number's meaning is the program's own."
    assert endings.in_words({"code": 3, "disk_full": True}).endswith(f"program's own. {endings.FULL_DISK}")
    assert endings.FULL_DISK in endings.in_words({"code": 0, "disk_full": True})
