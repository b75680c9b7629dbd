"""The runtime: events, requests, graphs, threads. No Jupyter and no drawing in here."""
