from dataclasses import dataclass


@dataclass(frozen=True)
class AccountPage:
    name: str
    role_label: str
