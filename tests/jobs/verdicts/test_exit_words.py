"""Exit codes and signals in words: the same sentence for both spellings, the program named, the hidden part found."""

import pytest

from jobs.verdicts import Ending, explain
from jobs.verdicts.exit import name_of, parts_of, table


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (4, "illegal"),
        (6, "aborted"),
        (8, "floating point"),
        (9, "killed"),
        (11, "segmentation"),
        (15, "asked to end"),
        (24, "CPU time"),
        (25, "larger than its limit"),
    ],
)
def test_a_signal_reads_the_same_as_signal_and_as_128_plus_n(number, word):
    as_signal, as_code = explain(Ending(None, number)), explain(Ending(128 + number))
    assert word in as_signal.sentence and word in as_code.sentence
    assert str(128 + number) in as_code.sentence
    assert as_signal.advice == as_code.advice != ""


@pytest.mark.parametrize(
    ("code", "word"), [(0, "no proof"), (1, "error"), (2, "syntax"), (126, "x bit"), (127, "spelling"), (255, "-1"), (201, "own")]
)
def test_a_code_says_what_it_means_and_what_to_try(code, word):
    told = explain(Ending(code))
    assert word in told.sentence + told.advice
    assert str(code) in told.sentence and told.advice


def test_the_command_that_was_not_found_is_named():
    told = explain(Ending(127), "foamRun", "bash: line 1: foamRun: command not found\n")
    assert told.sentence.startswith("foamRun: command not found")
    assert "sh-less" in explain(Ending(127), "", "sh: 1: sh-less: not found").sentence


def test_a_missing_library_is_not_called_a_missing_command():
    text = "./solve: error while loading shared libraries: libmpi.so.12: cannot open shared object file: No such file or directory"
    assert "libmpi.so.12" in explain(Ending(127), "./solve", text).sentence


def test_a_lost_x_bit_is_named():
    assert "./solver.x" in explain(Ending(126), "./solver.x", "bash: line 1: ./solver.x: Permission denied").sentence


def test_a_script_with_windows_line_ends_is_not_called_a_missing_command():
    told = explain(Ending(127), "./run.sh", "bash: line 1: ./run.sh: cannot execute: required file not found")
    assert "./run.sh" in told.sentence and "interpreter" in told.sentence and "CRLF" in told.advice
    assert (
        "interpreter"
        in explain(Ending(126), "", "bash: line 1: ./a.py: /usr/bin/pithon: bad interpreter: No such file or directory").sentence
    )


def test_killed_for_memory_says_so():
    told = explain(Ending(137, memory_killed=True))
    assert "memory" in told.sentence and "memory" in told.advice
    assert "memory" not in explain(Ending(137)).sentence


def test_the_part_of_a_pipeline_that_failed_is_named():
    told = explain(Ending(0, pipe=(139, 0)), "cd run && solve -x 'a|b' 2>&1 | tee log")
    assert "Part 1 of 2" in told.sentence and "solve -x" in told.sentence and "hides" in told.sentence


def test_a_reader_that_closes_early_is_not_blamed_before_a_real_fault():
    assert "Part 3 of 3" in explain(Ending(2, pipe=(141, 0, 2)), "a | b | c").sentence


def test_a_lost_node_is_no_exit_code():
    assert "lost" in explain(Ending(None)).sentence


def test_parts_are_those_of_the_last_pipeline():
    assert parts_of("a; b && c | d |& e 'x;y'") == ["c", "d", "e 'x;y'"]
    assert parts_of("a || b") == ["b"]


def test_names_and_the_table_for_the_help_page():
    assert (name_of(139), name_of(None, 9), name_of(3), name_of(0)) == ("SIGSEGV", "SIGKILL", "exit code 3", "success")
    rows = dict(table())
    assert rows["137 or signal 9"].name == "SIGKILL" and all(meaning.advice for meaning in rows.values())
