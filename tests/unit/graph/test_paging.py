from __future__ import annotations

from service.graph.paging import Page, paged


def test_what_went_out_of_sight_between_two_statements_is_left_out_of_its_page() -> None:
    page = paged(Page(first=2), [(1, "a"), (2, "gone"), (3, "c")], {"a": "A", "c": "C"})
    assert (page.items, page.cursors, page.has_next) == (("A",), ((1, "a"),), True)
