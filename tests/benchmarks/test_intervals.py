from benchmarks.intervals import KINDS, METHODS, Settings, measure


def test_the_interval_of_the_laboratory_covers_more_of_few_skewed_numbers_than_a_bootstrap_does():
    header, *rows = measure(Settings(repetitions=(5,), samples=400))
    assert header == ("numbers", "interval", "n = 5")
    assert len(rows) == len(KINDS) * len(METHODS)
    shares = {row[:2]: int(row[2]) for row in rows}
    assert shares["gamma, sd 0.7", "Student, of the logarithm"] >= 92
    assert shares["gamma, sd 0.7", "percentile bootstrap"] <= 86
