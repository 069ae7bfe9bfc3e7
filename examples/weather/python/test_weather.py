"""A controller in Python, with the client of Kubernetes, under a reply that is lost: written badly, and written well."""

import time
import unittest

import yaml
from kubernetes import client, config

from orch_control import open_control

NAMESPACE = "default"


def api_of(kubeconfig):
    return client.CoreV1Api(config.new_client_from_config_dict(yaml.safe_load(kubeconfig)))


def child(**names):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(labels={"app": "web"}, **names))


def children(api):
    return api.list_namespaced_config_map(NAMESPACE, label_selector="app=web").items


def bad(api):
    """Creates again after an error, under another name that the server draws."""
    if children(api):
        return
    for _ in range(5):
        try:
            api.create_namespaced_config_map(NAMESPACE, child(generate_name="web-"))
            return
        except Exception:
            continue


def good(api):
    """The name is decided once: that the child exists is success."""
    if children(api):
        return
    for _ in range(5):
        try:
            api.create_namespaced_config_map(NAMESPACE, child(name="web-0"))
            return
        except client.ApiException as error:
            if error.status == 409:
                return
        except Exception:
            continue


class Weather(unittest.TestCase):
    def run_under(self, controller, fault):
        with open_control().fork() as fork:
            operator = api_of(fork.user("operator"))
            added = fork.add_fault(fault) if fault else None
            controller(operator)
            controller(operator)
            if added:
                self.assertEqual(added.hits(), 1)
            return len(children(api_of(fork.kubeconfig)))

    def test_lost_reply(self):
        lost = {"on": {"user": "operator", "verb": "create"}, "times": 1, "effect": {"loseReply": {}}}
        self.assertEqual(self.run_under(bad, None), 1)
        began = time.monotonic()
        for _ in range(2):
            self.assertEqual(self.run_under(bad, lost), 2)
            self.assertEqual(self.run_under(good, lost), 1)
        print(f"{time.monotonic() - began:.3f} s for two rounds of both")


if __name__ == "__main__":
    unittest.main()
