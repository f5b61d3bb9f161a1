"""Training networks for Doudizhu: lanes, networks and judges for ``nets.training``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fogplay.bots.doudizhu import arena, lockstep, selfplay
from fogplay.bots.doudizhu.deltadou import Settings as Deliberation
from fogplay.bots.doudizhu.evaluators import SEATS
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu
from fogplay.games.doudizhu_cards import BLACK_JOKER, NUM_RANKS, RED_JOKER
from fogplay.games.doudizhu_heads import NUM_HEADS
from fogplay.jit import num_cores
from fogplay.nets.convolution import Convolution
from fogplay.nets.dense import Dense
from fogplay.nets.distributions import Layout
from fogplay.nets.episodes import LIMITS, EpisodePlan, Episodes
from fogplay.nets.imitation import Imitator, Rates
from fogplay.nets.ppo import Learner, Settings
from fogplay.nets.training import Row, Training, begin, checked, within
from fogplay.simulators.doudizhu_features import OPEN, SEEN, SEEN_FACTS, SEEN_LEFT
from fogplay.simulators.doudizhu_lanes import Lanes
from fogplay.simulators.doudizhu_policy import COUNTS, KICKER_KINDS, MOST_KICKERS, OUTPUTS
from fogplay.strategies.convolution import ConvolutionShape
from fogplay.strategies.dense import DenseShape
from fogplay.strategies.network import Network

CRITIC = "critic"
LAYOUT = Layout(
    heads=NUM_HEADS, kinds=KICKER_KINDS, ranks=NUM_RANKS, largest=MOST_KICKERS, single=(BLACK_JOKER, RED_JOKER),
    results=2, counts=COUNTS, pool=1, hidden=SEEN,
)  # fmt: skip
ON_CPU = {"size": 64, "steps": 24, "batch": 512, "width": 128, "blocks": 2, "decisions": 5e6}


def trainer(rules: Doudizhu, folder: Path, device: str, seed: int, chosen: Mapping[str, Any]) -> Training:
    """A run that trains one network per seat by self-play, and a critic; ``chosen`` are settings by name."""
    _require_plain(rules)
    wanted = checked({**({} if device == "cuda" else ON_CPU), **chosen})
    width, blocks = wanted.pop("width", 512), wanted.pop("blocks", 4)
    settings = Settings(**wanted)
    begin(device, seed)
    actors = Dense(DenseShape(SEEN, OUTPUTS, width, blocks), len(SEATS))
    critic = Dense(DenseShape(OPEN, LAYOUT.results, width, blocks))
    learner = Learner(_lanes(settings.size, seed, device), actors, critic, LAYOUT, settings, device)
    about = {"game": str(rules), "seed": seed, "settings": {**settings._asdict(), "width": width, "blocks": blocks}}
    return Training(learner, (*SEATS, CRITIC), folder, about)


def _require_plain(rules: Doudizhu) -> None:
    if rules.bidding or rules.spring:
        raise FogplayError("networks are trained for Doudizhu without bidding and spring: `fogplay train doudizhu`")


def _lanes(size: int, seed: int, device: str) -> Any:
    if device == "cpu":
        return Lanes(size, seed)
    from fogplay.simulators.doudizhu_lanes_gpu import LanesOnGpu

    return LanesOnGpu(size, seed)


def player(networks: Mapping[str, Network], heat: float = 0.0) -> lockstep.Networks:
    """The seats' networks as a player of many games at once."""
    own = [networks[name] for name in SEATS]
    return lockstep.Networks(lambda seat, seen: own[seat].outputs(seen), heat)


def judge(networks: Mapping[str, Network], decks: int) -> Row:
    """How often the networks alone win against the plain bots, with standard errors over decks."""
    row: Row = {}
    for name, kind in (("rhcp", arena.RHCP), ("rules", arena.RULES)):
        found = lockstep.compare(player(networks), arena.bot(kind), decks)
        row |= {f"{name}_{key}": float(getattr(found, key)) for key in ("wins", "wins_error", "points", "points_error")}
    return row


# ---- In episodes, as in the paper

PLANES = (0, 1, 2, 3, 4, 5, 6, 7, 8)  # own, unseen, shown; played by each; the last three moves
FACT_WORDS = (SEEN_LEFT, SEEN_FACTS)
EPISODES_ON_CPU = {
    "bootstrap": 2000,
    "games": 100,
    "playouts": 50,
    "width": 32,
    "blocks": 4,
    "batch": 512,
    "steps": 200,
}


def episodes(rules: Doudizhu, folder: Path, device: str, seed: int, chosen: Mapping[str, Any]) -> Episodes:
    """A run in episodes of self-play with search, with the paper's convolutions; its networks learn from the search."""
    _require_plain(rules)
    wanted = within(LIMITS, ("heat",), {**({} if device == "cuda" else EPISODES_ON_CPU), **chosen})
    width, blocks = wanted.pop("width", 128), wanted.pop("blocks", 10)
    rates = Rates(**{name: wanted.pop(name) for name in ("rate", "batch") if name in wanted})
    plan, threads = EpisodePlan(**wanted), num_cores()
    begin(device, seed)
    shape = ConvolutionShape(SEEN, OUTPUTS, PLANES, FACT_WORDS, NUM_RANKS, width, blocks)
    imitator = Imitator(Convolution(shape, len(SEATS)), LAYOUT, rates, device)
    thinking = Deliberation(playouts=plan.playouts, sure=2.0)

    def play(episode: int, evaluate: Any, heat: float) -> tuple[dict[str, Any], Row]:
        games = plan.bootstrap if episode == 0 else plan.games
        found = selfplay.play(seed + episode, games, threads, evaluate, thinking, heat)
        wins = {f"wins_{name}": float((found.winner == seat).mean()) for seat, name in enumerate(SEATS)}
        return found.samples._asdict(), {**wins, "bombs": float(found.bombs.mean())}

    settings = {**plan._asdict(), "width": width, "blocks": blocks, "rate": rates.rate, "batch": rates.batch}
    about = {"game": str(rules), "seed": seed, "settings": settings}
    return Episodes(imitator, SEATS, folder, about, plan, play)
