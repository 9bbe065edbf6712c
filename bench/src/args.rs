//! The arguments on the command line.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

pub(crate) const HELP: &str = "\
Measures Crosier against the floor of the machine and against its peers.

  cargo run --release -p bench -- [OPTIONS]

  --quick        few rounds and wide intervals: shows that it works, proves nothing
  --only NAME    only this suite, or suites with a goal of this name (G1 … G11); may be given several times
  --json FILE    write what was found to this file too
  --chart FILE   measure nothing; draw bench/results/chart.svg from this JSON
  --no-peers     leave out other hook systems
  --peers DIR    the folder that bench/peers/install.sh filled (else BENCH_PEERS, else they are left out)
  --list         name the suites
";

#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) quick: bool,
    pub(crate) only: Vec<String>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) chart: Option<PathBuf>,
    pub(crate) no_peers: bool,
    pub(crate) peers: Option<PathBuf>,
    pub(crate) list: bool,
    pub(crate) help: bool,
    /// Set when a suite started this process: the part to run, and its arguments.
    pub(crate) part: Option<Vec<String>>,
}

impl Args {
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut words = words.into_iter();
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--quick" => args.quick = true,
                "--only" => args.only.push(value()?),
                "--json" => args.json = Some(value()?.into()),
                "--chart" => args.chart = Some(value()?.into()),
                "--no-peers" => args.no_peers = true,
                "--peers" => args.peers = Some(value()?.into()),
                "--list" => args.list = true,
                "--help" | "-h" => args.help = true,
                "--part" => {
                    args.part = Some(words.collect());
                    break;
                }
                other => bail!("unknown word `{other}`\n\n{HELP}"),
            }
        }
        Ok(args)
    }
}

/// The only place that reads the environment.
#[expect(clippy::disallowed_methods, reason = "a program may ask for its environment; the library may not")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_and_unknown_ones_are_not() {
        let parse = |line: &str| Args::parse(line.split_whitespace().map(str::to_owned));
        let args = parse("--quick --only G1 --only G5 --json out.json").unwrap();
        assert!(args.quick && args.only == ["G1", "G5"] && args.json.is_some());
        assert!(parse("--fast").is_err());
        assert!(parse("--only").is_err());
        assert_eq!(parse("--part memory 10").unwrap().part.unwrap(), ["memory", "10"]);
    }
}
