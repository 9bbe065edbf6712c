//! No test file is forgotten: each is a module of this binary.

use std::fs;
use std::path::Path;

#[test]
fn every_file_here_is_a_module_of_main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_module = path.is_dir() || path.extension().is_some_and(|end| end == "rs");
        assert!(
            !is_module || name == "main" || main.contains(&format!("mod {name};")),
            "{} is not a module of main.rs, so it is never run",
            path.display()
        );
    }
}
