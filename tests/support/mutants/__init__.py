"""Change one sign, comparison or constant at a time, and run the tests of its file (`make mutants`).

    PYTHONPATH=.:tests python -m support.mutants [PLACE ...] [--since COMMIT] [--sample 0.02 | --draw 400] [--seed 0]

Cosmic Ray makes the mutants. Its own runner starts a process for each, which imports torch for seconds, so here one
process imports the libraries and each mutant is tested in a fork of it (Linux and macOS), where an import hook gives
the changed source: no file is ever changed. Only tests that execute the changed statement run, the quickest first.

A mutant is killed when a test of its own file fails: `tests/gntk/test_network.py` for `gntk/network.py`, or all tests
of the mirrored folder where no test file has the module's name. Annotations, default values and what a message says
are not mutated. Mutants known to change nothing stand in `equivalent.toml`, each with its reason.

There are hours of them: `--since` takes those of lines that are newer than a commit, `--sample` each by chance, and
`--draw` so many of the whole product, each with the same chance.
"""
