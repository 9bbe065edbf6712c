//! `crosier packs`: the ready-made sets of hooks that `extends:` can name.

use clap::Args;
use crosier::config::Pack;
use crosier::protocol::json;
use crosier::protocol::nearest::nearest;
use crosier::protocol::ordered::Value;

use super::Run;
use crate::exit::{Exit, Failed, Result};
use crate::{print, setup, table};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier packs crosier:git")]
pub(crate) struct PacksArgs {
    /// Print this pack's file
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for PacksArgs {
    fn run(&self) -> Result {
        let loader = setup::loader();
        let packs = loader.packs();
        let Some(name) = &self.name else { return self.list(packs) };
        let full = if name.contains(':') { name.clone() } else { format!("crosier:{name}") };
        let Some(pack) = packs.iter().find(|pack| pack.name == full) else {
            // Without the part that all names share.
            let short = |name: &'static str| name.split_once(':').map_or(name, |(_, short)| short);
            let wanted = full.split_once(':').map_or(full.as_str(), |(_, short)| short);
            let near = nearest(wanted, packs.iter().map(|pack| short(pack.name)));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    let names: Vec<&str> = packs.iter().map(|pack| pack.name).collect();
                    format!("there are {}", names.join(", "))
                }
            };
            return Err(Failed::new(
                Exit::Usage,
                format!("there is no pack `{}`: {help}", print::one_line(name)),
            ));
        };
        let shown = if self.json { format!("{:#}", as_json(pack)) } else { pack.text.trim_end().to_owned() };
        print::data(&shown)?;
        Ok(Exit::Done)
    }
}

impl PacksArgs {
    fn list(&self, packs: &[Pack]) -> Result {
        if self.json {
            let all: Vec<Value> = packs.iter().map(as_json).collect();
            print::data(&format!("{:#}", Value::from(all)))?;
            return Ok(Exit::Done);
        }
        let mut drawn = table::table(["PACK", "VERSION", "WHAT IT DOES"]);
        for pack in packs {
            drawn.add_row([pack.name, pack.version, pack.about]);
        }
        table::print(&drawn)?;
        Ok(Exit::Done)
    }
}

fn as_json(pack: &Pack) -> Value {
    json!({"name": pack.name, "version": pack.version, "about": pack.about, "text": pack.text})
}
