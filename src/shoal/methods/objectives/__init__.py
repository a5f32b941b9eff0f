"""What the methods minimise: one objective per file, close to its paper."""
