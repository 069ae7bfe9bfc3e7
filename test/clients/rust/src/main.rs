//! kube-rs against the server of KUBECONFIG: prints a line for each step that went well. LEVEL is its minor version.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Container, Pod, PodSpec, Service, ServicePort, ServiceSpec};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::{
    Api, Client, CustomResource, CustomResourceExt, ResourceExt,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    runtime::{
        controller::{Action, Controller},
        wait::{await_condition, conditions},
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{sleep, timeout};

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

const NAMESPACE: &str = "default";
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = "clients.example.com", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
struct WidgetSpec {
    size: i64,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
struct WidgetStatus {
    size: i64,
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.into()), ..Default::default() }
}

async fn typed(client: Client, level: u32) -> Outcome {
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let sidecar = Container {
        name: "sidecar".into(),
        image: Some("sidecar:1".into()),
        restart_policy: Some("Always".into()),
        ..Default::default()
    };
    let main = Container { name: "main".into(), image: Some("main:1".into()), ..Default::default() };
    let spec = PodSpec {
        init_containers: Some(vec![sidecar]),
        containers: vec![main],
        hostname_override: Some("web.example.com".into()),
        ..Default::default()
    };
    let pod = Pod { metadata: named("today"), spec: Some(spec), ..Default::default() };
    let made = pods.create(&PostParams::default(), &pod).await?;
    let spec = made.spec.clone().ok_or("no spec")?;
    assert_eq!(spec.init_containers.ok_or("no containers")?[0].restart_policy.as_deref(), Some("Always"));
    assert_eq!(spec.hostname_override.is_some(), level >= 35);
    let services: Api<Service> = Api::namespaced(client, NAMESPACE);
    let spec = ServiceSpec {
        ports: Some(vec![ServicePort { port: 80, ..Default::default() }]),
        traffic_distribution: Some("PreferClose".into()),
        ..Default::default()
    };
    let service = services.create(&PostParams::default(), &Service { metadata: named("today"), spec: Some(spec), ..Default::default() }).await?;
    assert_eq!(service.spec.ok_or("no spec")?.traffic_distribution.as_deref(), Some("PreferClose"));
    let mut changed = made.clone();
    changed.labels_mut().insert("changed".into(), "yes".into());
    pods.replace("today", &PostParams::default(), &changed).await?;
    let refused = pods.replace("today", &PostParams::default(), &changed).await.expect_err("an update of the state before");
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 409));
    pods.delete("today", &DeleteParams::default().grace_period(0)).await?;
    assert!(pods.get_opt("today").await?.is_none());
    assert!(pods.list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}

/// A watch whose requests end every second loses no change.
async fn watched(client: Client) -> Outcome {
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let mut version = maps.list(&ListParams::default()).await?.metadata.resource_version.ok_or("no version")?;
    let creating = maps.clone();
    let names: Vec<String> = (0..6).map(|index| format!("watched-{index}")).collect();
    let wanted = names.clone();
    let creator = tokio::spawn(async move {
        for name in names {
            let map = ConfigMap { metadata: named(&name), ..Default::default() };
            creating.create(&PostParams::default(), &map).await?;
            sleep(Duration::from_millis(400)).await;
        }
        Ok::<(), kube::Error>(())
    });
    let mut seen = Vec::new();
    while seen.len() < wanted.len() {
        let mut events = maps.watch(&WatchParams::default().timeout(1), &version).await?.boxed();
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Added(map) => {
                    version = map.resource_version().ok_or("no version")?;
                    if map.name_any().starts_with("watched-") {
                        seen.push(map.name_any());
                    }
                }
                WatchEvent::Bookmark(bookmark) => version = bookmark.metadata.resource_version,
                WatchEvent::Error(status) => return Err(format!("{status:?}").into()),
                _ => {}
            }
        }
    }
    creator.await??;
    assert_eq!(seen, wanted);
    Ok(())
}

async fn applied(client: Client) -> Outcome {
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let body = |text: &str| {
        let data = BTreeMap::from([("a".to_string(), text.to_string())]);
        Patch::Apply(ConfigMap { metadata: named("applied"), data: Some(data), ..Default::default() })
    };
    maps.patch("applied", &PatchParams::apply("first"), &body("1")).await?;
    let conflict = maps.patch("applied", &PatchParams::apply("second"), &body("2")).await.expect_err("no conflict");
    assert!(matches!(conflict, kube::Error::Api(status) if status.code == 409));
    let forced = maps.patch("applied", &PatchParams::apply("second").force(), &body("2")).await?;
    assert_eq!(forced.data.ok_or("no data")?["a"], "2");
    Ok(())
}

