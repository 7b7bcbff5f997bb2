"""CPU lists and masks, as the kernel writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.host import cpulist

CPUS = st.frozensets(st.integers(0, 300), max_size=40)


@given(CPUS)
def test_a_written_list_reads_back(cpus):
    assert cpulist.parse_list(cpulist.write_list(cpus)) == cpus


@given(CPUS)
def test_a_written_mask_reads_back(cpus):
    assert cpulist.parse_mask(cpulist.write_mask(cpus)) == cpus


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", set()),
        ("(null)\n", set()),
        ("0", {0}),
        ("0,2-3\n", {0, 2, 3}),
        (" 1 , 3 ", {1, 3}),
        # Documentation/admin-guide/kernel-parameters.rst: used size / group size.
        ("0-9:2/5", {0, 1, 5, 6}),
    ],
)
def test_reads_lists(text, cpus):
    assert cpulist.parse_list(text) == cpus


@pytest.mark.parametrize(("text", "cpus"), [("3", {0, 1}), ("1,00000000", {32}), ("0", set())])
def test_reads_masks(text, cpus):
    assert cpulist.parse_mask(text) == cpus


def test_writes_spans_and_groups():
    assert cpulist.write_list([3, 0, 1, 2, 5]) == "0-3,5"
    assert cpulist.write_list([]) == ""
    assert cpulist.write_mask([0, 1, 32]) == "1,00000003"


@pytest.mark.parametrize(
    "text", ["x", "-1", "3-1", "1-", "0-7:1", "0-7:1/0", "٣", "1_0", "99999999", "0-99999999999"]
)
def test_refuses_what_is_no_list(text):
    with pytest.raises(ValueError, match=r"\S"):
        cpulist.parse_list(text)


@pytest.mark.parametrize("text", ["", "g", "123456789", "1,,1", ",".join(["0"] * 3000)])
def test_refuses_what_is_no_mask(text):
    with pytest.raises(ValueError, match=r"\S"):
        cpulist.parse_mask(text)
