"""DeltaDou's tables and figures, with a handful of decks."""

import json
from pathlib import Path

import pytest

from fogplay.experiments import deltadou_2019 as paper
from fogplay.experiments.reproduce import reproduce


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(paper.SCALES, "quick", (3, 4, 2))


def test_a_tournament_continues_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = reproduce("deltadou-2019/inference", out=tmp_path)
    outcome = made.outcome
    assert [finding.what for finding in outcome.findings] == ["DeltaDou against DeltaDou without inference"]
    kept = sorted((tmp_path / "deltadou-2019" / "jobs").glob("decks-*.json"))
    assert [json.loads(path.read_text())["decks"] for path in kept] in ([1, 2], [2, 1])
    kept[0].unlink()
    played = []
    inner = paper.play_in_threads
    monkeypatch.setattr(paper, "play_in_threads", lambda *given: played.append(given[2]) or inner(*given))
    again = reproduce("deltadou-2019/inference", out=tmp_path).outcome
    assert again.findings == outcome.findings, "a part that is played again has the same result"
    assert len(played) == 1
    assert "54.5 %" in (made.folder / "report.md").read_text()


def test_what_search_adds_is_told(tmp_path: Path) -> None:
    findings = reproduce("deltadou-2019/table2", out=tmp_path).outcome.findings
    assert len(findings) == 7
    assert findings[1].what == "what search adds against strong"
    assert (findings[-1].what, findings[-1].published) == ("DeltaDou against policy", "")
    assert {finding.verdict for finding in findings if finding.published} == {"inconclusive"}, (
        "networks that were trained once prove nothing"
    )


def test_figures_share_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    tiny = {**paper.QUICK, "bootstrap": 6, "games": 3, "playouts": 3, "judged": 2}
    monkeypatch.setitem(paper.CURVES, "quick", (1, tiny, 2))
    curve = reproduce("deltadou-2019/fig4", out=tmp_path)
    assert [finding.what.split(" by")[0] for finding in curve.outcome.findings] == [
        "ahead of the first heuristic",
        "ahead of strong",
    ]
    assert (curve.folder / "fig4.png").exists()
    before = (tmp_path / "deltadou-2019" / "jobs" / "episodes-quick-cpu" / "curve.jsonl").read_bytes()
    monkeypatch.setattr("fogplay.bots.doudizhu.training.episodes", None)  # a finished curve needs no training
    seats = reproduce("deltadou-2019/fig3", out=tmp_path)
    assert seats.outcome.findings[0].what.startswith("the peasants' share")
    assert (seats.folder / "fig3.svg").exists()
    assert before == (tmp_path / "deltadou-2019" / "jobs" / "episodes-quick-cpu" / "curve.jsonl").read_bytes()
