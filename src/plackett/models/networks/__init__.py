"""Networks that score documents, by the name under which they are chosen and stored."""

from plackett.models.networks.attention import AttentionNetwork
from plackett.models.networks.base import Network
from plackett.models.networks.groupwise import GroupwiseNetwork
from plackett.models.networks.induced import InducedNetwork
from plackett.models.networks.mlp import MultilayerNetwork
from plackett.models.networks.sigmoid import SigmoidNetwork

__all__ = ["NETWORKS", "Network"]

NETWORKS: dict[str, type[Network]] = {
    network.name: network
    for network in (SigmoidNetwork, MultilayerNetwork, AttentionNetwork, InducedNetwork, GroupwiseNetwork)
}
