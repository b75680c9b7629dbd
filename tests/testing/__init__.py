"""Tests of what nbgraph offers to tests."""
