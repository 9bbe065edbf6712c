//! What the engine logs by default: hooks, kinds and counts; never what a payload or a hook said.

use std::sync::OnceLock;

use crosier::payload::PreToolUse;
use crosier::{Base, Cwd, Hook, Mode};
use serde_json::json;

use super::lab::{each_way, ms};
use super::vitals::until;
use crate::logged::Logged;

const SECRET: &str = "hunter2";

#[test]
fn logs_carry_no_payload_and_no_words_of_hooks() {
    each_way(|lab| {
        // Once per process: the second way finds the log of the first.
        static LOG: OnceLock<Logged> = OnceLock::new();
        let log = LOG.get_or_init(Logged::default);
        let _ = tracing::subscriber::set_global_default(log.clone());
        log.clear();

        let base = Base::default().cwd(format!("/{SECRET}")).session_id(SECRET.to_owned());
        let event = PreToolUse::new(SECRET, json!({"password": SECRET})).with_base(base);
        let lines = [
            format!("cat; exit 1; # {SECRET}"),
            format!("echo {SECRET} >&2; exit 1"),
            format!("echo {SECRET}"),
            format!("echo '{{\"decision\":\"{SECRET}\"}}'"),
            format!("echo '{{\"inject\":{{\"content\":\"{SECRET}\"}}}}'"),
            format!("echo {SECRET} >&2; kill -SEGV $$"),
            format!("echo {SECRET}; head -c 2000000 /dev/zero"),
        ];
        let mut hooks: Vec<Hook> =
            lines.iter().map(|line| on(Mode::Sequential).command(lab.shell(line).spec)).collect();
        let sleeps = lab.shell(format!("echo {SECRET}; sleep 60")).spec;
        hooks.push(on(Mode::Sequential).timeout(ms(250)).command(sleeps));
        hooks.push(on(Mode::Sequential).command(lab.shell("true").cwd(Cwd::Event).spec));
        hooks.push(on(Mode::Sequential).command(lab.argv([format!("/{SECRET}")]).spec));
        hooks.push(on(Mode::Background).command(lab.shell(format!("echo {SECRET}; exit 1")).spec));
        let engine = lab.engine(hooks);
        let outcome = lab.fire(&engine, event);
        let failed = outcome.failures().count();
        assert_eq!(failed, 9, "{outcome:?}");
        let logged = || log.all();
        assert!(until(|| logged().contains("background hook failed")), "{}", logged());
        assert_eq!(logged().matches("hook failed").count(), failed + 1, "{}", logged());
        assert!(logged().contains("kind=timeout") && logged().contains("effect=inject"), "{}", logged());
        assert!(!logged().contains(SECRET), "{}", logged());
    });
}

fn on(mode: Mode) -> crosier::HookBuilder<crosier::Typed<PreToolUse>> {
    Hook::on(PreToolUse).mode(mode)
}
