"""Words and steps of a launch command, as far as they can be known without running it."""

import pytest

from jobs.validation import Request, Stored
from jobs.validation.plan import make_plan
from jobs.validation.script import parse


def stored(**files):
    import io

    return Stored([(name, len(text), lambda text=text: io.BytesIO(text.encode())) for name, text in files.items()])


def plan_of(command, cores=4, **files):
    return make_plan(Request("shell", "", command, cores, stored(**files)))


def words(text):
    return [[word.literal for word in command.words] for command in parse(text).commands if command.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ccx block", [["ccx", "block"]]),
        ("ccx 'my block' a\\ b \"c d\"", [["ccx", "my block", "a b", "c d"]]),
        ("a && b || c; d | e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("ls # not me\ncat x", [["ls"], ["cat", "x"]]),
        ("ls \\\n -l", [["ls", "-l"]]),
        ("echo $(date) `date` $((1+2)) ${a[0]}", [["echo", None, None, None, None]]),
        ("cat > a <<'E'\nnot a command\nE\nls", [["cat"], ["ls"]]),
        ("case $x in a) ls;; *) pwd;; esac; id", [["ls"], ["pwd"], ["id"]]),
        ("for ((i=0; i<3; i++)); do ls; done", [["ls"]]),
        ("if [[ -f x && -d y ]]; then ls; fi", [["[["], ["ls"]]),
        ("a=(1 2 3); ls", [["ls"]]),
        ("diff <(ls a) <(ls b)", [["diff", None, None]]),
        ("f() { ls; }; f", [["ls"], ["f"]]),
    ],
)
def test_commands_are_split_as_bash_would(text, expected):
    assert words(text) == expected


def test_redirections_are_no_words():
    (command,) = parse("prog <in >out 2>&1 2>>err").commands
    found = [(r.operator, r.descriptor, r.target.literal) for r in command.redirections]
    assert found == [("<", "", "in"), (">", "", "out"), (">&", "2", "1"), (">>", "2", "err")]


def test_variables_are_put_in_where_they_are_known():
    steps = plan_of("N=3\nDECK=block\nmpirun -np $N ccx ${DECK} $(other)").steps
    assert steps[-1].argv == ("ccx", "block", None)
    assert steps[-1].launcher.ranks == 3


def test_cores_of_the_portal_are_known():
    assert plan_of("mpirun -np $HEADRACE_CORES ./a", cores=7).steps[0].launcher.ranks == 7


def test_launchers_are_looked_behind():
    step = plan_of("time env A=1 mpirun --bind-to core -np 2 nice -n 5 ./solver in.dat").steps[0]
    assert step.argv == ("./solver", "in.dat")
    assert (step.launcher.ranks, step.environment["A"]) == (2, "1")


def test_ranks_of_several_programs_are_added():
    assert plan_of("mpirun -np 1 ./a : -np 3 ./b").steps[0].launcher.ranks == 4


def test_scripts_are_read_in_place():
    steps = plan_of("bash run.sh deck", **{"run.sh": "cd sub\nccx $1\n"}).steps
    ccx = next(step for step in steps if step.program == "ccx")
    assert (ccx.argv, ccx.file, ccx.line, ccx.cwd) == (("ccx", "deck"), "run.sh", 2, "sub")


def test_a_folder_change_ends_with_its_subshell():
    steps = plan_of("(cd a && ls); ls").steps
    assert [step.cwd for step in steps if step.program == "ls"] == ["a", ""]


def test_what_earlier_steps_make_is_there():
    plan = plan_of("cat a > b; cp b c; mkdir d; cat c", a="x")
    last = plan.steps[-1].tree
    assert [last.exists(name) for name in ("a", "b", "c", "d", "e")] == [True, True, True, True, False]


def test_behind_an_unknown_program_nothing_is_missing():
    assert plan_of("python3 make.py; cat result").steps[-1].tree.exists("result") is None


def test_conditions_are_noticed():
    steps = plan_of("if true; then cat a; fi; cat b || cat c").steps
    assert {step.argv[-1]: step.conditional for step in steps if step.program == "cat"} == {"a": True, "b": False, "c": True}


def test_scripts_that_call_each_other_end():
    plan = plan_of("bash a.sh", **{"a.sh": "bash b.sh\n" * 50, "b.sh": "bash a.sh\n" * 50})
    assert 0 < len(plan.steps) <= 5_000
