"""Training networks for Doudizhu: lanes, networks and judges for ``nets.training``."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fogplay.bots.doudizhu import arena, lockstep, records, selfplay
from fogplay.bots.doudizhu.agents import Strong
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.deltadou import Mind
from fogplay.bots.doudizhu.deltadou import Settings as Deliberation
from fogplay.bots.doudizhu.evaluators import SEATS
from fogplay.bots.doudizhu.lockstep import Networks, Player, Single, Thinker
from fogplay.engines import ENGINES, require_engine
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
from fogplay.nets.training import Training, begin, checked, within
from fogplay.scalars import Row
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


def judge(evaluate: Evaluate, decks: int, playouts: int = 0) -> Row:
    """How often networks win against bots, alone and (if it has playouts) with a search; errors are over decks."""
    threads, row = num_cores(), Row()
    judged: list[tuple[str, Callable[[], Player], Callable[[], Player]]] = [
        ("rhcp", lambda: Networks(evaluate), lambda: arena.bot(arena.RHCP)),
        ("rules", lambda: Networks(evaluate), lambda: arena.bot(arena.RULES)),
    ]
    if playouts:
        search = lambda: Thinker(Mind(evaluate, Deliberation(playouts=playouts)))  # noqa: E731
        judged += [
            ("search_rules", search, lambda: arena.bot(arena.RULES)),
            ("search_strong", search, lambda: Single(Strong())),
        ]
    with ThreadPoolExecutor(len(judged)) as pool:  # some wait for the networks, others for a core
        matches = {
            name: pool.submit(lockstep.compare_in_threads, own, other, decks, min(threads, decks))
            for name, own, other in judged
        }
    for name, match in matches.items():
        found, keys = match.result(), ("wins", "wins_error", "points", "points_error")
        row |= {f"{name}_{key}": float(getattr(found, key)) for key in keys}
    return row


# ---- In episodes, as in the paper

PLANES = (0, 1, 2, 3, 4, 5, 6, 7, 8)  # own, unseen, shown; played by each; the last three moves
RATES = ("rate", "batch", "expected", "average")  # settings of a run that are the imitator's
THREADS = "threads"  # instead of one of engines.ENGINES
TOGETHER = 256  # games that a thread plays in step, so that it asks much at a time
PARALLEL = 16  # simulations of a position at the same time: many positions fill a batch
FACT_WORDS = (SEEN_LEFT, SEEN_FACTS)
EPISODES_ON_CPU = {
    "bootstrap": 20_000,
    "games": 100,
    "playouts": 50,
    "width": 32,
    "blocks": 4,
    "batch": 512,
    "bootstrap_passes": 4,
    "passes": 4,
    "judged": 0,
}


def deliberation(playouts: int) -> Deliberation:
    """How players of an episode think: about every move, and with priors as their networks give them.

    Softer priors make the tries of a search flatter than the network, so a network that learned from them would become
    flatter with every episode.
    """
    usual = Deliberation()
    thinking = usual.thinking._replace(different=48)  # more would be most of what networks are asked
    weights = usual.weights._replace(prior_heat=1.0, root_heat=1.25)
    return usual._replace(playouts=playouts, parallel=PARALLEL, sure=2.0, weights=weights, thinking=thinking)


def episodes(
    rules: Doudizhu, folder: Path, device: str, seed: int, chosen: Mapping[str, Any], engine: str = THREADS
) -> Episodes:
    """A run in episodes of self-play with search, with the paper's convolutions; its networks learn from the search.

    Games are played in threads of this process around its networks, or in processes (``engines.spread``) with copies.
    """
    _require_plain(rules)
    require_engine(engine, (THREADS, *ENGINES))
    wanted = within(LIMITS, ("heat",), {**({} if device == "cuda" else EPISODES_ON_CPU), **chosen})
    width, blocks = wanted.pop("width", 128), wanted.pop("blocks", 10)
    rates = Rates(**{name: wanted.pop(name) for name in RATES if name in wanted})
    plan, cores = EpisodePlan(**wanted), num_cores()
    threads, parts = (2 * cores, max(cores // 2, 1)) if device == "cuda" else (cores, cores)  # some wait for the GPU
    parts = max(parts, plan.games // TOGETHER)
    begin(device, seed)
    shape = ConvolutionShape(SEEN, OUTPUTS, PLANES, FACT_WORDS, NUM_RANKS, width, blocks)
    imitator = Imitator(Convolution(shape, len(SEATS)), LAYOUT, rates, device)
    settings = {**plan._asdict(), "width": width, "blocks": blocks, **{name: getattr(rates, name) for name in RATES}}
    about = {"game": str(rules), "seed": seed, "settings": settings}
    games = SelfPlay(plan, seed, threads, parts, engine)
    run = Episodes(imitator, SEATS, folder, about, plan, games)
    games.networks = lambda: list(run.networks().values())
    return run


class SelfPlay:
    """The games of a run's episodes; those that threads play are written down every 20 seconds and when stopped."""

    def __init__(self, plan: EpisodePlan, seed: int, threads: int, parts: int, engine: str) -> None:
        self.plan, self.seed, self.threads, self.parts, self.engine = plan, seed, threads, parts, engine
        self.thinking = deliberation(plan.playouts)
        self.networks: Callable[[], list[Network]] = list  # for processes, which have copies

    def play(
        self, episode: int, evaluate: Evaluate | None, heat: float, file: Path, stopped: Callable[[], bool]
    ) -> tuple[dict[str, Any], Row] | None:
        """All decisions of an episode and who won, or None if stopped; what was played is in the file then."""
        seed, plan = self.seed + episode, self.plan
        if self.engine != THREADS:
            networks = None if evaluate is None else self.networks()
            games = plan.bootstrap if evaluate is None else plan.games
            return learned_from(selfplay.play_in_processes(seed, games, networks, self.thinking, heat, self.engine))
        if evaluate is None:
            return learned_from(selfplay.play(seed, plan.bootstrap, self.threads, None))
        own, seconds, began = selfplay.begin(plan.games, self.parts), 0.0, time.monotonic()
        if file.exists():
            own, about = records.load(file)
            seed, seconds = int(about["seed"]), float(about["seconds"])

        def save() -> None:
            records.save(file, own, {"seed": seed, "seconds": seconds + time.monotonic() - began})

        ended = selfplay.go_on(seed, own, self.threads, evaluate, self.thinking, heat, stopped, save)
        save()
        if not ended:
            return None
        decisions, facts = learned_from(selfplay.together([selfplay.played(seed, each) for each in own]))
        return decisions, {**facts, "play_seconds": seconds}

    def again(self, episode: int, file: Path) -> dict[str, Any]:
        """The decisions of an episode that was played."""
        own, about = records.load(file)
        return selfplay.together([selfplay.played(int(about["seed"]), each) for each in own]).samples._asdict()


def learned_from(found: selfplay.Played) -> tuple[dict[str, Any], Row]:
    """The decisions of games, and who won how many of them."""
    wins = {f"wins_{name}": float((found.winner == seat).mean()) for seat, name in enumerate(SEATS)}
    return found.samples._asdict(), {**wins, "bombs": float(found.bombs.mean())}
