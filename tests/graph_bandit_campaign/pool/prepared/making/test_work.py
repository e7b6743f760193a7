import subprocess
import sys

from graph_bandit_campaign.pool.prepared.making import work


def test_workers_are_small_since_they_do_not_import_torch():
    program = f"import sys, {work.__name__}; print('torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed == "False\n"
