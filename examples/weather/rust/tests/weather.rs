//! A controller with kube, written badly and well, under a reply that is lost after the write.
//! It needs `ORCH_CONTROL`: see the README beside this folder.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use kube::{Client, Error};
use orch_control::Control;
use serde_json::json;

fn child(metadata: ObjectMeta) -> ConfigMap {
    let labels = [("of".to_owned(), "wanted".to_owned())].into();
    ConfigMap { metadata: ObjectMeta { labels: Some(labels), ..metadata }, ..ConfigMap::default() }
}

/// Repeats a create that has failed under another generated name.
async fn creates_badly(maps: &Api<ConfigMap>) -> kube::Result<()> {
    let unnamed = child(ObjectMeta { generate_name: Some("child-".to_owned()), ..ObjectMeta::default() });
    if maps.create(&PostParams::default(), &unnamed).await.is_err() {
        maps.create(&PostParams::default(), &unnamed).await?;
    }
    Ok(())
}

/// Decides the name once: a taken name is success.
async fn creates_well(maps: &Api<ConfigMap>) -> kube::Result<()> {
    let named = child(ObjectMeta { name: Some("child-0".to_owned()), ..ObjectMeta::default() });
    if maps.create(&PostParams::default(), &named).await.is_err() {
        match maps.create(&PostParams::default(), &named).await {
            Err(Error::Api(status)) if status.code == 409 => {}
            other => drop(other?),
        }
    }
    Ok(())
}

/// The children that a controller leaves in a fork of its own, after the reply to its first create was lost.
async fn children_left_by(badly: bool) -> Result<usize, Box<dyn std::error::Error>> {
    let fork = Control::open()?.fork().await?;
    let mut config = fork.control.user("operator").await?;
    config.default_retry = false;
    let lost = json!({ "on": { "user": "operator", "verb": "create" }, "times": 1, "effect": { "loseReply": {} } });
    let fault = fork.control.add_fault(lost).await?;
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::try_from(config)?);
    if badly { creates_badly(&maps).await? } else { creates_well(&maps).await? }
    assert_eq!(fork.control.hits(&fault).await?, 1);
    assert_eq!(fork.control.requests("user=operator&verb=create&changed=true").await?.len(), if badly { 2 } else { 1 });
    let left = maps.list(&ListParams::default().labels("of=wanted")).await?.items.len();
    fork.end().await?;
    Ok(left)
}

#[tokio::test]
async fn a_lost_reply_makes_a_second_child_of_a_controller_that_is_written_badly() {
    assert_eq!(children_left_by(true).await.unwrap(), 2);
}

#[tokio::test]
async fn a_lost_reply_makes_no_second_child_of_one_that_is_written_well() {
    assert_eq!(children_left_by(false).await.unwrap(), 1);
}

#[tokio::test]
async fn a_restored_fork_has_the_objects_of_its_snapshot() {
    let fork = Control::open().unwrap().fork().await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::try_from(fork.config.clone()).unwrap());
    creates_well(&maps).await.unwrap();
    fork.control.snapshot("one").await.unwrap();
    maps.create(&PostParams::default(), &child(ObjectMeta { name: Some("more".to_owned()), ..ObjectMeta::default() })).await.unwrap();
    fork.control.restore("one").await.unwrap();
    fork.control.settled().await.unwrap();
    assert!(maps.get_opt("more").await.unwrap().is_none());
    assert!(maps.get_opt("child-0").await.unwrap().is_some());
    fork.control.reset().await.unwrap();
    assert!(maps.get_opt("child-0").await.unwrap().is_none());
    fork.end().await.unwrap();
}
