//! A model at a service: one request, retried when the service is busy, broken or unreachable.
//!
//! It is retried only while no part of the answer has arrived: what was already shown cannot be taken back.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::time::timeout;

use super::config::ServiceConfig;
use super::refusal;
use super::sse::Decoder;
use super::wire::{Answer, Home, Step};
use super::{Model, ModelError, ModelFuture, ModelRequest, OnText, Turn};
use crate::http;

/// The maximum number of bytes that are read of an error response.
const REFUSAL_LIMIT: usize = 64 * 1024;

/// A model at a service.
pub struct Service {
    config: ServiceConfig,
    endpoint: Url,
    home: Home,
    client: Client,
    headers: HeaderMap,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Why there is no answer, and whether to retry.
enum Failure {
    Final(ModelError),
    Again {
        error: ModelError,
        /// The wait that the service asks for.
        asked: Option<Duration>,
    },
}

impl Service {
    /// A model at a service. Nothing is sent yet.
    ///
    /// # Errors
    /// When the key is missing or cannot be sent, or the address is invalid.
    pub fn new(config: ServiceConfig) -> Result<Self, ModelError> {
        let (wire, setup) = (config.wire, |why: String| ModelError::Setup { why });
        let base = config.base_url.as_deref().unwrap_or(wire.home());
        let is_home = base.trim_end_matches('/').trim_end_matches("/v1")
            == wire.home().trim_end_matches('/').trim_end_matches("/v1");
        let home = if is_home { Home::Provider } else { Home::Elsewhere };
        let endpoint = http::address(&wire.endpoint(base)).map_err(setup)?;
        if !endpoint.username().is_empty() || endpoint.password().is_some() {
            return Err(setup(
                "its address contains a name or a password, which would appear in messages".into(),
            ));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in wire.headers() {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        match &config.key {
            Some(key) => {
                let (name, before) = wire.key_header();
                let value = HeaderValue::from_str(&format!("{before}{}", key.secret()));
                let mut value = value.map_err(|_| {
                    setup(format!("{} contains characters that cannot be in a key", wire.key_variable()))
                })?;
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            None if is_home => {
                return Err(ModelError::NoKey { provider: wire.provider(), variable: wire.key_variable() });
            }
            // A self-hosted service may need no key.
            None => {}
        }
        let client = http::client(&endpoint, config.connect_timeout).and_then(http::build).map_err(setup)?;
        Ok(Self { config, endpoint, home, client, headers })
    }

    async fn ask(&self, request: ModelRequest<'_>, on_text: OnText<'_>) -> Result<Turn, ModelError> {
        let body = self.config.wire.body(&self.config.model, &request, self.home)?;
        let random = RandomState::new();
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, asked) = match self.attempt(&body, request.max_tokens, on_text).await {
                Ok(turn) => return Ok(turn),
                Err(Failure::Final(error)) => return Err(error.after(tries)),
                Err(Failure::Again { error, asked }) => (error.after(tries), asked),
            };
            let Some(wait) = self.config.retry.wait(tries, asked, random.hash_one(tries)) else {
                return Err(error);
            };
            tracing::warn!(tries, ?wait, "{error}");
            if let Some(told) = &self.config.on_retry {
                told(&format!("{error}; asking again in {:.1} s", wait.as_secs_f64()));
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, body: &[u8], max_tokens: u32, on_text: OnText<'_>) -> Result<Turn, Failure> {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_vec());
        let stalled = || Failure::Final(ModelError::Stalled { after: self.config.idle_timeout });
        let sent = timeout(self.config.idle_timeout, request.send()).await.map_err(|_| stalled())?;
        let response =
            sent.map_err(|error| Failure::Again { error: self.unreachable(&error), asked: None })?;
        if response.status() != StatusCode::OK {
            return Err(self.refused(response).await);
        }
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            let detail = format!(
                "the answer has the type `{kind}`, and is not a stream of events; check the base URL"
            );
            return Err(Failure::Final(ModelError::InvalidAnswer { detail }));
        }
        let mut answer = self.config.wire.answer(max_tokens);
        match self.read(response, answer.as_mut(), on_text).await {
            Ok(()) => answer.finish().map_err(|error| Failure::Final(self.hide(error))),
            Err(error) if !answer.has_begun() && refusal::may_pass(&error) => {
                Err(Failure::Again { error: self.hide(error), asked: None })
            }
            Err(error) => Err(Failure::Final(self.hide(error))),
        }
    }

    /// Reads an answer to its end.
    async fn read(
        &self,
        mut response: Response,
        answer: &mut dyn Answer,
        on_text: OnText<'_>,
    ) -> Result<(), ModelError> {
        let after = self.config.idle_timeout;
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        loop {
            let chunk = timeout(after, response.chunk()).await.map_err(|_| ModelError::Stalled { after })?;
            let chunk = chunk.map_err(|error| ModelError::Interrupted { why: http::cause(&error) })?;
            let Some(chunk) = chunk else { break };
            let fed = decoder.feed(&chunk, &mut events);
            for event in events.drain(..) {
                if answer.take(&event, on_text)? == Step::Over {
                    return Ok(());
                }
            }
            fed.map_err(|error| ModelError::InvalidAnswer { detail: error.to_string() })?;
        }
        if answer.is_whole() {
            return Ok(());
        }
        Err(ModelError::Interrupted { why: "the stream ended before the answer did".to_owned() })
    }

    async fn refused(&self, mut response: Response) -> Failure {
        let status = response.status().as_u16();
        let asked = refusal::wait(
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()),
            RETRY_AFTER.as_str(),
        );
        let mut said = Vec::new();
        while said.len() < REFUSAL_LIMIT {
            match timeout(self.config.idle_timeout, response.chunk()).await {
                Ok(Ok(Some(chunk))) => said.extend_from_slice(&chunk),
                // The status is enough, even if the body cannot be read.
                _ => break,
            }
        }
        said.truncate(REFUSAL_LIMIT);
        let said = refusal::ErrorBody::read(&String::from_utf8_lossy(&said));
        let error = match status {
            401 | 403 => ModelError::BadKey {
                status,
                variable: self.config.wire.key_variable(),
                message: said.message,
            },
            404 => self.unknown_model(said.message),
            _ if said.is_about_the_model => self.unknown_model(said.message),
            _ => ModelError::Refused { status, message: said.message, tries: 1 },
        };
        let error = self.hide(error);
        match status {
            408 | 409 | 429 | 500..=599 => Failure::Again { error, asked },
            _ => Failure::Final(error),
        }
    }

    fn unknown_model(&self, message: String) -> ModelError {
        ModelError::UnknownModel { model: self.config.model.clone(), address: self.address(), message }
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let why = if error.is_timeout() {
            format!("no connection within {:?}", self.config.connect_timeout)
        } else {
            http::cause(error)
        };
        ModelError::Unreachable { address: self.address(), why, tries: 1 }
    }

    /// The host, without the other parts of the address.
    fn address(&self) -> String {
        self.endpoint.origin().ascii_serialization()
    }

    /// Removes the key from an error, in case the service repeats it.
    fn hide(&self, mut error: ModelError) -> ModelError {
        if let Some(key) = &self.config.key {
            match &mut error {
                ModelError::BadKey { message: text, .. }
                | ModelError::UnknownModel { message: text, .. }
                | ModelError::Refused { message: text, .. }
                | ModelError::ServiceError { message: text, .. }
                | ModelError::BadCall { why: text, .. }
                | ModelError::InvalidAnswer { detail: text } => *text = key.hide_in(text),
                _ => {}
            }
        }
        error
    }
}

impl Model for Service {
    fn name(&self) -> &str {
        &self.config.model
    }

    fn turn<'a>(&'a self, request: ModelRequest<'a>, on_text: OnText<'a>) -> ModelFuture<'a> {
        Box::pin(self.ask(request, on_text))
    }
}
