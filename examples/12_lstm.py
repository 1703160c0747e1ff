"""An LSTM that reads images of digits row by row: stator beside torch, from the same weights, in the same order."""

import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits

import stator

nn = stator.nn


def make(images=None, hidden=32, size=32, epochs=8):
    """Images as sequences of 8 rows of 8 numbers, their digits, the first weights, and the images of each step."""
    digits, rng = load_digits(), np.random.default_rng(12)
    order = rng.permutation(len(digits.target))[:images]
    x, target = (digits.images[order] / 16).astype("float32"), digits.target[order].astype("int64")
    shapes = [(4 * hidden, 8), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,), (10, hidden), (10,)]
    weights = [rng.uniform(-(hidden**-0.5), hidden**-0.5, s).astype("float32") for s in shapes]
    split = len(x) * 4 // 5  # the rest is not trained on
    orders = [rng.permutation(split)[: split // size * size].reshape(-1, size) for _ in range(epochs)]
    return x, target, weights, np.concatenate(orders), split


def train(be, x, target, weights, steps, split, rate=5e-3):
    """The losses of the steps, and the share of the unseen images that is named right."""
    params, one, losses = [be.asarray(w) for w in weights], be.full((), 1, dtype="float32"), []
    moments = [[be.zeros(p.shape, dtype="float32") for p in params] for _ in range(2)]
    for step, at in enumerate(steps, 1):
        rows, wanted = be.asarray(x[at]), be.asarray(target[at])
        _, (h, _), workspace = nn.lstm(rows, None, params[:4], batch_first=True, return_workspace=True)
        logits = nn.linear(h[0], *params[4:])
        losses.append(nn.cross_entropy(logits, wanted))
        slope = nn.cross_entropy_backward(one, logits, wanted)
        back = nn.lstm_backward(None, ((slope @ params[4])[None], None), rows, params[:4], workspace, batch_first=True)
        nn.adam_step(params, [*back[2], slope.T @ h[0], stator.sum(slope, axis=0)], *moments, step=step, lr=rate)
    _, (h, _) = nn.lstm(be.asarray(x[split:]), None, params[:4], batch_first=True)
    named = stator.argmax(nn.linear(h[0], *params[4:]), axis=1).to_numpy()
    return stator.stack(losses).to_numpy(), float(np.mean(named == target[split:]))


def train_torch(x, target, weights, steps, split, rate=5e-3):
    params, losses = [torch.tensor(w, requires_grad=True) for w in weights], []
    x, target = map(torch.from_numpy, (x, target))
    adam, zeros = torch.optim.Adam(params, lr=rate), torch.zeros(1, len(x), weights[1].shape[1])

    def logits(rows):
        start = zeros[:, : len(rows)].contiguous()
        h = torch.lstm(rows, (start, start), params[:4], True, 1, 0.0, False, False, True)[1]
        return torch.nn.functional.linear(h[0], *params[4:])

    for at in steps:
        loss = torch.nn.functional.cross_entropy(logits(x[at]), target[at])
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return np.array(losses), float((logits(x[split:]).argmax(1) == target[split:]).float().mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu or cuda, which with STATOR_EMULATE=h200 is emulated")
    parser.add_argument("--small", action="store_true", help="few images and units, for the emulated device")
    parser.add_argument("--plot", metavar="PNG", help="draws the losses of both, by matplotlib")
    args = parser.parse_args()

    given = make(80, 8, 16, 1) if args.small else make()
    with stator.Backend(args.device) as be:
        found = {"stator": train(be, *given), "torch": train_torch(*given)}
    for name, (losses, right) in found.items():
        print(f"{name}: {len(losses)} steps, last loss {losses[-1]:.4f}, right on unseen images {right:.3f}")
    if args.plot:
        import matplotlib.pyplot as plt

        for style, (name, (losses, _)) in zip(("-", "--"), found.items(), strict=True):
            plt.plot(losses, style, label=name)
        plt.legend(title="cross entropy of each step")
        plt.savefig(args.plot)
