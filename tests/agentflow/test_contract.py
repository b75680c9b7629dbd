"""A compiled AgentFlow graph is a driver like any other."""

from nbgraph.adapters.agentflow import AgentFlowDriver
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
        return AgentFlowDriver(row(**nodes), "t")

    def make_failing_driver(self):
        return AgentFlowDriver(row(first=fails), "t")
