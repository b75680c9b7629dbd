"""For tests of graphs and of what plugs into nbgraph: store suite, fake driver, nbval plug-in."""
