"""AgentFlow needs Python 3.12; `tests/adapters/test_agentflow_apart.py` runs these with another."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("tenxgraph") else ["test_*.py"]
