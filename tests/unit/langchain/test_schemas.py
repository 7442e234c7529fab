"""Arguments of tools, as models send them."""

import pytest

from abreast.langchain.tools.reading import ReadArguments
from abreast.langchain.tools.schemas import Row


@pytest.mark.parametrize(
    ("sent", "taken"), [("m1", "m1"), (12, "12"), (["m1", 3], '["m1",3]'), ('["m1",3]', '["m1",3]')]
)
def test_an_id_is_taken_as_it_stands_in_the_block(sent, taken):
    """A number may come as one, and a composite id as the list that it looks like."""
    assert taken == Row(id=sent, expected_version=1).id
    assert [taken] == ReadArguments(ids=[sent]).ids
