"""Prices of options by Monte Carlo: an Asian call and a European one, whose price has a formula."""

import math


def make(np, paths=100_000, steps=50):
    return np.random.default_rng(6), paths, steps


def formula(spot, strike, rate, volatility, years):
    """The price of the European call by Black and Scholes."""
    spread = volatility * math.sqrt(years)
    up = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    below = [0.5 * math.erfc(-z / math.sqrt(2)) for z in (up, up - spread)]
    return spot * below[0] - strike * math.exp(-rate * years) * below[1]


def run(np, rng, paths, steps, spot=100.0, strike=105.0, rate=0.03, volatility=0.25, years=1.0):
    each = years / steps
    noise = rng.standard_normal((steps, paths))
    walk = np.cumsum((rate - volatility**2 / 2) * each + volatility * math.sqrt(each) * noise, axis=0)
    prices = spot * np.exp(walk)
    discount = math.exp(-rate * years)
    european = discount * np.maximum(prices[-1] - strike, 0)
    asian = discount * np.maximum(prices.mean(axis=0) - strike, 0)
    return {
        "european": european.mean(),
        "error of european": european.std() / math.sqrt(paths),
        "by formula": formula(spot, strike, rate, volatility, years),
        "asian": asian.mean(),
        "quartiles": np.percentile(prices[-1], [25, 50, 75]),
    }


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run)
