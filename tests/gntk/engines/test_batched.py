import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import GraphMLP, aggregate_neighbours, batched_values_and_features, values_and_features
from gntk.engines import batched


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    depth=st.integers(2, 4),
    block=st.sampled_from([1, 100, 1 << 20]),
    own_count=st.booleans(),
)
def test_is_the_plain_form_on_ragged_graphs_in_any_blocks(sizes, depth, block, own_count):
    batch = Batch.from_data_list(ragged_graphs(sizes=sizes, feature_dim=3))
    graphs = aggregate_neighbours(batch, own_count=own_count)
    weights = [weight.detach() for weight in GraphMLP(3, 8, depth, zero_start=False).weights]
    values, features = values_and_features(weights, graphs)
    index = torch.randperm(len(graphs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batched, "NODE_UNITS_PER_BLOCK", block)
        found_values, found_features = batched_values_and_features(weights, graphs, index)
    torch.testing.assert_close(found_values, values[index])
    torch.testing.assert_close(found_features, features[index])
