"""What the examples share: their command lines, their pictures, and the twins in PyTorch of those that learn."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

Draw = Callable[[Any, dict[str, Any]], None]


def parser_for(text: str | None) -> argparse.ArgumentParser:
    """A parser that is described by the paragraphs below the title of a docstring."""
    parser = argparse.ArgumentParser(
        description=re.split(r"^=+$", text or "", maxsplit=1, flags=re.MULTILINE)[-1].strip()
    )
    parser.add_argument("--small", action="store_true", help="small inputs, for tests and emulated devices")
    parser.add_argument("--save", metavar="FILE", help="where the picture is written, instead of being shown")
    return parser


def on_device_arguments(text: str | None) -> argparse.Namespace:
    """The arguments of a program that runs on a device of stator."""
    parser = parser_for(text)
    parser.add_argument("--device", help="cpu or cuda; default: cuda where a GPU is usable")
    return parser.parse_args()


def on_host(results: dict[str, Any]) -> dict[str, Any]:
    """The results with NumPy's arrays in place of stator's."""
    return {name: value.to_numpy() if hasattr(value, "to_numpy") else value for name, value in results.items()}


def show(draw: Draw, results: dict[str, Any], save: str | None) -> None:
    """Draws results where matplotlib is: into a file, on a screen, or for the gallery, which takes what is open."""
    if not find_spec("matplotlib"):
        if save:
            raise SystemExit("--save needs matplotlib")
        return
    from matplotlib import pyplot

    draw(pyplot, on_host(results))
    if save:
        pyplot.savefig(save)
        print(f"picture: {save}")
    elif pyplot.get_backend().lower() != "agg":
        pyplot.show()


def report(results: dict[str, Any]) -> None:
    for name, value in results.items():
        shown = f"shape {value.shape}, mean {float(value.mean()):.6g}" if getattr(value, "ndim", 0) else f"{value:.6g}"
        print(f"{name}: {shown}")


def main(
    text: str | None, make: Callable[..., Any], run: Callable[..., dict[str, Any]], draw: Draw, small: dict[str, Any]
) -> None:
    """Makes a program's inputs with the module, runs it on them, prints and draws what it found, and the time."""
    parser = parser_for(text)
    parser.add_argument("--module", default="stator.numpy", help="numpy, or stator.numpy, the default")
    args = parser.parse_args()
    np = import_module(args.module)
    inputs = make(np, **(small if args.small else {}))
    start = time.perf_counter()
    results = run(np, *inputs)
    report(results)
    print(f"{np.__name__}: {time.perf_counter() - start:.3f} s")
    show(draw, results, args.save)


def on_device(
    text: str | None, make: Callable[..., Any], run: Callable[..., dict[str, Any]], draw: Draw, small: dict[str, Any]
) -> None:
    """Makes a program's inputs, runs it on them on a device of stator, and prints and draws what it found."""
    import stator

    args = on_device_arguments(text)
    inputs = make(**(small if args.small else {}))
    with stator.Backend(args.device) as be:
        results = run(be, *inputs)
        report(results)
        print(be.device)
        results = on_host(results)
    show(draw, results, args.save)


def residual_network(weights: dict[str, Any], images: Any, digits: Any, order: list[Any]) -> tuple[Any, float]:
    """The twin of examples/11_residual_network.py: (losses, the share of tested digits that are right)."""
    import torch
    from torch.nn import functional

    p = {name: torch.from_numpy(w.copy()).requires_grad_() for name, w in weights.items()}
    stats = [(torch.zeros_like(p["scale0"]), torch.ones_like(p["scale0"])) for _ in range(5)]
    x, y, losses = torch.from_numpy(images), torch.from_numpy(digits), list[float]()
    step = torch.optim.Adam(p.values(), lr=3e-3)

    def layer(i: int, x: Any, training: bool) -> Any:
        y, (mean, var) = functional.conv2d(x, p[f"conv{i}"], padding=1), stats[i]
        return functional.batch_norm(y, mean.detach(), var.detach(), p[f"scale{i}"], p[f"shift{i}"], training)

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


def lstm(x: Any, target: Any, weights: Any, steps: Any, split: int, rate: float = 5e-3) -> tuple[Any, float]:
    """The twin of examples/12_lstm.py: (losses, the share of the unseen images that is named right)."""
    import torch

    params, losses = [torch.tensor(w, requires_grad=True) for w in weights], list[float]()
    x, target = map(torch.from_numpy, (x, target))
    adam, zeros = torch.optim.Adam(params, lr=rate), torch.zeros(1, len(x), weights[1].shape[1])

    def logits(rows: Any) -> Any:
        start = zeros[:, : len(rows)].contiguous()
        h = torch.lstm(rows, (start, start), params[:4], True, 1, 0.0, False, False, True)[1]
        return torch.nn.functional.linear(h[0], *params[4:])

    for at in steps:
        loss = torch.nn.functional.cross_entropy(logits(x[at]), target[at])
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses, float((logits(x[split:]).argmax(1) == target[split:]).float().mean())


def curves(plt: Any, found: dict[str, Any]) -> None:
    """The losses of the steps, of stator and of its twin."""
    plt.figure(layout="constrained")
    for style, (name, (losses, right)) in zip(("-", "--"), found.items(), strict=False):
        plt.plot(losses, style, label=f"{name}: {right:.1%} right")
    plt.xlabel("step")
    plt.ylabel("cross entropy")
    plt.legend()


def beside_torch(
    text: str | None, make: Callable[..., Any], run: Callable[..., Any], twin: Callable[..., Any], small: dict[str, Any]
) -> None:
    """Trains with stator and, where it is installed, PyTorch; draws both curves of the loss."""
    import stator

    args = on_device_arguments(text)
    inputs = make(**(small if args.small else {}))
    with stator.Backend(args.device) as be:
        found = {f"stator, {be.device}": run(*inputs)}
    if find_spec("torch"):
        found["PyTorch"] = twin(*inputs)
    for name, (losses, right) in found.items():
        print(f"{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}, {right:.1%} of the test digits are right")
    show(curves, found, args.save)
