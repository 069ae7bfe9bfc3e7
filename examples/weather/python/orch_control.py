"""Controls a server that `orch up --control` has started: forks, users and faults for tests of controllers in Python.

The module needs Python alone. Its fixture for pytest:

    from orch_control import control, fork          # noqa: F401

    def test_operator(fork):
        kubeconfig = fork.user("operator")
        fault = fork.add_fault({"on": {"user": "operator", "verb": "create"}, "times": 1, "effect": {"loseReply": {}}})
        ...
        assert fault.hits() == 1
"""

import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager


class Control:
    """The way to one server: `url`, `token` and `certificateAuthority`, as control.json of its data folder has them."""

    def __init__(self, access, kubeconfig=None):
        self._access = access
        self._trust = ssl.create_default_context(cadata=access["certificateAuthority"])
        self.kubeconfig = kubeconfig

    def call(self, method, path, body=None):
        """Sends a call and returns the parsed answer; a refusal is a RuntimeError with the reason of the server."""
        headers = {"Authorization": f"Bearer {self._access['token']}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._access["url"] + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self._trust) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code}: {error.read().decode()}") from None

    def user(self, name, **options):
        """The kubeconfig of a user, with all rights unless `rules` or `groups` say otherwise."""
        return self.call("POST", "/users", {"name": name, **options})["kubeconfig"]

    def add_fault(self, fault):
        return Fault(self, self.call("POST", "/faults", fault)["name"])

    def clear_faults(self):
        """Ends all weather."""
        self.call("DELETE", "/faults")

    @contextmanager
    def weather(self, path, **members):
        """Weather for the time of a block: `with control.weather("/reads/freeze", user="operator"): …`."""
        name = self.call("POST", path, members)["name"]
        try:
            yield
        finally:
            self.call("DELETE", f"/weather/{name}")

    def requests(self, **parameters):
        """The log of requests: `requests(user="operator", verb="create")`."""
        query = urllib.parse.urlencode(parameters)
        return self.call("GET", f"/requests?{query}")["items"]

    def settled(self, within="60s"):
        """Returns when the server has no work left."""
        self.call("GET", f"/settled?within={within}")

    def hot_loops(self, seconds=2, **parameters):
        """Observes the users of the test, or `user`, while nothing else happens: a sentence for each that does not come to rest."""
        query = urllib.parse.urlencode({"for": f"{seconds}s", **parameters})
        return [item["text"] for item in self.call("GET", f"/hot-loops?{query}")["items"]]

    def leaks(self):
        """A sentence for each open watch, held lease, namespace and object that a finalizer holds."""
        return [item["text"] for item in self.call("GET", "/leaks")["items"]]

    def advance(self, by):
        """Moves the clock of a server with --virtual-clock: `advance("40s")`."""
        self.call("POST", "/clock/advance", {"by": by})

    def reset(self):
        """Restores the state of the start."""
        self.call("POST", "/reset")

    def snapshot(self, name):
        """Keeps the present moment under a name."""
        self.call("POST", "/snapshots", {"name": name})

    def restore(self, snapshot):
        """Restores a moment that was kept."""
        self.call("POST", "/restore", {"snapshot": snapshot})

    @contextmanager
    def fork(self):
        """A separate server for the time of a block, which begins at the present moment. `orch explore` gives it weather."""
        made = self.call("POST", "/forks", {"exploration": os.environ.get("ORCH_EXPLORE", "")})
        try:
            yield Control(made["control"], made["kubeconfig"])
        finally:
            self.call("DELETE", f"/forks/{made['name']}")


class Fault:
    def __init__(self, control, name):
        self._control = control
        self.name = name

    def hits(self):
        return self._control.call("GET", f"/faults/{self.name}")["hits"]

    def remove(self):
        self._control.call("DELETE", f"/faults/{self.name}")


def open_control(path=None):
    """The control of the file, by default of the one that ORCH_CONTROL names."""
    with open(path or os.environ["ORCH_CONTROL"], encoding="utf-8") as file:
        return Control(json.load(file))


try:
    import pytest
except ImportError:
    pass
else:

    @pytest.fixture(scope="session")
    def control():
        if "ORCH_CONTROL" not in os.environ:
            # A skipped test would pass under each seed.
            leave = pytest.fail if "ORCH_EXPLORE" in os.environ else pytest.skip
            leave("ORCH_CONTROL names no control.json of orch up --control")
        return open_control()

    @pytest.fixture
    def fork(control):
        with control.fork() as forked:
            yield forked
