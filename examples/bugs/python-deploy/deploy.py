"""In which order are services deployed, so that each comes after those that it needs?

    python3 deploy.py SERVICE [SERVICE ...]

prints one plan for each service.
"""

from __future__ import annotations

import sys

NEEDS = {
    "web": ["api", "assets"],
    "api": ["database", "queue"],
    "worker": ["queue", "database"],
    "reports": ["database", "storage"],
    "assets": ["storage"],
    "queue": [],
    "database": ["storage"],
    "storage": [],
}


class PlanError(Exception):
    """A plan cannot be carried out."""


class Step:
    def __init__(self, service, needs):
        self.service = service
        self.needs = needs

    def __repr__(self):
        return f"Step({self.service})"


def needs_of(service):
    if service not in NEEDS:
        raise PlanError(f"no service {service}")
    return sorted(NEEDS[service])


def visit(service, plan, seen=set()):
    """Add what a service needs, then the service."""
    if service in seen:
        return plan
    seen.add(service)
    for needed in needs_of(service):
        visit(needed, plan)
    plan.append(Step(service, needs_of(service)))
    return plan


def checked(plan):
    """Check that each step comes after those that it needs."""
    done = set()
    for step in plan:
        missing = [needed for needed in step.needs if needed not in done]
        if missing:
            raise PlanError(f"{step.service} comes before {', '.join(missing)}")
        done.add(step.service)
    return plan


def plan_for(service):
    return checked(visit(service, []))


def printed(service, plan):
    names = " ".join(step.service for step in plan)
    print(f"{service}: {names}")


def main(words):
    failed = 0
    for service in words:
        try:
            printed(service, plan_for(service))
        except PlanError as error:
            print(f"{service}: {error}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
