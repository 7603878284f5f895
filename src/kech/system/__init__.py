"""Services of the operating system: atomic files, memory, progress, interrupts, the owner's secret."""
