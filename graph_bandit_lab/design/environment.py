"""Define the environment settings of a run, as results store them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro

from graph_bandit_env import BanditArguments
from graph_bandit_env.bandit import BanditModel, ObservationKind
from graph_bandit_env.graphs import size_range
from graph_bandit_env.rewards import REWARD_MODELS, NoiseName, RewardModelName
from graph_bandit_lab.design.names import COLUMN, OWN, TARGET, write_size
from graph_bandit_lab.design.own_graphs import Contents, PoolFile, read_outline
from graph_bandit_lab.episodes.feedback import Feedback

READING = ("target", "noise_column", "smiles", "skip_bad_rows", "directed", "slot", "ignore_column")
"""Settings that control how `graphs` is read."""
NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`


@dataclass(frozen=True, kw_only=True)
class EnvironmentSettings(BanditArguments):
    """The environment that all agents play on: random graphs, or your own graphs from a file.

    Raises:
        FileNotFoundError: if there is no such file of graphs.
        ValueError: if an argument is out of its range, or the file cannot be read.
        TypeError: if an argument is unknown, or neither a number nor a name.
    """

    graphs: str | None = None
    """File of your own graphs, used instead of random graphs. It is a table of molecules (.csv, .tsv, .txt, .smi, .sdf,
    .xlsx or .parquet), networkx graphs (.jsonl, .json, .graphml, .gexf or .gml) or PyG graphs (.pt, or the folder of a
    TU dataset). `library` is a pool of 4,419 molecules. The name of a kind of graphs, such as `bipartite`, draws
    `num_graphs` graphs and their mean rewards in each repetition, with `resample_graphs`. Results identify graphs by
    content, not by path."""
    directed: bool | None = None
    """Direction of edges in the file of `graphs`. True keeps it, False adds the missing direction of each edge. By
    default the file decides (`.jsonl`), and a `.pt` file must contain both directions."""
    reward_model: RewardModelName | None = None
    """Mean reward as a function of the graph. By default the values in the file of `graphs`, and `linear` for random
    graphs."""
    noise: NoiseName = "gaussian"
    """Distribution of the noise."""
    noise_std: float = 0.01
    """Standard deviation of the noise, in reward units."""
    target: str | None = None
    """Column (or attribute) of the values in the file of `graphs`. Graphs without a value are left out."""
    minimize: bool = False
    """Minimize the values. The mean reward is then minus the value."""
    noise_column: str | None = None
    """Column (or attribute) with the noise standard deviation of each graph, in the units of the values. It replaces
    `noise_std`."""
    smiles: str = "smiles"
    """SMILES column of a table of molecules."""
    skip_bad_rows: bool = False
    """Skip rows of the file that are not molecules."""
    slot: Annotated[tuple[str, ...], NONE] = ()
    """Columns of a table that are parts of an action, such as solvent and temperature, in addition to columns of
    structures."""
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns in which replicate rows of a molecule may differ."""

    batch: int = 1
    """b, the number of graphs that an agent chooses together. Their rewards arrive after the last of them. Agents
    without batches choose one graph after another."""
    delay: int | tuple[int, int] = 0
    """d, the number of rounds between an action and its reward. With (least, most), a delay is drawn for each
    reward."""
    random_rounds: int = 0
    """Number of initial rounds with random graphs. They are the same for all agents, which learn from them."""
    announced: bool = True
    """Announce pending graphs to agents when they choose, if the graphs stay the same. Agents with `select_awaiting`
    take them into account."""
    distinct: bool = True
    """Require different graphs in a batch. Otherwise a batch may repeat a graph."""

    resample_graphs: bool | Literal["episode", "round"] = False
    """Draw new graphs in each round ("round") or repetition ("episode"). In "episode", or True, each repetition has one
    graph set, as with False, but the reward function is defined on all graphs. From your own graphs, `num_graphs` are
    drawn each time."""
    observe: tyro.conf.Suppress[ObservationKind] = field(default="indices", init=False)
    """Agents get the graphs once, and indices in each round, unless graphs change."""
    render_mode: tyro.conf.Suppress[None] = field(default=None, init=False)
    """Repetitions are not rendered. `run_bandit` plays an environment that you make."""

    def __post_init__(self) -> None:
        for name, kinds in {"graphs": str | Path | None, "reward_model": str | None, "noise": str}.items():
            if not isinstance(value := getattr(self, name), kinds):
                raise TypeError(
                    f"Expected `{name}` to be a name, which results can store. Got {type(value).__name__}. "
                    "`run_bandit` plays with graphs, means and functions in memory."
                )
        object.__setattr__(self, "graphs", None if self.graphs is None else str(self.graphs))
        if isinstance(self.resample_graphs, (bool, np.bool_)):  # equal choices are equal settings
            object.__setattr__(self, "resample_graphs", "episode" if self.resample_graphs else False)
        if self.resample_graphs == "round":
            object.__setattr__(self, "observe", "graphs")
        for name in ("edge_prob", "noise_std", "drift_rate"):  # equal numbers are equal settings
            if type(value := getattr(self, name)) is int:
                object.__setattr__(self, name, float(value))
        for name in ("slot", "ignore_column"):  # a sweep file gives a text, or a list
            object.__setattr__(self, name, (each,) if isinstance(each := getattr(self, name), str) else tuple(each))
        for name, value in dataclasses.asdict(self.feedback).items():  # equal choices are equal settings
            object.__setattr__(self, name, value)
        if self.batch > 1 and (self.resample_graphs == "round" or self.context or self.actions_per_round is not None):
            raise ValueError(f"Expected `batch=1`, because each round offers new graphs. Got {self.batch}.")
        own = None if self.pool is None else read_outline(self.pool)
        arguments = {field.name: getattr(self, field.name) for field in dataclasses.fields(BanditArguments)}
        if own is None:  # equal choices are equal settings
            object.__setattr__(self, "reward_model", self.rewards)
        arguments["reward_model"] = self.rewards
        if own is not None:
            other = self.noise_std != BanditArguments.noise_std or self.reward_scale != "raw" or self.rewards != TARGET
            if self.noise_column is not None and other:
                raise ValueError(
                    "Expected `noise_column` without `noise_std`, and with the values of the file as they are, for it "
                    f"is in their units. Got {self.noise_std}, and rewards {self.rewards} of scale {self.reward_scale}."
                )
            arguments |= {"graphs": own.graphs, "reward_model": own.rewards(self.rewards, self.minimize)}
            arguments["directed"] = None  # applied when the file was read
            arguments |= {} if own.noise is None else {"noise_std": own.noise}
        bandit = BanditModel(BanditArguments(**arguments))  # checks every field
        fixed = own is not None and not self.resample_graphs
        count = bandit.num_graphs if fixed else bandit.random_graphs.num_graphs
        if not fixed:
            object.__setattr__(self, "num_graphs", count)
            object.__setattr__(self, "num_nodes", bandit.random_graphs.num_nodes)
        if not self.replacement and self.horizon > size_range(count)[0]:  # the episode would end early
            raise ValueError(
                f"Expected `horizon` to be at most `num_graphs` without replacement. Got {self.horizon} rounds of "
                f"{write_size(count)} graphs, and each can be played only once."
            )

    @property
    def feedback(self) -> Feedback:
        """Return the batches, delays and random rounds."""
        names = (field.name for field in dataclasses.fields(Feedback))
        return Feedback(**{name: getattr(self, name) for name in names})

    @property
    def pool(self) -> PoolFile | None:
        """Return the source of the graphs, or None if they are random."""
        if self.graphs is None:
            return None
        reading = {name: getattr(self, name) for name in READING}
        reading["num_graphs"] = tuple(self.num_graphs) if isinstance(self.num_graphs, list) else self.num_graphs
        file = PoolFile(source=self.graphs, with_values=self.reward_model is None, **reading)
        return replace(file, source=str(Path(self.graphs).absolute())) if file.is_file else file

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as results store them, with a digest of own graphs. `to_arguments` makes keywords."""
        taken = [field.name for field in dataclasses.fields(self) if field.init and field.name not in READING]
        stored = {name: getattr(self, name) for name in taken if name not in ("announced", "distinct")}
        if self.contents is not None:
            sizes = {"num_nodes": self.contents.num_nodes, "feature_dim": self.contents.feature_dim}
            sizes |= {} if self.resample_graphs else {"num_graphs": self.contents.num_graphs}
            stored |= {"graph_model": OWN, "graphs": self.contents.digest, **sizes}
            del stored["edge_prob"]
            stored |= {} if self.noise_column is None else {"noise_std": COLUMN}
        stored["reward_model"] = self.rewards
        kept = {k: list(v) if isinstance(v, tuple) else v for k, v in stored.items()}
        announced = self.announced and self.resample_graphs != "round"
        kept |= {} if self.delay == 0 else {"announced": announced}
        return kept if self.distinct else kept | {"distinct": False}

    @cached_property
    def contents(self) -> Contents | None:
        """Return the contents of the graph file when these settings were made, or None for random graphs."""
        return None if self.pool is None else read_outline(self.pool).contents

    @property
    def rewards(self) -> str:
        """Return the name of the rewards.

        Raises:
            ValueError: if values are requested but missing, or requested together with a reward function.
        """
        if self.contents is None:
            given = [name for name in (*READING, "minimize") if getattr(self, name) != getattr(PoolFile, name, False)]
            if given:
                raise ValueError(f"Expected `{given[0]}` with `graphs`, a file of graphs. Got no file.")
            return self.reward_model or "linear"
        if self.reward_model is None:
            if not self.contents.have_values:
                raise ValueError(
                    f"Expected `target`, the column of the values in {self.graphs}, or `reward_model`, the name of a "
                    f"reward function ({', '.join(REWARD_MODELS)}). Got neither."
                )
            return TARGET
        if self.target is not None or self.minimize:
            raise ValueError(
                "Expected either the values of the file or a reward function by its name. Got "
                f"{self.reward_model} with `{'target' if self.target is not None else 'minimize'}`. Leave one out."
            )
        return self.reward_model

    @property
    def note(self) -> str:
        """Return a note for users on how the graphs were read, or an empty string."""
        if self.pool is None or self.contents is None:
            return ""
        lines, count = self.contents.skipped, self.contents.left_out
        bad = f"rows that cannot be read ({len(lines):,}; the first is {lines[0][0]}: {lines[0][1]})" if lines else ""
        bare = f"graphs without a value ({count:,})" if count else ""
        left_out = " and ".join(filter(None, (bad, bare)))
        said = ", ".join([*[f"left out {left_out}"] * bool(left_out), *self.contents.remarks])
        return said and f"{self.pool.name}: {said}."

    def describe(self) -> dict[str, Any]:
        """Return the settings for display, with own graphs under their file name."""
        return self.to_dict() | ({} if self.pool is None else {"graphs": self.pool.name})
