//! Bad configurations, and exactly what is said about each.
//!
//! `tests/bad_configs/NAME.yaml` is a configuration with something wrong, `NAME.txt` what `crosier check` says.
//! The texts are for people: read them when they change. `CROSIER_GENERATE=1` writes them.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_configs")
}

/// What `check` prints and how it ends, without the path of this machine.
fn check(name: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_crosier"))
        .args(["check", "-c", &format!("{name}.yaml")])
        .current_dir(folder())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap().replace(&folder().display().to_string(), "FOLDER");
    format!("{said}exit status {}\n", output.status.code().unwrap())
}

#[test]
fn every_bad_configuration_gets_its_message() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".yaml")?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() >= 60, "only {} bad configurations", names.len());
    let mut wrong = Vec::new();
    for name in names {
        let said = check(&name);
        let expected = folder().join(format!("{name}.txt"));
        if std::env::var_os("CROSIER_GENERATE").is_some() {
            std::fs::write(&expected, &said).unwrap();
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        if said != expected {
            wrong.push(format!("{name}\n--- expected\n{expected}--- said\n{said}"));
        }
        // Nothing here is good: what is not an error must at least be a warning.
        assert!(said.contains("error:") || said.contains("warning:"), "{name} is not bad:\n{said}");
        assert!(said.contains("exit status 78") || said.contains("exit status 0"), "{name}:\n{said}");
    }
    assert!(wrong.is_empty(), "{} messages differ:\n\n{}", wrong.len(), wrong.join("\n\n"));
}
