//! Loads the files into one configuration per layer.

use std::path::{Path, PathBuf};

use crosier::config::{Config, LayeredPermissions, Loader, Problem, Problems, Source, Span};
use crosier::{Builder, Layer};

use crate::discover::{Layers, RefusedFile};
use crate::referenced;

impl Layers {
    /// Reads the files into one configuration per layer, in order. `loader` is called for every layer; it makes a
    /// loader that knows everything that the host lets a configuration name.
    ///
    /// # Errors
    /// All problems of all files.
    pub fn load(&self, loader: impl Fn() -> Loader) -> Result<Vec<(Layer, Config)>, Problems> {
        let (mut configs, mut problems) = self.load_each(loader);
        for RefusedFile { layer, path, why } in self.refuse_unsafe_references(&mut configs) {
            let source = Source::new(path.display().to_string(), "");
            let message = format!("this file of the {layer} configuration is refused: {why}");
            problems.push(Problem::error(&source, Span { start: 0, end: 0 }, message));
        }
        if problems.is_empty() { Ok(configs) } else { Err(problems) }
    }

    /// Like [`load`](Self::load), but a layer with errors does not remove the others: returns the layers that can be
    /// used, and all problems of the rest. A host that uses them must still fail closed.
    pub fn load_each(&self, loader: impl Fn() -> Loader) -> (Vec<(Layer, Config)>, Problems) {
        let mut problems = Problems::new();
        let mut configs: Vec<(Layer, Config)> = Vec::new();
        let mut packs: Vec<String> = Vec::new();
        let permissions = LayeredPermissions::default();
        for group in self.files.chunk_by(|a, b| a.layer == b.layer) {
            let Some(layer) = group.first().map(|file| file.layer) else { continue };
            let mut loader = loader().layer(layer).packs_in_force(packs.clone());
            loader = loader.permissions_in_force(permissions.clone());
            for file in group {
                let folder = file.path.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
                loader = loader.bytes(&file.path.display().to_string(), file.bytes.clone(), folder);
            }
            match loader.load() {
                Ok(config) => {
                    packs.extend(config.packs.iter().cloned());
                    configs.push((layer, config));
                }
                Err(found) => problems.extend(found),
            }
        }
        (configs, problems)
    }

    /// Removes the layers that read or run a file that others can change, and returns these files. A host must then fail
    /// closed, as for a refused file of a layer.
    pub fn refuse_unsafe_references(&self, configs: &mut Vec<(Layer, Config)>) -> Vec<RefusedFile> {
        let Some((person, home)) = &self.person else { return Vec::new() };
        let mut all = Vec::new();
        configs.retain(|(layer, config)| {
            let found = referenced::refused(*layer, config, *person, home.as_deref());
            let is_fine = found.is_none();
            all.extend(found.map(|(path, why)| RefusedFile {
                layer: *layer,
                path: path.components().collect(),
                why,
            }));
            is_fine
        });
        all
    }

    /// Adds the hooks of every layer to an engine.
    ///
    /// # Errors
    /// All problems of all files.
    pub fn add_to(&self, builder: Builder, loader: impl Fn() -> Loader) -> Result<Builder, Problems> {
        let configs = self.load(loader)?;
        Ok(configs.into_iter().fold(builder, |builder, (layer, config)| builder.layer(layer, config)))
    }
}
