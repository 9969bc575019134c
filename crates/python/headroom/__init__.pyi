from typing import Any, Literal, Mapping, Optional, TypedDict, Union

Plan = Union[Mapping[str, Any], str]

class Estimate(TypedDict):
    model: str
    gpu: str
    link: str
    param_count: int
    active_param_count: int
    trainable_count: int
    verdict: Literal["fits", "tight", "does_not_fit"]
    headroom_bytes: int
    used_share: float
    card_bytes: int
    peak: dict[str, Any]
    phases: list[dict[str, Any]]
    allocations: list[dict[str, Any]]
    overheads: list[dict[str, Any]]
    failure: Optional[dict[str, Any]]
    host_bytes: int
    host: list[dict[str, Any]]
    host_verdict: Any
    step_time: dict[str, Any]
    batches: dict[str, Any]
    models: list[dict[str, Any]]
    rollout: Optional[dict[str, Any]]
    notes: list[str]
    accuracy: dict[str, Any]

class Advice(TypedDict):
    link: str
    fits: bool
    needed_bytes: int
    card_bytes: int
    frozen_in_float32: Optional[dict[str, Any]]
    vllm: Optional[dict[str, Any]]
    smaller_evaluation: Optional[dict[str, Any]]
    levels: Optional[list[dict[str, Any]]]
    hardware: Optional[list[dict[str, Any]]]
    fill: Optional[dict[str, Any]]
    levers: list[dict[str, Any]]
    tiers: list[dict[str, Any]]
    ladder: list[dict[str, Any]]

def estimate(plan: Plan) -> Estimate: ...
def estimate_json(plan: Plan) -> str: ...
def advise(plan: Plan) -> Advice: ...
def advise_json(plan: Plan) -> str: ...
def diagnose(said: str, plan: Optional[Plan] = None) -> dict[str, Any]: ...
def diagnose_json(said: str, plan: Optional[Plan] = None) -> str: ...
def link(
    plan: Plan,
    *,
    other: Optional[Plan] = None,
    page: Optional[str] = None,
    view: Optional[Literal["verdict", "comparison", "phases", "map", "table"]] = None,
    lang: Optional[Literal["en", "zh"]] = None,
    theme: Optional[Literal["light", "dark"]] = None,
) -> str: ...
def read_link(link: str) -> dict[str, Any]: ...
def from_link(link: str) -> dict[str, Any]: ...
