"""What the methods minimise: one objective per file, which reads like its paper."""
