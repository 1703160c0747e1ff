"""References for layers of neural networks, by loops in wide NumPy."""
