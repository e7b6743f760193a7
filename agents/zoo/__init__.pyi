from .classic import gaussian_ts as gaussian_ts
from .classic import random as random
from .classic import ucb1 as ucb1
from .molecule import molecule_ei as molecule_ei
from .molecule import molecule_greedy as molecule_greedy
from .molecule import molecule_ts as molecule_ts
from .molecule import molecule_ucb as molecule_ucb
from .neural import epsilon_greedy as epsilon_greedy
from .neural import gnn_ei as gnn_ei
from .neural import gnn_greedy as gnn_greedy
from .neural import gnn_pe as gnn_pe
from .neural import gnn_ts as gnn_ts
from .neural import gnn_ucb as gnn_ucb
from .neural import nn_ei as nn_ei
from .neural import nn_greedy as nn_greedy
from .neural import nn_pe as nn_pe
from .neural import nn_ts as nn_ts
from .neural import nn_ucb as nn_ucb
from .policy_gradient import sb3_ppo as sb3_ppo
from .process import gntk_ei as gntk_ei
from .process import gntk_greedy as gntk_greedy
from .process import gntk_pe as gntk_pe
from .process import gntk_ts as gntk_ts
from .process import gntk_ucb as gntk_ucb
from .process import gp_ei as gp_ei
from .process import gp_greedy as gp_greedy
from .process import gp_ts as gp_ts
from .process import gp_ucb as gp_ucb
from .process import lin_ts as lin_ts
from .process import lin_ucb as lin_ucb
from .process import wl_ei as wl_ei
from .process import wl_ts as wl_ts
from .process import wl_ucb as wl_ucb

__all__ = [
    "epsilon_greedy",
    "gaussian_ts",
    "gnn_ei",
    "gnn_greedy",
    "gnn_pe",
    "gnn_ts",
    "gnn_ucb",
    "gntk_ei",
    "gntk_greedy",
    "gntk_pe",
    "gntk_ts",
    "gntk_ucb",
    "gp_ei",
    "gp_greedy",
    "gp_ts",
    "gp_ucb",
    "lin_ts",
    "lin_ucb",
    "molecule_ei",
    "molecule_greedy",
    "molecule_ts",
    "molecule_ucb",
    "nn_ei",
    "nn_greedy",
    "nn_pe",
    "nn_ts",
    "nn_ucb",
    "random",
    "sb3_ppo",
    "ucb1",
    "wl_ei",
    "wl_ts",
    "wl_ucb",
]
