"""Widgets and displays: the one package that imports ipywidgets, anywidget and IPython."""
