//! Controls a server that `orch up --control` has started: forks, users, faults, time and assertions for tests of
//! controllers in Rust. Calls are HTTP, sent by the client of kube.

use http::{Method, Request};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{json, Value};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The way to one server.
#[derive(Clone)]
pub struct Control {
    client: Client,
    base: String,
}

impl Control {
    /// The control of the file that `ORCH_CONTROL` names: `control.json` of a data folder.
    pub fn open() -> Result<Control> {
        let path = std::env::var("ORCH_CONTROL").map_err(|_| "ORCH_CONTROL names no control.json of orch up --control")?;
        Control::of(&serde_json::from_str(&std::fs::read_to_string(path)?)?)
    }

    /// The control of `url`, `token` and `certificateAuthority`.
    pub fn of(access: &Value) -> Result<Control> {
        let text = |name: &str| access[name].as_str().unwrap_or_default().to_owned();
        let url: http::Uri = text("url").parse()?;
        let base = url.path().trim_end_matches('/').to_owned();
        let mut config = Config::new(format!("https://{}", url.authority().ok_or("url: no host")?).parse()?);
        config.root_cert = Some(vec![der_of(&text("certificateAuthority"))?]);
        config.auth_info = AuthInfo { token: Some(text("token").into()), ..AuthInfo::default() };
        // A test wants each refusal.
        config.default_retry = false;
        Ok(Control { client: Client::try_from(config)?, base })
    }

    /// Sends a call and returns the answer; a refusal is the Status of the server.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
        let bytes = body.map_or_else(Vec::new, |value| value.to_string().into_bytes());
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("content-type", "application/json")
            .body(bytes)?;
        let text = self.client.request_text(request).await?;
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? })
    }

    /// The client configuration of a user with all rights.
    pub async fn user(&self, name: &str) -> Result<Config> {
        let made = self.call(Method::POST, "/users", Some(json!({ "name": name }))).await?;
        config_of(&made["kubeconfig"]).await
    }

    /// Adds a fault, and returns its name.
    pub async fn add_fault(&self, fault: Value) -> Result<String> {
        let made = self.call(Method::POST, "/faults", Some(fault)).await?;
        Ok(made["name"].as_str().unwrap_or_default().to_owned())
    }

    /// The requests that a fault has hit.
    pub async fn hits(&self, fault: &str) -> Result<u64> {
        let found = self.call(Method::GET, &format!("/faults/{fault}"), None).await?;
        Ok(found["hits"].as_u64().unwrap_or_default())
    }

    /// Ends all weather.
    pub async fn clear_faults(&self) -> Result<()> {
        self.call(Method::DELETE, "/faults", None).await.map(drop)
    }

    /// The log of requests, chosen by parameters such as `user=operator&verb=create`.
    pub async fn requests(&self, parameters: &str) -> Result<Vec<Value>> {
        let found = self.call(Method::GET, &format!("/requests?{parameters}"), None).await?;
        Ok(found["items"].as_array().cloned().unwrap_or_default())
    }

    /// Resolves when the server has no work left.
    pub async fn settled(&self) -> Result<()> {
        self.call(Method::GET, "/settled?within=60s", None).await.map(drop)
    }

    /// Observes a user for two seconds, in which nothing else may happen: a sentence for each loop.
    pub async fn hot_loops(&self, user: &str) -> Result<Vec<String>> {
        let found = self.call(Method::GET, &format!("/hot-loops?user={user}"), None).await?;
        let items = found["items"].as_array().cloned().unwrap_or_default();
        Ok(items.iter().filter_map(|item| Some(item["text"].as_str()?.to_owned())).collect())
    }

    /// Moves the clock of a server with `--virtual-clock`.
    pub async fn advance(&self, by: &str) -> Result<()> {
        self.call(Method::POST, "/clock/advance", Some(json!({ "by": by }))).await.map(drop)
    }

    /// Restores the state of the start.
    pub async fn reset(&self) -> Result<()> {
        self.call(Method::POST, "/reset", None).await.map(drop)
    }

    /// Keeps the present moment under a name.
    pub async fn snapshot(&self, name: &str) -> Result<()> {
        self.call(Method::POST, "/snapshots", Some(json!({ "name": name }))).await.map(drop)
    }

    /// Restores a moment that was kept.
    pub async fn restore(&self, snapshot: &str) -> Result<()> {
        self.call(Method::POST, "/restore", Some(json!({ "snapshot": snapshot }))).await.map(drop)
    }

    /// A separate server that begins at the present moment and lasts until `end`. `orch explore` gives it weather.
    pub async fn fork(&self) -> Result<Fork> {
        let exploration = std::env::var("ORCH_EXPLORE").unwrap_or_default();
        let made = self.call(Method::POST, "/forks", Some(json!({ "exploration": exploration }))).await?;
        Ok(Fork {
            name: made["name"].as_str().unwrap_or_default().to_owned(),
            control: Control::of(&made["control"])?,
            config: config_of(&made["kubeconfig"]).await?,
            base: self.clone(),
        })
    }
}

/// A second server.
pub struct Fork {
    pub name: String,
    pub control: Control,
    /// The client configuration of its administrator.
    pub config: Config,
    base: Control,
}

impl Fork {
    pub async fn end(self) -> Result<()> {
        self.base.call(Method::DELETE, &format!("/forks/{}", self.name), None).await.map(drop)
    }
}

async fn config_of(kubeconfig: &Value) -> Result<Config> {
    let parsed = Kubeconfig::from_yaml(kubeconfig.as_str().unwrap_or_default())?;
    Ok(Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await?)
}

/// The bytes of the first certificate of a text in PEM.
fn der_of(pem: &str) -> Result<Vec<u8>> {
    let body: String = pem.lines().skip_while(|line| !line.starts_with("-----BEGIN")).skip(1).take_while(|line| !line.starts_with('-')).collect();
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for digit in body.bytes().filter(|byte| *byte != b'=') {
        let value = DIGITS.iter().position(|known| *known == digit).ok_or("certificateAuthority: not in base64")?;
        bits = (bits << 6) | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Ok(bytes)
}
