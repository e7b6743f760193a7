"""`graph-bandit mcp`: the tools over stdin and stdout of a real process."""

import asyncio
import os
import signal
import subprocess
import sys

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from support import ROOT
from support.ended import have_ended
from support.served import POOL

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
FLAGS = ["-W", "ignore", "-m", "graph_bandit_cli", "mcp"]
pytestmark = pytest.mark.slow


def test_a_desktop_client_starts_a_campaign(tmp_path, tmp_path_factory):
    async def play(said):
        server = StdioServerParameters(command=sys.executable, args=[*FLAGS, str(tmp_path)], env=ENVIRONMENT)
        async with Client(stdio_client(server, errlog=said)) as client:
            given = {"name": "by a model", "pool": "pool.csv", "settings": {"minimize": ["logp"], "n": 2}}
            answer = await client.call_tool("new", {"asked": given})
            assert not answer.is_error, answer.content

    (tmp_path / "pool.csv").write_bytes(POOL)
    said = tmp_path_factory.mktemp("said") / "said.txt"
    with said.open("w") as file:
        asyncio.run(asyncio.wait_for(play(file), 120))
    assert len(said.read_text().splitlines()) == 1
    assert (tmp_path / "by-a-model" / "suggestions.campaign.json").is_file()


@pytest.mark.parametrize("is_interrupted", [False, True], ids=["closed", "interrupted"])
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process there")
def test_closed_input_and_ctrl_c_end_it_with_all_its_processes(is_interrupted, tmp_path):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, *FLAGS, str(tmp_path)], text=True, env=ENVIRONMENT, **pipes)
    process.stderr.readline()  # which says that it is there
    while not (children := psutil.Process(process.pid).children(recursive=True)):
        assert process.poll() is None
    if is_interrupted:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    printed, said = process.communicate(timeout=30)  # which closes stdin
    assert (process.returncode, printed, "Stopped" in said) == (130 if is_interrupted else 0, "", is_interrupted)
    assert "Traceback" not in said
    assert have_ended([child.pid for child in children])
