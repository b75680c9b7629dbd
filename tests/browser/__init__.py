"""Tests that drive a real JupyterLab or Notebook in Chromium."""
