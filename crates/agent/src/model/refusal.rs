//! Error responses of a service.

use std::time::Duration;

use serde_json::Value;

use super::ModelError;

/// A message is cut after this many characters.
const MESSAGE_LIMIT: usize = 500;

/// The content of an error response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ErrorBody {
    pub(super) message: String,
    pub(super) is_about_the_model: bool,
}

impl ErrorBody {
    /// Reads the form that both wire formats share (`{"error": {"message": …}}`), or takes the text as it is.
    pub(super) fn read(body: &str) -> Self {
        let json: Value = serde_json::from_str(body).unwrap_or_default();
        let error = &json["error"];
        let message = error["message"].as_str().or(error.as_str()).or(json["message"].as_str());
        let message = message.unwrap_or(body).trim();
        let message: String =
            message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MESSAGE_LIMIT).collect();
        let message = if message.is_empty() { "no reason given".to_owned() } else { message };
        Self { message, is_about_the_model: error["code"].as_str() == Some("model_not_found") }
    }
}

/// The wait that a service asks for: in seconds, or in OpenAI's header in milliseconds. A date is not read: the
/// default wait is good enough.
pub(super) fn wait<'a>(
    header: impl Fn(&'static str) -> Option<&'a str>,
    seconds: &'static str,
) -> Option<Duration> {
    let number = |name, unit: f64| header(name)?.trim().parse::<f64>().ok().map(|number| number * unit);
    let seconds = number("retry-after-ms", 1e-3).or_else(|| number(seconds, 1.0))?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Whether a retry may succeed, if no part of the answer has arrived.
pub(super) fn may_pass(error: &ModelError) -> bool {
    const BUSY: [&str; 5] =
        ["overloaded_error", "api_error", "rate_limit_error", "server_error", "rate_limit_exceeded"];
    match error {
        ModelError::Interrupted { .. } => true,
        ModelError::ServiceError { kind, .. } => BUSY.contains(&kind.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_a_refusal_has_its_message() {
        let message = |body: &str| ErrorBody::read(body).message;
        assert_eq!(message(r#"{"type":"error","error":{"type":"x","message":"no"}}"#), "no");
        assert_eq!(message(r#"{"error":"no"}"#), "no");
        assert_eq!(message(r#"{"message":"no"}"#), "no");
        assert_eq!(message("<html>\u{1b}[31m</html>"), "<html> [31m</html>");
        assert_eq!(message(" "), "no reason given");
        assert_eq!(message(&"\u{e4}".repeat(9999)).chars().count(), MESSAGE_LIMIT);
        assert!(ErrorBody::read(r#"{"error":{"code":"model_not_found"}}"#).is_about_the_model);
    }

    #[test]
    fn waits_are_read_in_both_units_and_nonsense_is_none() {
        let asked = |name: &'static str, value: &'static str| {
            wait(|wanted| (wanted == name).then_some(value), "retry-after")
        };
        assert_eq!(asked("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(asked("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        for nonsense in ["-1", "NaN", "inf", "1e300", "", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(asked("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
