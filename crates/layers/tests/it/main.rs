//! Real files in real folders: which are in force, in which order, and which are refused.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crosier::config::Loader;
use crosier::{Catalog, Engine, Layer};
use crosier_layers::{Layers, Person, Places};

struct Lab {
    folder: tempfile::TempDir,
    places: Places,
}

const HOOK: &str = "hooks: {Stop: [{name: guard, command: 'true'}]}";

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["etc", "home/.config/crosier", "home/work/repository/src/deep"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let user = rustix::process::geteuid().as_raw();
        let mut places = Places::new(root.join("home/work/repository/src/deep"), Person::new(user, None));
        places.managed = root.join("etc");
        places.home = Some(root.join("home"));
        places.config_home = Some(root.join("home/.config/crosier"));
        Self { folder, places }
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        path
    }

    /// Layer and path from the lab of each file in force.
    fn found(&self) -> Vec<(String, String)> {
        let root = self.path("");
        let shown = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
        let layers = Layers::discover(&self.places);
        layers.files.iter().map(|file| (file.layer.to_string(), shown(&file.path))).collect()
    }

    fn refused(&self) -> Vec<String> {
        Layers::discover(&self.places).refused.into_iter().map(|file| file.why).collect()
    }
}

fn names(found: &[(String, String)]) -> Vec<(&str, &str)> {
    found.iter().map(|(layer, path)| (layer.as_str(), path.as_str())).collect()
}

#[test]
fn every_layer_is_found_in_its_order() {
    let lab = Lab::new();
    fs::create_dir(lab.path("home/work/repository/.git")).unwrap();
    for file in [
        "home/.config/crosier/crosier.yaml",
        "home/work/repository/crosier.yaml",
        "home/work/repository/src/crosier.yaml",
        "home/work/repository/src/deep/crosier.yaml",
        "home/work/repository/crosier.local.yaml",
        "home/work/crosier.yaml",
        "home/crosier.yaml",
    ] {
        lab.write(file, HOOK);
    }
    assert_eq!(
        names(&lab.found()),
        [
            ("user", "home/.config/crosier/crosier.yaml"),
            ("project", "home/work/repository/crosier.yaml"),
            ("project2", "home/work/repository/src/crosier.yaml"),
            ("project3", "home/work/repository/src/deep/crosier.yaml"),
            ("local", "home/work/repository/crosier.local.yaml"),
        ],
        "what is above the repository does not count"
    );
    assert!(lab.refused().is_empty());
}

#[test]
fn managed_files_are_roots_and_come_first() {
    let lab = Lab::new();
    for file in ["etc/crosier.yaml", "etc/conf.d/20-b.yaml", "etc/conf.d/10-a.yaml", "etc/conf.d/notes.txt"] {
        lab.write(file, HOOK);
    }
    if rustix::process::geteuid().as_raw() != 0 {
        assert_eq!(lab.refused().len(), 3, "they belong to somebody else than root");
        return;
    }
    let expected = [
        ("managed", "etc/crosier.yaml"),
        ("managed", "etc/conf.d/10-a.yaml"),
        ("managed", "etc/conf.d/20-b.yaml"),
    ];
    assert_eq!(names(&lab.found()), expected);
    fs::set_permissions(lab.path("etc/crosier.yaml"), Permissions::from_mode(0o666)).unwrap();
    assert!(lab.refused()[0].contains("everybody can write to it"));
}

#[test]
fn without_a_repository_only_the_project_folder_counts() {
    let lab = Lab::new();
    lab.write("home/work/repository/crosier.yaml", HOOK);
    lab.write("home/work/repository/src/deep/crosier.yaml", HOOK);
    assert_eq!(names(&lab.found()), [("project", "home/work/repository/src/deep/crosier.yaml")]);
}

#[test]
fn a_trusted_folder_holds_for_everything_below_it() {
    let mut lab = Lab::new();
    lab.write("home/work/repository/crosier.yaml", HOOK);
    fs::create_dir(lab.path("home/work/repository/src/deep/.git")).unwrap();
    assert!(lab.found().is_empty(), "the nearer repository hides it");
    lab.places.trusted = vec![lab.path("home/work/repository")];
    assert_eq!(names(&lab.found()), [("project", "home/work/repository/crosier.yaml")]);
}

#[test]
fn the_home_folder_and_folders_of_everybody_are_no_projects() {
    let mut lab = Lab::new();
    lab.write("home/crosier.yaml", HOOK);
    lab.places.project = lab.path("home");
    assert!(lab.found().is_empty());
    lab.write("open/crosier.yaml", HOOK);
    fs::set_permissions(lab.path("open"), Permissions::from_mode(0o777)).unwrap();
    lab.places.project = lab.path("open");
    assert!(lab.found().is_empty());
}

#[test]
fn a_user_file_that_others_can_write_is_refused() {
    let lab = Lab::new();
    let file = lab.write("home/.config/crosier/crosier.yaml", HOOK);
    for (mode, why) in [(0o646, "everybody can write to it (mode 646)"), (0o666, "everybody can write to it")]
    {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        assert!(lab.found().is_empty());
        assert!(lab.refused()[0].contains(why), "{:?}", lab.refused());
    }
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(lab.found().len(), 1);
    fs::set_permissions(lab.path("home/.config"), Permissions::from_mode(0o777)).unwrap();
    assert!(
        lab.refused()[0].contains("the folder") && lab.refused()[0].contains("everybody can write to it")
    );
}

#[test]
fn a_user_file_in_the_project_is_refused_unless_the_project_is_the_home() {
    let mut lab = Lab::new();
    lab.places.config_home = Some(lab.path("home/work/repository/src/deep/.config"));
    lab.write("home/work/repository/src/deep/.config/crosier.yaml", HOOK);
    assert_eq!(lab.refused(), ["it is inside the project folder"]);
    lab.places.project = lab.path("home");
    assert_eq!(names(&lab.found()), [("user", "home/work/repository/src/deep/.config/crosier.yaml")]);
}

#[test]
fn what_is_no_file_is_refused_and_never_waited_for() {
    let lab = Lab::new();
    let path = lab.path("home/work/repository/src/deep/crosier.yaml");
    assert!(Command::new("mkfifo").args(["-m", "644"]).arg(&path).status().unwrap().success());
    assert_eq!(lab.refused(), ["it is not a file"]);
}

#[test]
fn layers_load_into_one_engine_and_share_names() {
    let lab = Lab::new();
    lab.write("home/.config/crosier/crosier.yaml", HOOK);
    lab.write("home/work/repository/src/deep/crosier.yaml", HOOK);
    let layers = Layers::discover(&lab.places);
    let builder = layers.add_to(Engine::builder(), || Loader::new(Catalog::default())).unwrap();
    let entries = builder.build().unwrap().entries();
    let found: Vec<Layer> = entries.iter().map(|entry| entry.layer).collect();
    assert_eq!(found, [Layer::User, Layer::Project(0)]);
}

#[test]
fn settings_of_the_machine_do_not_count_in_a_project() {
    let lab = Lab::new();
    lab.write("home/work/repository/src/deep/crosier.yaml", &format!("log: off\n{HOOK}"));
    let problems = Layers::discover(&lab.places).load(|| Loader::new(Catalog::default())).unwrap_err();
    assert!(problems.to_string().contains("`log` counts in the user's and the managed configuration only"));
}
