from .compare import Change as Change
from .compare import compare_folders as compare_folders
from .scores import compare_agents as compare_agents
from .scores import fields_of as fields_of
from .scores import score_agents as score_agents
from .standing import Standing as Standing
from .standing import stand as stand
from .statistics import bootstrap_interval as bootstrap_interval
from .statistics import mean_interval as mean_interval
from .statistics import paired_interval as paired_interval
from .statistics import summarize as summarize
from .tuning import TUNED_NAME as TUNED_NAME
from .tuning import choose_settings as choose_settings
from .tuning import table_of_choices as table_of_choices
from .tuning import write_tuned as write_tuned

__all__ = [
    "TUNED_NAME",
    "Change",
    "Standing",
    "bootstrap_interval",
    "choose_settings",
    "compare_agents",
    "compare_folders",
    "fields_of",
    "mean_interval",
    "paired_interval",
    "score_agents",
    "stand",
    "summarize",
    "table_of_choices",
    "write_tuned",
]
