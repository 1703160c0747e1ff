"""The cases of layers of neural networks that have a file of their own."""
