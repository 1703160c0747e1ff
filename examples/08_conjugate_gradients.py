"""Poisson's equation on a grid by conjugate gradients, without a matrix."""


def make(np, size=200):
    y, x = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing="ij")
    return (np.sin(3 * np.pi * x) * np.cos(2 * np.pi * y) + np.where((x - 0.5) ** 2 + y**2 < 0.1, 5.0, 0.0),)


def laplacian(np, u):
    """Minus the five-point differences of a grid whose border is 0."""
    wide = np.pad(u, 1)
    return 4 * u - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]


def run(np, source, tolerance=1e-8, most=1000):
    u = np.zeros_like(source)
    r = source - laplacian(np, u)
    p = r.copy()
    rho = np.vdot(r, r)
    enough = tolerance**2 * float(np.vdot(source, source))
    steps = 0
    while float(rho) > enough and steps < most:
        q = laplacian(np, p)
        alpha = rho / np.vdot(p, q)
        u += alpha * p
        r -= alpha * q
        before, rho = rho, np.vdot(r, r)
        p = r + (rho / before) * p
        steps += 1
    return {"u": u, "steps": steps, "residual": np.linalg.norm(source - laplacian(np, u))}


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run)
