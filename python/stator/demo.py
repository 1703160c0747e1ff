"""Trains a two-layer network on the UCI handwritten digits, with stator's ops for every step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import stator
from stator import nn
from stator.errors import LibraryNotFoundError

Batch = tuple[stator.Array, stator.Array]


@dataclass(frozen=True)
class Hyperparameters:
    hidden: int = 256
    batch: int = 32
    epochs: int = 60
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    label_smoothing: float = 0.1
    seed: int = 0


@dataclass(frozen=True)
class Digits:
    """Images scaled to [0, 1] and labels; a third, chosen by the seed, is held out for the test."""

    train_images: np.ndarray[Any, Any]
    train_labels: np.ndarray[Any, Any]
    test_images: np.ndarray[Any, Any]
    test_labels: np.ndarray[Any, Any]
    classes: int

    @classmethod
    def load(cls, seed: int) -> Digits:
        try:
            from sklearn.datasets import load_digits
        except ImportError:
            raise LibraryNotFoundError(
                "scikit-learn has the data set and is not installed", op="demo", remedy='Run pip install "stator[demo]"'
            ) from None
        digits = load_digits()
        images = (digits.data / digits.data.max()).astype(np.float32)
        labels = digits.target.astype(np.int64)
        order = np.random.default_rng(seed).permutation(len(labels))
        test, train = np.split(order, [len(order) // 3])
        return cls(images[train], labels[train], images[test], labels[test], len(digits.target_names))


class Network:
    """The network logits = relu(x @ w1 + b1) @ w2 + b2, with its Adam state."""

    def __init__(self, be: stator.Backend, inputs: int, classes: int, config: Hyperparameters) -> None:
        self.be = be
        self.config = config
        self.step = 0
        be.random.seed(config.seed)
        layers = ((inputs, config.hidden), (config.hidden, classes))
        self.params = []
        for fan_in, fan_out in layers:
            scale = (2 / fan_in) ** 0.5
            self.params.append(be.random.normal(0.0, scale, (fan_in, fan_out), dtype="float32"))
            self.params.append(be.zeros((fan_out,), dtype="float32"))
        self.averages = [be.zeros(p.shape, dtype="float32") for p in self.params]
        self.squares = [be.zeros(p.shape, dtype="float32") for p in self.params]
        self.one = be.full((), 1, dtype="float32")

    def forward(self, x: stator.Array) -> tuple[stator.Array, stator.Array, stator.Array]:
        """The hidden layer before and after the ReLU, and the logits."""
        w1, b1, w2, b2 = self.params
        before = x @ w1 + b1
        hidden = nn.relu(before)
        return before, hidden, hidden @ w2 + b2

    def train(self, x: stator.Array, labels: stator.Array) -> stator.Array:
        """One step of Adam. Returns the loss as an array, without waiting for it."""
        before, hidden, logits = self.forward(x)
        smoothing = self.config.label_smoothing
        loss = nn.cross_entropy(logits, labels, label_smoothing=smoothing)
        grad_logits = nn.cross_entropy_backward(self.one, logits, labels, label_smoothing=smoothing)
        grad_before = nn.relu_backward(grad_logits @ self.params[2].T, before)
        grads = [
            x.T @ grad_before,
            stator.sum(grad_before, axis=0),
            hidden.T @ grad_logits,
            stator.sum(grad_logits, axis=0),
        ]
        self.step += 1
        nn.adam_step(
            self.params,
            grads,
            self.averages,
            self.squares,
            step=self.step,
            lr=self.config.learning_rate,
            weight_decay=self.config.weight_decay,
            decoupled=True,
        )
        return loss

    def accuracy(self, x: stator.Array, labels: stator.Array) -> float:
        """The fraction of correct answers. Synchronises."""
        right = stator.equal(stator.argmax(self.forward(x)[2], axis=1), labels)
        return float(stator.mean(right))


def uploads(be: stator.Backend, data: Digits, config: Hyperparameters, epoch: int) -> Iterator[Batch]:
    """The batches of an epoch; the next one is copied on a second stream during the step on this one."""
    order = np.random.default_rng((config.seed, epoch)).permutation(len(data.train_labels))
    compute, transfer = be.stream(0), be.stream(1)
    for start in range(0, len(order), config.batch):
        rows = order[start : start + config.batch]
        with transfer:
            x = be.asarray(data.train_images[rows], pinned=True)
            labels = be.asarray(data.train_labels[rows], pinned=True)
            arrived = transfer.record()
        compute.wait(arrived)
        yield x, labels


@dataclass(frozen=True)
class Report:
    device: str
    dataset: str
    test_accuracy: float
    seconds: float
    kernel_launches: int
    library_calls: int
    h2d_bytes: int
    d2h_bytes: int
    peak_bytes: int
    live_resources_after_close: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def run(be: stator.Backend, data: Digits, config: Hyperparameters, advance: Callable[[int, float], None]) -> Report:
    """Trains, measures, closes the backend. `advance(epochs done, loss)` is called after each epoch."""
    with be:
        start = time.perf_counter()
        network = Network(be, data.train_images.shape[1], data.classes, config)
        for epoch in range(config.epochs):
            for x, labels in uploads(be, data, config, epoch):
                loss = network.train(x, labels)
            advance(epoch + 1, float(loss))
        accuracy = network.accuracy(be.asarray(data.test_images), be.asarray(data.test_labels))
        seconds = time.perf_counter() - start
        counts, memory = be.statistics(), be.memory.stats()
    return Report(
        device=str(be.device),
        dataset="UCI handwritten digits (sklearn.datasets.load_digits)",
        test_accuracy=accuracy,
        seconds=seconds,
        kernel_launches=counts["kernel_launches"],
        library_calls=counts["library_calls"],
        h2d_bytes=counts["h2d_bytes"],
        d2h_bytes=counts["d2h_bytes"],
        peak_bytes=memory["peak_bytes"],
        live_resources_after_close=len(be.resources()),
    )


__all__ = ["Digits", "Hyperparameters", "Network", "Report", "run", "uploads"]


def __dir__() -> list[str]:
    return [*__all__]
