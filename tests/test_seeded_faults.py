"""Each seeded fault can be put into the tree as it is; seeding is a command."""

from devstack.environment import ROOT
from tests.support.seeded_faults import load_faults


def test_every_fault_can_be_seeded_and_names_tests_that_exist() -> None:
    faults = load_faults()
    assert len(faults) >= 40
    problems = {fault.name: fault.find_problem(ROOT) for fault in faults}
    assert {name: each for name, each in problems.items() if each} == {}
