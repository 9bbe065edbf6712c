//! The programs that run other programs, and how their command lines are read.

use crate::names::{self, Slot};

/// How a program's command line says what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// The words after its options (and this many operands) are a command.
    Words(usize),
    /// The words after its options (and this many operands) are joined and are code for a shell.
    Code(usize),
    /// Like `Words`, with `NAME=value` in front of the command.
    Assigned,
    /// It is a shell: `-c CODE`, a file, or code on its standard input.
    Shell,
    /// The value of one of its options is code; its other words are not inspected.
    Options,
    /// Like `Options` if it has such an option, otherwise like `Words`.
    OptionsOrWords(usize),
    /// It reads code from its standard input.
    Stdin,
    /// A command follows a container's name or `--`.
    Container,
    /// A command begins somewhere among its words.
    Somewhere,
    /// A command begins somewhere after `run`, `exec` or a similar verb.
    Verb,
    /// Its first operand is a program, which it may download first.
    First,
    Hash,
    Command,
    Find,
    Fd,
    Xargs,
    Parallel,
    Trap,
    Alias,
    Source,
    Git,
    /// A command follows `--`.
    Behind,
}

/// Whether the program matters by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It only times, slows down or detaches the other program: only that one matters.
    Transparent,
    /// It is judged as a command in its own right.
    Own,
}

/// One such program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapper {
    pub(super) names: &'static [&'static str],
    pub(super) style: Style,
    pub(super) weight: Weight,
    /// Letters of options that take a value.
    pub(super) short: &'static str,
    /// Long options whose value is the next word.
    pub(super) long: &'static [&'static str],
    /// Options whose value is code: `-c`, `--command`.
    pub(super) code: &'static [&'static str],
}

const fn row(names: &'static [&'static str], style: Style, weight: Weight, short: &'static str) -> Wrapper {
    Wrapper { names, style, weight, short, long: &[], code: &[] }
}

impl Wrapper {
    const fn long(mut self, long: &'static [&'static str]) -> Self {
        self.long = long;
        self
    }

    const fn code(mut self, code: &'static [&'static str]) -> Self {
        self.code = code;
        self
    }
}

use Style::{
    Alias, Assigned, Behind, Code, Command, Container, Fd, Find, First, Git, Hash, Options, OptionsOrWords,
    Parallel, Shell, Somewhere, Source, Stdin, Trap, Verb, Words, Xargs,
};
use Weight::{Own, Transparent};

/// Shells, by name.
pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "yash", "rbash", "rzsh", "fish", "csh",
    "tcsh", "posh", "lksh", "oksh", "loksh", "osh", "hush",
];

