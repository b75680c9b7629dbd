"""Human-in-the-loop graphs inside Jupyter."""
