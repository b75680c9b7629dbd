"""A compiled AgentFlow graph is a driver like any other."""

from nbgraph.adapters.agentflow import open_thread
from nbgraph.testing.drivers import DriverConformance

from .graphs import HI, State, asks, row, says


def fails(state: State):
    raise ValueError("no luck")


class TestAgentFlowDriver(DriverConformance):
    key = "ask:0"
    input = HI

    def make_driver(self):
        nodes = {
            "first": says("first"),
            "ask": asks(schema={"type": "integer"}),
            "last": says("last"),
        }
        return open_thread(row(**nodes), "t")[0]

    def make_failing_driver(self):
        return open_thread(row(first=fails), "t")[0]
