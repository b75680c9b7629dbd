"""JSON Schema to a field tree and back to an answer; no widget in here."""
