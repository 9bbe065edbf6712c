//! The configuration of a service.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::key::Key;
use super::wire::Wire;

/// Called with a message for a person. It must not block.
pub type OnRetry = Arc<dyn Fn(&str) + Send + Sync>;

/// A service and one of its models.
#[derive(Clone)]
pub struct ServiceConfig {
    /// Its wire format.
    pub wire: Wire,
    /// The service's name of the model.
    pub model: String,
    /// Its address; by default the provider's own service.
    pub base_url: Option<String>,
    /// The key. The providers' own services need one.
    pub key: Option<Key>,
    /// How long to wait for the connection.
    pub connect_timeout: Duration,
    /// How long the service may be silent, before and during its answer.
    pub idle_timeout: Duration,
    /// How requests are retried.
    pub retry: Retry,
    /// Called with a message for a person before each retry.
    pub on_retry: Option<OnRetry>,
}

impl ServiceConfig {
    /// A service and a model, with default settings.
    pub fn new(wire: Wire, model: impl Into<String>) -> Self {
        Self {
            wire,
            model: model.into(),
            base_url: None,
            key: None,
            connect_timeout: Duration::from_secs(10),
            // A model that thinks before it answers can be silent for minutes.
            idle_timeout: Duration::from_secs(300),
            retry: Retry::default(),
            on_retry: None,
        }
    }
}

impl fmt::Debug for ServiceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceConfig")
            .field("wire", &self.wire)
            .field("model", &self.model)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// How requests are retried when the service is busy, broken or unreachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The number of attempts, including the first.
    pub tries: u32,
    /// The wait before the second attempt; it doubles with each further one.
    pub first_wait: Duration,
    /// The longest wait, unless the service asks for a longer one.
    pub longest_wait: Duration,
    /// The longest wait that a service may ask for; otherwise the request is not retried.
    pub patience: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            tries: 5,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
            patience: Duration::from_secs(120),
        }
    }
}

impl Retry {
    /// How long to wait after this attempt: twice as long each time, with random jitter, so that many agents
    /// do not retry at once. Never less than the service asked for. `None`: do not retry.
    pub(super) fn wait(&self, tries: u32, asked: Option<Duration>, random: u64) -> Option<Duration> {
        if tries >= self.tries || asked.is_some_and(|asked| asked > self.patience) {
            return None;
        }
        let doubled = self.first_wait.saturating_mul(1 << (tries.saturating_sub(1)).min(20));
        let most = doubled.min(self.longest_wait);
        let half = most / 2;
        let nanos = u64::try_from(half.as_nanos()).unwrap_or(u64::MAX).max(1);
        let wait = half + Duration::from_nanos(random % nanos);
        Some(wait.max(asked.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_within_bounds_and_end() {
        let retry = Retry { tries: 40, ..Retry::default() };
        for tries in 1..40 {
            let doubled = Duration::from_millis(500).saturating_mul(1 << (tries - 1).min(20));
            let most = doubled.min(retry.longest_wait);
            for random in [0, 1, 12_345_678_901, u64::MAX] {
                let wait = retry.wait(tries, None, random).unwrap();
                assert!(wait >= most / 2 && wait <= most, "{tries} {random}: {wait:?}");
            }
        }
        assert_eq!(retry.wait(40, None, 0), None);
    }

    #[test]
    fn a_service_that_asks_for_time_gets_it_up_to_a_point() {
        let retry = Retry::default();
        let asked = |seconds| retry.wait(1, Some(Duration::from_secs(seconds)), 0);
        assert_eq!(asked(7), Some(Duration::from_secs(7)));
        assert_eq!(asked(0), Some(Duration::from_millis(250)));
        assert_eq!(asked(3600), None);
    }

    #[test]
    fn nothing_of_a_key_is_shown() {
        let mut config = ServiceConfig::new(Wire::Anthropic, "m");
        config.key = Key::new("sk-secret");
        assert!(!format!("{config:?}").contains("secret"));
    }
}
