"""The Mandelbrot set: after how many steps each point of the plane escapes, with masks of those that have not."""


def make(np, height=400, width=600):
    x = np.linspace(-2.2, 0.8, width)
    y = np.linspace(-1.2, 1.2, height)
    return (x[None, :] + 1j * y[:, None],)


def run(np, c, steps=60):
    z = np.zeros_like(c)
    escaped = np.full(c.shape, steps)
    inside = np.ones(c.shape, dtype=bool)
    for step in range(steps):
        z[inside] = z[inside] ** 2 + c[inside]
        out = inside & (np.abs(z) > 2)
        escaped[out] = step
        inside &= ~out
    counts, _ = np.histogram(escaped, bins=steps + 1, range=(0, steps + 1))
    return {"escaped": escaped, "inside": inside.mean(), "counts": counts}


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run)
