"""Campaign: harnesses that attack kech, each a make target that prints its figure last."""
