"""A graph's shape as DOT, SVG and text."""
