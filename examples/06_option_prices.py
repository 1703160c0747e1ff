"""Option prices by Monte Carlo
============================

Simulates paths of a share price, and from them the prices of an Asian and a European call. The European one also has a
formula, by Black and Scholes, so the picture can show that the confidence band of the estimate closes around it.
"""

import math
from types import ModuleType
from typing import Any

SMALL = {"paths": 4000, "steps": 8}


def make(np: ModuleType, paths: int = 100_000, steps: int = 50) -> tuple[Any, int, int]:
    return np.random.default_rng(6), paths, steps


def formula(spot: float, strike: float, rate: float, volatility: float, years: float) -> float:
    """The price of the European call by Black and Scholes."""
    spread = volatility * math.sqrt(years)
    up = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    below = [0.5 * math.erfc(-z / math.sqrt(2)) for z in (up, up - spread)]
    return spot * below[0] - strike * math.exp(-rate * years) * below[1]


def run(np: ModuleType, rng: Any, paths: int, steps: int) -> dict[str, Any]:
    spot, strike, rate, volatility, years = 100.0, 105.0, 0.03, 0.25, 1.0
    each = years / steps
    noise = rng.standard_normal((steps, paths))
    walk = np.cumsum((rate - volatility**2 / 2) * each + volatility * math.sqrt(each) * noise, axis=0)
    prices = spot * np.exp(walk)
    discount = math.exp(-rate * years)
    european = discount * np.maximum(prices[-1] - strike, 0)
    asian = discount * np.maximum(prices.mean(axis=0) - strike, 0)
    counts = np.arange(1, paths + 1)
    running = np.cumsum(european) / counts
    variance = np.maximum(np.cumsum(european**2) / counts - running**2, 0)
    return {
        "european": european.mean(),
        "error of european": european.std() / math.sqrt(paths),
        "by formula": formula(spot, strike, rate, volatility, years),
        "asian": asian.mean(),
        "quartiles": np.percentile(prices[-1], [25, 50, 75]),
        "running mean": running,
        "running error": np.sqrt(variance / counts),
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    first = len(results["running mean"]) // 1000
    mean, error = (results[name][first:] for name in ("running mean", "running error"))
    counts = range(first + 1, first + 1 + len(mean))
    plt.figure(layout="constrained")
    plt.fill_between(counts, mean - 1.96 * error, mean + 1.96 * error, alpha=0.3, label="95 % confidence")
    plt.plot(counts, mean, label="Monte Carlo")
    plt.axhline(results["by formula"], color="black", linestyle="--", label="Black and Scholes")
    plt.xscale("log")
    plt.xlabel("paths")
    plt.ylabel("price of the European call")
    plt.legend()


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