/// Takes the Lease that is free or expired, or renews its own: None where another holds it.
async fn acquire(leases: &Api<Lease>, holder: &str) -> Result<Option<Lease>, kube::Error> {
    let now = MicroTime(Timestamp::now());
    let spec = LeaseSpec {
        holder_identity: Some(holder.into()),
        lease_duration_seconds: Some(15),
        renew_time: Some(now.clone()),
        ..Default::default()
    };
    let Some(mut lease) = leases.get_opt("elected").await? else {
        let lease = Lease { metadata: named("elected"), spec: Some(spec) };
        return leases.create(&PostParams::default(), &lease).await.map(Some);
    };
    let held = lease.spec.clone().unwrap_or_default();
    let other = held.holder_identity.is_some_and(|identity| !identity.is_empty() && identity != holder);
    let is_fresh = held.renew_time.is_some_and(|renewed| now.0.duration_since(renewed.0).as_secs() < 15);
    if other && is_fresh {
        return Ok(None);
    }
    lease.spec = Some(spec);
    match leases.replace("elected", &PostParams::default(), &lease).await {
        Ok(held) => Ok(Some(held)),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
        Err(error) => Err(error),
    }
}

/// Of several candidates at once one wins, and the next one when it has stepped down.
async fn elected(client: Client) -> Outcome {
    let leases: Api<Lease> = Api::namespaced(client, NAMESPACE);
    let mut held = acquire(&leases, "me").await?.ok_or("not elected")?;
    assert!(acquire(&leases, "other").await?.is_none());
    held = acquire(&leases, "me").await?.ok_or("not renewed").map_err(|_| format!("not renewed: {held:?}"))?;
    held.spec.as_mut().ok_or("no spec")?.holder_identity = Some(String::new());
    leases.replace("elected", &PostParams::default(), &held).await?;
    let (one, two) = tokio::join!(acquire(&leases, "one"), acquire(&leases, "two"));
    assert_eq!([one?.is_some(), two?.is_some()].iter().filter(|won| **won).count(), 1);
    Ok(())
}

async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let widgets: Api<Widget> = Api::namespaced((*client).clone(), NAMESPACE);
    let status = json!({ "status": { "size": widget.spec.size } });
    widgets.patch_status(&widget.name_any(), &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(Action::await_change())
}

async fn operated(client: Client) -> Outcome {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &Widget::crd()).await?;
    timeout(PATIENCE, await_condition(definitions, "widgets.clients.example.com", conditions::is_crd_established())).await??;
    let widgets: Api<Widget> = Api::namespaced(client.clone(), NAMESPACE);
    let controller = Controller::new(widgets.clone(), watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), Arc::new(client))
        .for_each(|_| futures::future::ready(()));
    let running = tokio::spawn(controller);
    widgets.create(&PostParams::default(), &Widget::new("one", WidgetSpec { size: 3 })).await?;
    let has_size = |size: i64| {
        move |widget: Option<&Widget>| widget.and_then(|one| one.status.as_ref()).is_some_and(|status| status.size == size)
    };
    timeout(PATIENCE, await_condition(widgets.clone(), "one", has_size(3))).await??;
    widgets.patch("one", &PatchParams::default(), &Patch::Merge(json!({ "spec": { "size": 5 } }))).await?;
    timeout(PATIENCE, await_condition(widgets.clone(), "one", has_size(5))).await??;
    widgets.delete("one", &DeleteParams::default()).await?;
    assert!(widgets.get_opt("one").await?.is_none());
    running.abort();
    Ok(())
}

#[tokio::main]
async fn main() -> Outcome {
    let level: u32 = std::env::var("LEVEL")?.parse()?;
    let client = Client::try_default().await?;
    typed(client.clone(), level).await?;
    println!("ok typed");
    watched(client.clone()).await?;
    println!("ok watch");
    applied(client.clone()).await?;
    println!("ok apply");
    elected(client.clone()).await?;
    println!("ok leader");
    operated(client).await?;
    println!("ok operator");
    Ok(())
}