/// Every program whose command line is inspected.
pub(super) static TABLE: &[Wrapper] = &[
    row(SHELLS, Shell, Own, "oO").long(&["--rcfile", "--init-file"]),
    row(&["nu", "elvish", "xonsh", "ion"], Shell, Own, ""),
    row(&["sudo"], Assigned, Own, "ugpCRTDhrtUcl").long(&[
        "--user",
        "--group",
        "--prompt",
        "--chdir",
        "--chroot",
        "--host",
        "--role",
        "--type",
        "--other-user",
        "--close-from",
        "--command-timeout",
    ]),
    row(&["doas"], Assigned, Own, "uCa"),
    row(&["run0"], Assigned, Own, "uD").long(&[
        "--user",
        "--group",
        "--chdir",
        "--unit",
        "--property",
        "--setenv",
    ]),
    row(&["env", "genv"], Assigned, Transparent, "uCPa")
        .long(&["--unset", "--chdir"])
        .code(&["-S", "--split-string"]),
    row(&["nohup", "setsid", "chronic", "unbuffer", "catchsegv", "eatmydata"], Words(0), Transparent, ""),
    row(&["nice"], Words(0), Transparent, "n").long(&["--adjustment"]),
    row(&["ionice"], Words(0), Transparent, "cnpPu").long(&["--class", "--classdata", "--pid"]),
    row(&["time"], Words(0), Transparent, "fo").long(&["--format", "--output"]),
    // It shortens what the command prints.
    row(&["rtk"], Words(0), Transparent, ""),
    row(&["timeout"], Words(1), Transparent, "sk").long(&["--signal", "--kill-after"]),
    row(&["stdbuf"], Words(0), Transparent, "ioe").long(&["--input", "--output", "--error"]),
    row(&["chrt", "taskset"], Words(1), Transparent, "TPD"),
    row(&["caffeinate"], Words(0), Transparent, "tw"),
    row(&["exec"], Words(0), Transparent, "a"),
    row(&["builtin", "noglob", "nocorrect", "-"], Words(0), Transparent, ""),
    row(&["command"], Command, Transparent, ""),
    row(&["busybox", "toybox"], Words(0), Own, ""),
    row(&["strace", "ltrace"], Words(0), Own, "oepsSaEuPIbxX").long(&["--output", "--trace"]),
    row(
        &[
            "valgrind",
            "fakeroot",
            "firejail",
            "proxychains",
            "proxychains4",
            "torsocks",
            "rlwrap",
            "xvfb-run",
            "dbus-run-session",
            "systemd-inhibit",
            "dtach",
            "abduco",
            "cpulimit",
            "trickle",
            "lwp-request",
            "gtimeout",
            "shadowenv",
            "unshare",
            "setarch",
            "linux32",
            "linux64",
            "pkexec",
            "setpriv",
            "daemonize",
            "numactl",
            "ccache",
            "dumb-init",
            "tini",
            "prlimit",
        ],
        Words(0),
        Own,
        "uplEno",
    )
    .long(&["--user", "--uid", "--unit", "--property", "--reuid", "--regid"]),
    row(&["chroot"], Words(1), Own, "").long(&["--userspec", "--groups"]),
    row(&["gosu", "su-exec", "runas"], Words(1), Own, ""),
    row(&["nsenter"], Words(0), Own, "tSG").long(&["--target", "--setuid", "--setgid"]),
    row(&["flock"], OptionsOrWords(1), Own, "wE")
        .long(&["--timeout", "--wait", "--conflict-exit-code"])
        .code(&["-c", "--command"]),
    row(&["script"], Options, Own, "ToImBEO").code(&["-c", "--command"]),
    row(&["su"], Options, Own, "gGswT").long(&["--group", "--shell"]).code(&[
        "-c",
        "--command",
        "--session-command",
    ]),
    row(&["runuser"], OptionsOrWords(0), Own, "ugGswT").long(&["--user", "--group", "--shell"]).code(&[
        "-c",
        "--command",
        "--session-command",
    ]),
    row(&["watch"], Code(0), Own, "nqs").long(&["--interval", "--equexit"]),
    row(&["ssh", "slogin", "autossh", "mosh"], Code(1), Own, "bcDEeFIiJLlmOopQRSWwBM").code(&["-o"]),
    row(&["eval"], Code(0), Own, ""),
    row(&["at", "batch"], Stdin, Own, "qft"),
    row(&["find"], Find, Own, ""),
    row(&["fd", "fdfind"], Fd, Own, ""),
    row(&["xargs", "gxargs"], Xargs, Own, "adEILnPs").long(&[
        "--arg-file",
        "--delimiter",
        "--max-lines",
        "--max-args",
        "--max-procs",
        "--max-chars",
        "--replace",
        "--process-slot-var",
    ]),
    row(&["parallel"], Parallel, Own, "jaNnILPSX").long(&[
        "--jobs",
        "--arg-file",
        "--max-args",
        "--colsep",
        "--joblog",
        "--results",
        "--sshlogin",
        "--delay",
        "--timeout",
        "--tagstring",
        "--workdir",
    ]),
    row(&["trap"], Trap, Own, ""),
    row(&["alias"], Alias, Own, ""),
    row(&["source", "."], Source, Own, ""),
    row(&["git"], Git, Own, "Cc"),
    row(
        &["claude", "codex", "gemini", "qwen", "cursor-agent", "copilot", "amp", "teleport", "tsh"],
        Behind,
        Own,
        "",
    ),
    row(
        &[
            "docker",
            "podman",
            "nerdctl",
            "kubectl",
            "oc",
            "lxc",
            "lxc-attach",
            "docker-compose",
            "podman-compose",
            "machinectl",
            "multipass",
            "flatpak",
            "distrobox",
            "toolbox",
            "wsl",
        ],
        Container,
        Own,
        "",
    ),
    row(
        &[
            "ansible",
            "bwrap",
            "capsh",
            "chpst",
            "cmd",
            "cmd.exe",
            "dagger",
            "dotenv",
            "emacs",
            "nix-shell",
            "powershell",
            "powershell.exe",
            "pwsh",
            "screen",
            "sg",
            "start-stop-daemon",
            "systemd-run",
            "tmux",
            "xterm",
            "gnome-terminal",
            "konsole",
            "alacritty",
            "kitty",
            "urxvt",
            "wezterm",
            "pdsh",
            "clush",
            "dsh",
            "pssh",
            "parallel-ssh",
            "salt",
            "sshpass",
            "fab",
            "knife",
            "concurrently",
            "nodemon",
            "onchange",
            "chokidar",
            "cross-env",
            "cross-env-shell",
            "env-cmd",
            "dotenvx",
            "watchexec",
            "start-server-and-test",
            "shx",
            "torify",
            "faketime",
            "envdir",
            "setuidgid",
            "softlimit",
            "fakechroot",
            "ssh-agent",
            "runcon",
            "cgexec",
            "scl",
            "execlineb",
        ],
        Somewhere,
        Own,
        "",
    )
    .code(&[
        "-c",
        "--run",
        "--command",
        "-Command",
        "-command",
        "/c",
        "/C",
        "/k",
        "-a",
        "--eval",
        "--exec",
        "-e",
        "--execute",
        "-x",
    ]),
    row(
        &[
            "asdf",
            "aws-vault",
            "bundle",
            "bun",
            "conda",
            "devbox",
            "direnv",
            "doppler",
            "fnm",
            "guix",
            "hatch",
            "lerna",
            "mamba",
            "micromamba",
            "mise",
            "nix",
            "npm",
            "nvm",
            "nx",
            "op",
            "pdm",
            "perf",
            "pipenv",
            "pixi",
            "pnpm",
            "poetry",
            "pyenv",
            "rbenv",
            "rush",
            "rye",
            "turbo",
            "uv",
            "volta",
            "yarn",
        ],
        Verb,
        Own,
        "",
    )
    .code(&["-c", "--call", "--command", "--script-shell"]),
    row(&["npx", "bunx", "pnpx", "uvx", "pipx"], First, Own, "p")
        .long(&["--package", "--from", "--with"])
        .code(&["-c", "--call"]),
    row(&["hash"], Hash, Own, ""),
    row(&["tar", "gtar", "bsdtar"], Options, Own, "fCTXbgHVKNLF").code(&[
        "-I",
        "--use-compress-program",
        "--to-command",
        "--checkpoint-action",
        "--info-script",
        "--new-volume-script",
        "--rsh-command",
        "-F",
    ]),
    row(&["rsync", "scp", "sftp"], Options, Own, "TBMfioPlcJFSD").code(&[
        "-e",
        "--rsh",
        "--rsync-path",
        "-o",
    ]),
    row(&["vagrant"], Options, Own, "").code(&["-c", "--command"]),
    row(&["split"], Options, Own, "abClntN").code(&["--filter"]),
    row(&["sort"], Options, Own, "kotTS").code(&["--compress-program"]),
    row(&["rg"], Options, Own, "efgtTmABCMjr").code(&["--pre", "--hostname-bin"]),
    row(&["man"], Options, Own, "CRLmMSserTP").code(&["-P", "--pager", "-H", "--html"]),
    row(&["entr"], Words(0), Own, ""),
    row(&["zip"], Options, Own, "bnstUx").code(&["-TT", "--unzip-command"]),
    row(&["make", "gmake"], Options, Own, "CfIjloW").code(&["--eval"]),
    row(&["nmap"], Options, Own, "").code(&["--script"]),
    row(&["hyperfine"], Code(0), Own, "wrmPSpnicL"),
    row(&["expect"], Options, Own, "f").code(&["-c"]),
    row(
        &["ld.so", "ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1"],
        Words(0),
        Own,
        "",
    )
    .long(&["--library-path", "--preload", "--argv0"]),
];

/// How many names there are in the table.
const NAMES: usize = {
    let (mut count, mut row) = (0, 0);
    while row < TABLE.len() {
        count += TABLE[row].names.len();
        row += 1;
    }
    count
};

/// The rows by their names.
static BY_NAME: [Slot; NAMES] = names::sorted({
    let (mut slots, mut count, mut row) = ([(0, 0); NAMES], 0, 0);
    while row < TABLE.len() {
        let mut at = 0;
        while at < TABLE[row].names.len() {
            slots[count] = (names::hash(TABLE[row].names[at]), row as u16);
            (count, at) = (count + 1, at + 1);
        }
        row += 1;
    }
    slots
});

/// The row of a program. When two rows have its name, the later one counts.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    names::rows(&BY_NAME, name).map(|row| &TABLE[row]).filter(|row| row.names.contains(&name)).last()
}
