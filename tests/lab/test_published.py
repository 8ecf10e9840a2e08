"""The tables and the chart of the documents show what was measured."""

import json

from lab.bench import published
from lab.bench.chart import chart_of
from lab.cluster import published as cluster


def test_the_performance_table_and_chart_match_the_figures():
    run = json.loads(published.PLACE.read_text())
    documented = published.PAGE.read_text().split(published.BEGINNING)[1].split(published.END)[0]
    assert documented == published.table_of(run)
    assert published.CHART.read_text() == chart_of(map(published.row_of, run["rows"]))


def test_the_scale_page_shows_the_cluster_figures():
    page, results = cluster.PAGE.read_text(), json.loads(cluster.PLACE.read_text())
    for name, table in cluster.tables(results).items():
        documented = page.split(cluster.beginning(name))[1].split(cluster.end(name))[0]
        assert documented == table
    assert "Lost, doubled, or stuck: 0." in results["day"]
