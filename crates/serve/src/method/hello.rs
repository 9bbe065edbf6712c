//! `hello`: who the client is, which project it works in, and the proof of the server's identity.

use std::path::PathBuf;
use std::sync::Arc;

use crosier::Json;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;

use crate::connection::{Connection, MethodResult, Origin};
use crate::engines::FireContext;
use crate::error::{ErrorKind, RpcError, object};
use crate::host::{ConfigLocation, ConfigSource};
use crate::params::Params;
use crate::{MAX_IN_FLIGHT, MAX_LINE, MAX_REPLY, PROTOCOL};

const KNOWN: [&str; 9] =
    ["protocols", "client", "nonce", "project", "config", "env", "cwd", "config_home", "state_home"];

pub(super) fn hello(connection: &Arc<Connection>, params: Option<&Json>) -> MethodResult {
    if connection.defaults.get().is_some() {
        return Err(RpcError::new(ErrorKind::Request, "`hello` was already sent"));
    }
    let mut params = Params::read(params, &KNOWN)?;
    check_protocol(&mut params)?;
    if let Some(client) = params.take("client") {
        check_client(&client)?;
    }
    let nonce = params.text("nonce")?;
    if nonce.as_ref().is_some_and(|nonce| nonce.len() != 32 || !nonce.bytes().all(|b| b.is_ascii_hexdigit()))
    {
        return Err(RpcError::params("nonce", "`nonce` must be 32 hexadecimal digits"));
    }
    let fire_context = fire_context(connection, &mut params)?;
    let server = &connection.server;
    // A program that only calls Python hooks needs no engine.
    let ready = match server.host().has_nothing(&fire_context.location) {
        true => None,
        false => Some(connection.lock_engines().engine(
            &fire_context,
            server,
            &Arc::downgrade(connection),
            false,
        )?),
    };
    let _ = connection.defaults.set(fire_context);
    // Only a program that is about to call a Python hook asks for a proof.
    if nonce.is_some() && connection.origin != Origin::Stdio {
        connection.expect_python_call();
    }
    let proof = nonce.and_then(|nonce| Some(server.key()?.proof(&nonce, std::process::id())));
    let files = ready.iter().flat_map(|ready| ready.files.iter());
    let files: Vec<Value> = files.map(|file| file.to_string_lossy().into_owned().into()).collect();
    let problems = match &ready {
        Some(ready) => ready.problems.to_ordered().unwrap_or(Value::Null),
        None => json!([]),
    };
    Ok(object([
        ("protocol", PROTOCOL.into()),
        ("server", json!({"name": "crosier", "version": server.host().version(), "pid": std::process::id()})),
        ("proof", proof.into()),
        // A caller that learned this only after its call would have to run the hook a second time.
        ("confined", connection.confinement.server_is_confined.into()),
        ("limits", json!({"line": MAX_LINE, "in_flight": MAX_IN_FLIGHT, "reply": MAX_REPLY})),
        ("config", files.into()),
        ("problems", problems),
    ]))
}

fn check_client(client: &Json) -> Result<(), RpcError> {
    if !client.is_object() {
        let message = format!("`client` must be an object, not {}", client.kind_word());
        return Err(RpcError::params("client", message));
    }
    let mut about = Params::read(Some(client), &["name", "version"])?;
    about.text("name")?;
    about.text("version")?;
    Ok(())
}

fn check_protocol(params: &mut Params) -> Result<(), RpcError> {
    let protocols = params.required("protocols")?;
    let spoken: Vec<serde_json::Value> = serde_json::from_str(protocols.text())
        .map_err(|_| RpcError::params("protocols", "`protocols` must be a list of integers"))?;
    if spoken.iter().any(|one| !one.is_u64() && !one.is_i64()) {
        return Err(RpcError::params("protocols", "`protocols` must be a list of integers"));
    }
    if spoken.iter().any(|one| one.as_u64() == Some(PROTOCOL.into())) {
        return Ok(());
    }
    let message = format!("this server speaks version {PROTOCOL} of the protocol, and the client does not");
    Err(RpcError::new(ErrorKind::Version, message).with("protocols", Json::from(json!([PROTOCOL]))))
}

/// The defaults for fires.
fn fire_context(connection: &Connection, params: &mut Params) -> Result<FireContext, RpcError> {
    let (project, files) = (params.folder("project")?, params.paths("config")?);
    let any_file = connection.origin == Origin::Stdio;
    let source = match (files, &project) {
        (Some(files), _) => ConfigSource::Files(files),
        (None, Some(project)) => ConfigSource::Project(project.clone()),
        (None, None) => {
            return Err(RpcError::params(
                "project",
                "`hello` needs a `project`, or a `config` (which may be [])",
            ));
        }
    };
    let mut location = ConfigLocation::new(source, any_file);
    location.config_home = params.folder("config_home")?;
    location.state_home = params.folder("state_home")?;
    let env = match params.variables("env")? {
        Some(env) => env,
        None if any_file => connection.server.own_environment().to_vec(),
        None => vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
    };
    let cwd = params.folder("cwd")?.or(project).unwrap_or_else(|| PathBuf::from("/"));
    Ok(FireContext { location, env: Arc::new(env), cwd })
}
