import tomllib

from support import ROOT
from support.size import measure
from support.words import count_pages


def test_no_place_holds_more_than_its_budget():
    budgets, sizes = tomllib.loads((ROOT / "budgets.toml").read_text(encoding="utf-8")), measure()
    sizes["pages", "hits"] = sum(page.total() - page["words"] for page in count_pages().values())
    over = {
        f"{place}, {kind}": f"{sizes[place, kind]:,} of {budget['limit']:,}"
        for kind, places in budgets.items()
        for place, budget in places.items()
        if sizes[place, kind] > budget["limit"]
    }
    assert not over
