import pytest

from graph_bandit_campaign.checks import nearest_id

IDS = ("LX-03999", "LX-04000", "aspirin", "Caffeine")


@pytest.mark.parametrize(
    ("identifier", "meant"),
    [
        ("LX-99999", ""),  # alike, but another number
        ("LX-3999", "LX-03999"),
        ("lx_04000", "LX-04000"),
        ("LX-O3999", "LX-03999"),
        ("aspirine", "aspirin"),
        ("caffeine", "Caffeine"),
        ("water", ""),
    ],
)
def test_offers_an_id_that_may_be_meant_and_no_other_number(identifier, meant):
    assert nearest_id(identifier, IDS) == meant
