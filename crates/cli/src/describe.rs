//! Describes hooks for people, in the same way in `list`, `explain` and `fire --trace`.

use std::path::Path;
use std::time::Duration;

use crosier::{Enforcement, Entry, Inclusion, Layer};

use crate::print::{one_line, shown_path};

/// Where a hook is declared.
pub(crate) fn place(hook: &Entry) -> String {
    hook.origin
        .as_ref()
        .map_or_else(|| "-".to_owned(), |at| format!("{}:{}", shown_path(Path::new(&*at.file)), at.line))
}

/// The display name, safe for a terminal and on one line.
pub(crate) fn name(hook: &Entry) -> String {
    one_line(&hook.name)
}

/// The matcher as it was written; `*` when there is none.
pub(crate) fn matcher(hook: &Entry) -> String {
    if hook.matcher.is_all() { "*".to_owned() } else { one_line(hook.matcher.text()) }
}

/// Which agent a hook belongs to: `base`, an agent, `managed base`.
pub(crate) fn scope(hook: &Entry) -> String {
    let scope = hook.scope.as_deref().map_or_else(|| "base".to_owned(), one_line);
    match hook.layer {
        Layer::Host => scope,
        layer => format!("{layer} {scope}"),
    }
}

/// A time as people write it: `30s`, `1500ms`, `1.9ms`.
pub(crate) fn time(time: Duration) -> String {
    let (seconds, millis) = (time.as_secs(), time.as_secs_f64() * 1e3);
    if seconds > 0 && seconds.is_multiple_of(60) && time.subsec_nanos() == 0 {
        format!("{}m", seconds / 60)
    } else if seconds > 0 && time.subsec_nanos() == 0 {
        format!("{seconds}s")
    } else if time.subsec_nanos().is_multiple_of(1_000_000) || millis >= 100.0 {
        format!("{millis:.0}ms")
    } else {
        format!("{millis:.1}ms")
    }
}

/// Why a hook is in the plan of an event with this matcher value.
pub(crate) fn why_in(hook: &Entry, value: Option<&str>) -> String {
    let wants = match value {
        _ if hook.matcher.is_all() => "matches all".to_owned(),
        Some(value) => format!("`{}` matches {}", matcher(hook), one_line(value)),
        None => format!("`{}` matches", matcher(hook)),
    };
    let facts = [
        (hook.system, "system"),
        (hook.guard, "guard"),
        (hook.enforcement == Enforcement::Warn, "only warns"),
    ];
    let facts = facts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, fact)| format!("; {fact}"));
    wants + &facts.collect::<String>()
}

/// Why a hook is not in the plan. Without a value, only its matcher can be named.
pub(crate) fn why_out(hook: &Entry, inclusion: Inclusion, value: Option<&str>, by_person: bool) -> String {
    let field = hook.kind.matcher.unwrap_or("value");
    match (inclusion, value) {
        (Inclusion::Disabled, _) if by_person => "disabled with `crosier disable`".to_owned(),
        (Inclusion::Disabled, _) => format!("disabled by `{}`", disabling_key(hook)),
        (Inclusion::Unmatched, Some(value)) => {
            format!("its matcher `{}` does not match {field} {}", matcher(hook), one_line(value))
        }
        (Inclusion::Unmatched, None) => format!("it needs a {field} that matches `{}`", matcher(hook)),
        (Inclusion::OtherAgent, _) => format!("it belongs to agent {}", scope(hook)),
        (Inclusion::Overridden, _) => "the agent's `override` leaves it out".to_owned(),
        (inclusion, _) => inclusion.to_string(),
    }
}

/// What in the configuration disables a hook.
pub(crate) fn disabling_key(hook: &Entry) -> &'static str {
    if hook.enforcement == Enforcement::Off { "mode: off" } else { "enabled: false" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_and_exact_where_it_matters() {
        let of = |micros| time(Duration::from_micros(micros));
        assert_eq!(of(30_000_000), "30s");
        assert_eq!(of(60_000_000), "1m");
        assert_eq!(of(90_000_000), "90s");
        assert_eq!(of(1_500_000), "1500ms");
        assert_eq!(of(1_900), "1.9ms");
        assert_eq!(of(100_000), "100ms");
        assert_eq!(of(12), "0.0ms");
    }
}
