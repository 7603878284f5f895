"""What kech needs of the machine: files put in place at once, memory, progress, interrupts, the owner's secret."""
