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
from support.molecules import some_molecules
from support.tables import write

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
COMMAND = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "mcp"]


@pytest.fixture
def folder(tmp_path):
    molecules = some_molecules()
    write(tmp_path / "pool.csv", [("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(molecules.smiles))])
    return tmp_path


@pytest.mark.slow
def test_a_desktop_client_starts_a_campaign_and_goes_on(folder, tmp_path_factory):
    async def play(said):
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(folder)], env=ENVIRONMENT)
        async with Client(stdio_client(server, errlog=said)) as client:

            async def call(tool, **arguments):
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer.content
                return answer.structured_content

            assert "start_campaign" in [tool.name for tool in (await client.list_tools()).tools]
            assert (await call("list_tables"))["tables"] == ["pool.csv"]
            wishes = {"minimize": ["logp"], "n": 2}
            started = await call("start_campaign", name="by a model", pool="pool.csv", wishes=wishes)
            campaign, first = started["campaign"]["id"], started["suggestions"]["suggested"]
            results = [{"id": name, "value": 1.0 + k} for k, name in enumerate(first)]
            await call("record", campaign=campaign, results=results)
            second = (await call("suggest", campaign=campaign))["suggestions"]
            assert (second["round"], len(set(second["suggested"]) - set(first))) == (2, 2)

    said = tmp_path_factory.mktemp("said") / "said.txt"
    with said.open("w") as file:
        asyncio.run(asyncio.wait_for(play(file), 120))
    assert len(said.read_text().splitlines()) == 1
    assert (folder / "by-a-model" / "suggestions.campaign.json").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("is_interrupted", [False, True], ids=["closed", "interrupted"])
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process there")
def test_closed_input_and_ctrl_c_end_it_with_all_its_processes(is_interrupted, folder):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([*COMMAND, str(folder)], text=True, env=ENVIRONMENT, **pipes)
    assert "as tools over stdin and stdout" in process.stderr.readline()
    while not (children := psutil.Process(process.pid).children(recursive=True)):
        assert process.poll() is None
    if is_interrupted:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    printed, said = process.communicate(timeout=30)  # which closes stdin
    assert (process.returncode, printed) == (130 if is_interrupted else 0, "")
    stopped = "\nStopped. What was saved is saved; what was going on has stopped.\n"
    assert said == (stopped if is_interrupted else "")
    assert have_ended([child.pid for child in children])
