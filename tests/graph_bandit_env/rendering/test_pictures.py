"""Graphs and molecules, as they are drawn."""

import builtins
import io

import numpy as np
import pytest
from matplotlib.image import imread
from rdkit import Chem
from rdkit.Chem.Draw import rdMolDraw2D
from support.rendered import SMILES

from graph_bandit_env import from_smiles
from graph_bandit_env.rendering.pictures import PIXELS, MoleculePicture, NodeLinkPicture, lay_out, make_picture


def test_a_molecule_is_the_drawing_that_rdkit_makes():
    painter = rdMolDraw2D.MolDraw2DCairo(PIXELS, PIXELS)
    molecules = from_smiles(SMILES)
    rdMolDraw2D.PrepareAndDrawMolecule(painter, Chem.MolFromSmiles(molecules.smiles[0]))
    painter.FinishDrawing()
    picture = make_picture(molecules, 0)
    assert isinstance(picture, MoleculePicture)
    np.testing.assert_allclose(picture.pixels, 255 * imread(io.BytesIO(painter.GetDrawingText())), atol=0.5)


def test_molecules_are_nodes_and_edges_without_rdkit(monkeypatch):
    molecules, importing = from_smiles(SMILES), builtins.__import__

    def refuse(name, *rest):
        if name.startswith("rdkit"):
            raise ImportError(name)
        return importing(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    picture = make_picture(molecules, 1)
    assert isinstance(picture, NodeLinkPicture)
    assert picture.caption.startswith("3 nodes, 2 edges")


def test_nodes_are_coloured_by_degree_and_edges_drawn_once():
    picture = NodeLinkPicture(4, np.array([(0, 1), (1, 0), (1, 2), (2, 1), (3, 3)]))
    assert picture.degrees[:3].tolist() == [1, 2, 1]
    np.testing.assert_array_equal(picture.segments, picture.positions[[[0, 1], [1, 2]]])
    assert picture.caption == "4 nodes, 3 edges, including 1 loop; colour: degree 1 to 2"


@pytest.mark.parametrize("num_nodes", [1, 3, 60, 301, 1200])
def test_a_layout_parts_all_nodes_within_the_picture(num_nodes):
    links = np.array([(k, k + 1) for k in range(num_nodes // 2 - 1)], int).reshape(
        -1, 2
    )  # half a path; isolated others
    positions = lay_out(num_nodes, links)
    assert positions.shape == (num_nodes, 2)
    assert np.abs(positions).max() <= 0.93
    assert len(np.unique(positions.round(6), axis=0)) == num_nodes
    np.testing.assert_array_equal(positions, lay_out(num_nodes, links))
