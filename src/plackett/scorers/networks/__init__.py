"""Networks that score documents, by the name under which they are chosen and stored."""

from plackett.scorers.networks.attention import AttentionNetwork
from plackett.scorers.networks.base import Network
from plackett.scorers.networks.groupwise import GroupwiseNetwork
from plackett.scorers.networks.induced import InducedNetwork
from plackett.scorers.networks.mlp import MultilayerNetwork
from plackett.scorers.networks.sigmoid import SigmoidNetwork

__all__ = ["NETWORKS", "Network"]

NETWORKS: dict[str, type[Network]] = {
    network.name: network
    for network in (SigmoidNetwork, MultilayerNetwork, AttentionNetwork, InducedNetwork, GroupwiseNetwork)
}
