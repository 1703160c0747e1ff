"""What the examples share: their command lines, and the twin in PyTorch of the one that learns."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def main(text: str, make: Callable[..., tuple[Any, ...]], run: Callable[..., dict[str, Any]]) -> None:
    """Makes a program's inputs with the module, runs it on them, and prints what it found and the time."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--module", default="stator.numpy", help="numpy, or stator.numpy, the default")
    np = import_module(parser.parse_args().module)
    inputs = make(np)
    start = time.perf_counter()
    for name, value in run(np, *inputs).items():
        shown = f"shape {value.shape}, mean {float(value.mean()):.6g}" if getattr(value, "ndim", 0) else f"{value:.6g}"
        print(f"{name}: {shown}")
    print(f"{np.__name__}: {time.perf_counter() - start:.3f} s")


def residual_network(weights: dict[str, Any], images: Any, digits: Any, order: list[Any]) -> tuple[Any, float]:
    """The twin of examples/11_residual_network.py: (losses, the share of tested digits that are right)."""
    import torch
    from torch.nn import functional

    p = {name: torch.from_numpy(w.copy()).requires_grad_() for name, w in weights.items()}
    stats = [(torch.zeros_like(p["scale0"]), torch.ones_like(p["scale0"])) for _ in range(5)]
    x, y, losses = torch.from_numpy(images), torch.from_numpy(digits), []
    step = torch.optim.Adam(p.values(), lr=3e-3)

    def layer(i: int, x: Any, training: bool) -> Any:
        y = functional.conv2d(x, p[f"conv{i}"], padding=1)
        return functional.batch_norm(y, *(s.detach() for s in stats[i]), p[f"scale{i}"], p[f"shift{i}"], training)

    def forward(x: Any, training: bool) -> Any:
        x = layer(0, x, training).relu()
        for i in (1, 3):
            x = (layer(i + 1, layer(i, x, training).relu(), training) + x).relu()
            x = functional.avg_pool2d(x, 2)
        return functional.linear(x.mean((2, 3)), p["weight"], p["bias"])

    for rows in order:
        step.zero_grad()
        loss = functional.cross_entropy(forward(x[rows], True), y[rows])
        loss.backward()
        step.step()
        losses.append(float(loss.detach()))
    with torch.no_grad():
        return losses, float((forward(x[1500:], False).argmax(1) == y[1500:]).double().mean())


def beside_torch(text: str, make: Callable[..., tuple[Any, ...]], run: Callable[..., tuple[Any, float]]) -> None:
    """Trains with stator and, where it is installed, PyTorch; draws both curves of the loss where matplotlib is."""
    import stator

    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--device", help="cpu or cuda; default: cuda where a GPU is usable")
    parser.add_argument("--small", action="store_true", help="a few steps of a thin network, for emulated devices")
    parser.add_argument("--plot", default="residual_network.png", metavar="FILE", help="where the curves are drawn")
    args = parser.parse_args()
    inputs = make(width=4, images=100, epochs=2, batch=25) if args.small else make()
    with stator.Backend(args.device) as be, be.use():
        found = {f"stator, {be.device}": run(*inputs)}
    if find_spec("torch"):
        found["PyTorch"] = residual_network(*inputs)
    for name, (losses, right) in found.items():
        print(f"{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}, {right:.1%} of the test digits are right")
    if find_spec("matplotlib"):
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        for name, (losses, _) in found.items():
            pyplot.plot(losses, label=name)
        pyplot.xlabel("step")
        pyplot.ylabel("loss")
        pyplot.legend()
        pyplot.savefig(args.plot)
        print(f"curves: {args.plot}")
