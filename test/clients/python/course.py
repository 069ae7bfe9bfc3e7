"""The Python client and kopf against the server of KUBECONFIG: prints a line for each step that went well. LEVEL is its minor version."""
import os
import threading
import time

import kopf
from kubernetes import client, config, dynamic, watch
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock import leaselock

NAMESPACE = "default"
GROUP = "clients.example.com"
LEVEL = int(os.environ["LEVEL"])


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise TimeoutError("what was waited for has not come")


def typed(core):
    pod = client.V1Pod(
        metadata=client.V1ObjectMeta(name="today"),
        spec=client.V1PodSpec(
            init_containers=[client.V1Container(name="sidecar", image="sidecar:1", restart_policy="Always")],
            containers=[client.V1Container(name="main", image="main:1")],
            hostname_override="web.example.com",
        ),
    )
    made = core.create_namespaced_pod(NAMESPACE, pod)
    assert made.spec.init_containers[0].restart_policy == "Always"
    assert (made.spec.hostname_override is not None) == (LEVEL >= 35)
    spec = client.V1ServiceSpec(ports=[client.V1ServicePort(port=80)], traffic_distribution="PreferClose")
    service = core.create_namespaced_service(NAMESPACE, client.V1Service(metadata=client.V1ObjectMeta(name="today"), spec=spec))
    assert service.spec.traffic_distribution == "PreferClose"
    changed = core.patch_namespaced_pod("today", NAMESPACE, {"metadata": {"labels": {"changed": "yes"}}})
    assert changed.metadata.labels == {"changed": "yes"}
    core.delete_namespaced_pod("today", NAMESPACE, grace_period_seconds=0)
    assert "today" not in [one.metadata.name for one in core.list_namespaced_pod(NAMESPACE).items]


def watched(core):
    """A watch whose requests end every second loses no change."""
    count = 6
    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

    def create():
        for index in range(count):
            core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": f"watched-{index}"}})
            time.sleep(0.4)

    threading.Thread(target=create).start()
    seen = []
    watcher = watch.Watch()
    while len(seen) < count:
        for event in watcher.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=version, timeout_seconds=1):
            version = event["object"].metadata.resource_version
            if event["object"].metadata.name.startswith("watched-"):
                seen.append(event["object"].metadata.name)
    assert seen == [f"watched-{index}" for index in range(count)]


def applied(api):
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")

    def body(text):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": text}}

    maps.server_side_apply(body=body("1"), namespace=NAMESPACE, field_manager="first")
    try:
        maps.server_side_apply(body=body("2"), namespace=NAMESPACE, field_manager="second")
        raise AssertionError("the second manager has no conflict")
    except dynamic.exceptions.ConflictError:
        pass
    forced = maps.server_side_apply(body=body("2"), namespace=NAMESPACE, field_manager="second", force_conflicts=True)
    assert forced.data.a == "2"


def elected():
    won = threading.Event()
    lock = leaselock.LeaseLock("elected", NAMESPACE, "me")
    election = electionconfig.Config(lock, lease_duration=15, renew_deadline=10, retry_period=2, onstarted_leading=won.set, onstopped_leading=None)
    threading.Thread(target=leaderelection.LeaderElection(election).run, daemon=True).start()
    assert won.wait(60)


def definition():
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "metadata": {"name": f"widgets.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}],
        },
    }


@kopf.on.create(GROUP, "v1", "widgets")
@kopf.on.update(GROUP, "v1", "widgets")
def reconcile(spec, patch, **_):
    patch.status["size"] = spec["size"]


def operated(api):
    client.ApiextensionsV1Api(api).create_custom_resource_definition(definition())
    objects = client.CustomObjectsApi(api)
    place = (GROUP, "v1", NAMESPACE, "widgets")

    def is_served():
        try:
            return objects.list_namespaced_custom_object(*place)
        except client.ApiException:
            return None

    wait_for(is_served)
    ready, stop = threading.Event(), threading.Event()
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    run = {"standalone": True, "namespaces": [NAMESPACE], "ready_flag": ready, "stop_flag": stop, "settings": settings}
    thread = threading.Thread(target=lambda: kopf.run(**run))
    thread.start()
    assert ready.wait(60)
    widget = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"size": 3}}
    objects.create_namespaced_custom_object(*place, widget)

    def has_size(size):
        return objects.get_namespaced_custom_object(*place, "one").get("status", {}).get("size") == size

    wait_for(lambda: has_size(3))
    objects.patch_namespaced_custom_object(*place, "one", {"spec": {"size": 5}})
    wait_for(lambda: has_size(5))
    objects.delete_namespaced_custom_object(*place, "one")
    wait_for(lambda: not objects.list_namespaced_custom_object(*place)["items"])
    stop.set()
    thread.join()


def main():
    config.load_kube_config()
    api = client.ApiClient()
    core = client.CoreV1Api(api)
    for step, do in [
        ("typed", lambda: typed(core)),
        ("watch", lambda: watched(core)),
        ("apply", lambda: applied(api)),
        ("leader", elected),
        ("operator", lambda: operated(api)),
    ]:
        do()
        print(f"ok {step}", flush=True)


main()
