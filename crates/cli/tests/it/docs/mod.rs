//! What the documentation shows is what happens: its files, configurations, commands and links.

mod agents;
mod configuration;
mod events;
mod example;
mod markdown;
mod play;

use std::fs;
use std::path::{Path, PathBuf};

use play::Play;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every document, and the README of every example, with its name from the top of the repository.
fn pages() -> Vec<(String, String)> {
    let readmes = example::folders().into_iter().map(|folder| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        (format!("examples/{name}/README.md"), fs::read_to_string(folder.join("README.md")).unwrap())
    });
    documents().into_iter().chain(readmes).collect()
}

/// Every document with its name from the top of the repository.
fn documents() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned(), "ARCHITECTURE.md".to_owned()];
    for entry in fs::read_dir(repository().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // The table of contents of the site is no page.
        if Path::new(&name).extension().is_some_and(|end| end == "md") && name != "SUMMARY.md" {
            names.push(format!("docs/{name}"));
        }
    }
    names.sort_unstable();
    names
        .into_iter()
        .map(|name| (name.clone(), fs::read_to_string(repository().join(name)).unwrap()))
        .collect()
}

/// A generated page is as it was generated; CROSIER_GENERATE=1 writes it.
fn is_up_to_date(name: &str, page: &str) {
    let path = repository().join(name);
    if std::env::var_os("CROSIER_GENERATE").is_some() {
        fs::write(&path, page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{name} is out of date: run this test with CROSIER_GENERATE=1");
}

/// A document begins in the repository: what it names of it is there.
fn borrow_repository(folder: &Path) {
    for name in ["examples", "spec"] {
        std::os::unix::fs::symlink(repository().join(name), folder.join(name)).unwrap();
    }
}

#[test]
fn every_command_and_configuration_of_the_documents_works() {
    let documents = documents();
    // The documents share nothing, so they are played side by side.
    let commands: usize = std::thread::scope(|scope| {
        let plays: Vec<_> = documents
            .iter()
            .map(|(name, text)| {
                scope.spawn(move || {
                    let folder = tempfile::tempdir().unwrap();
                    borrow_repository(folder.path());
                    Play::new(name, folder.path()).all(text)
                })
            })
            .collect();
        plays.into_iter().map(|play| play.join().unwrap_or_else(|why| std::panic::resume_unwind(why))).sum()
    });
    assert!(commands > 25, "only {commands} commands were found");
}

#[test]
fn every_rust_block_is_a_doctest() {
    let library = fs::read_to_string(repository().join("crates/engine/src/lib.rs")).unwrap();
    for (name, text) in documents() {
        let has_rust = markdown::blocks(&text).iter().any(|block| block.language == "rust");
        let is_included = library.contains(&format!("include_str!(\"../../../{name}\")"));
        assert!(
            !has_rust || is_included,
            "{name} has Rust that nobody compiles: include it in the engine's lib.rs"
        );
    }
}

#[test]
fn every_link_leads_somewhere() {
    for (name, text) in pages() {
        let page = repository().join(&name);
        for (file, anchor) in markdown::links(&text) {
            let target = if file.is_empty() { page.clone() } else { page.with_file_name("").join(&file) };
            assert!(target.exists(), "{name} links to {file}, which is not there");
            let is_there = anchor.is_empty()
                || markdown::anchors(&fs::read_to_string(&target).unwrap()).contains(&anchor);
            assert!(is_there, "{name} links to {file}#{anchor}, which has no such heading");
        }
    }
}

#[test]
fn the_index_names_every_page() {
    let index = fs::read_to_string(repository().join("docs/README.md")).unwrap();
    for (name, _) in documents() {
        let Some(page) = name.strip_prefix("docs/").filter(|page| *page != "README.md") else { continue };
        assert!(index.contains(&format!("]({page})")), "docs/README.md does not link to {page}");
    }
}

/// Every page below `docs/`, with its name from there.
fn pages_of_the_site(folder: &Path, below: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            pages_of_the_site(&entry.path(), &format!("{name}/"), names);
        } else if Path::new(&name).extension().is_some_and(|end| end == "md") && name != "SUMMARY.md" {
            names.push(name);
        }
    }
}

#[test]
fn the_site_has_every_page() {
    let docs = repository().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut names = Vec::new();
    pages_of_the_site(&docs, "", &mut names);
    for name in names {
        assert!(summary.contains(&format!("]({name})")), "docs/SUMMARY.md does not name {name}");
    }
}

#[test]
fn the_page_of_the_command_line_has_every_command() {
    let page = fs::read_to_string(repository().join("docs/command-line.md")).unwrap();
    let help = crate::lab::Lab::new().run(&["--help"]).exits(0).stdout;
    for name in crate::help::commands(&help) {
        let is_there = page.contains(&format!("`crosier {name}"));
        assert!(is_there, "docs/command-line.md has no row for `crosier {name}`");
    }
}
