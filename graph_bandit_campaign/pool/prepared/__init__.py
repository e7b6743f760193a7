"""Pools of any size: a folder of parts with all that can be computed from the structure of each molecule alone."""

from graph_bandit_campaign.pool.block import Block, Cells
from graph_bandit_campaign.pool.prepared.making.run import open_table_pool, prepare
from graph_bandit_campaign.pool.prepared.pool import Place, PreparedPool
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings

__all__ = [
    "Block",
    "Cells",
    "Place",
    "PrepareSettings",
    "PreparedPool",
    "open_table_pool",
    "prepare",
]
