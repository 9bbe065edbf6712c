//! Programs that use a key or a login without showing it: `ssh -i key host`, `openssl req -key server.key`,
//! `curl --key client.key`, `kubectl --kubeconfig file`.

use crate::shell::{Command, Effect, FileUse, Word};

/// Options of many programs, mostly servers, whose value is a key or a certificate that they work with.
const OF_SERVERS: &[&str] = &[
    "--key",
    "--cert",
    "--keyfile",
    "--certfile",
    "--key-file",
    "--cert-file",
    "--ssl-key",
    "--ssl-cert",
    "--ssl-keyfile",
    "--ssl-certfile",
    "--tls-key",
    "--tls-cert",
    "--https-key",
    "--https-cert",
    "--private-key",
    "--client-key",
    "--client-certificate",
    "--client-cert",
    "--cacert",
    "--ca-cert",
];
/// Options of openssl whose value is a key that it works with.
const OF_OPENSSL: &[&str] = &[
    "-key",
    "-inkey",
    "-signkey",
    "-CAkey",
    "-sign",
    "-signer",
    "-cert",
    "-certfile",
    "-CA",
    "-CAfile",
    "-rkey",
    "-rsigner",
    "-recip",
    "-prverify",
    "-verify",
    "-untrusted",
    "-cert_chain",
];
const OF_CURL: &[&str] = &["--key", "--cert", "-E", "--cacert", "--capath", "--proxy-key", "--proxy-cert"];
const OF_WGET: &[&str] = &["--private-key", "--certificate", "--ca-certificate"];
const OF_STORES: &[&str] = &["-keystore", "--keystore", "--ks", "-ks"];

/// Whether a command works with a key, and does nothing else with the file.
pub(super) fn is_used(command: &Command, files: &[FileUse<'_>], file: &FileUse<'_>) -> bool {
    let Some(name) = command.name() else { return false };
    let shown = file.path.show();
    let words = command.arguments();
    let has =
        |wanted: &[&str]| words.iter().any(|word| word.known().is_some_and(|word| wanted.contains(&word)));
    let is_once = || {
        file.effect == Effect::Read && files.iter().filter(|other| other.path.show() == shown).count() == 1
    };
    match name {
        "ssh" | "scp" | "sftp" | "autossh" | "mosh" => is_once() && is_value_of(words, &shown, &["-i"]),
        "ssh-add" => is_once() && words.iter().any(|word| word.show() == shown),
        // It prints a digest, or the public keys in a file.
        "ssh-keygen" => {
            let letters =
                words.iter().map(Word::head).filter(|head| head.starts_with('-') && head.len() <= 4);
            let shows_public = letters.into_iter().any(|head| head.contains(['l', 'e', 'B', 'F']));
            shows_public && !has(&["-y", "-p", "-t", "-c", "-A", "-R"])
        }
        "openssl" => openssl(words, &shown, has),
        "curl" => is_value_of(words, &shown, OF_CURL),
        "wget" => is_value_of(words, &shown, OF_WGET),
        "keytool" => {
            has(&["-list", "-printcert"]) && !has(&["-rfc"]) && is_value_of(words, &shown, OF_STORES)
        }
        "jarsigner" | "apksigner" => is_value_of(words, &shown, OF_STORES),
        "kubectl" | "oc" | "helm" | "k9s" | "stern" | "flux" | "istioctl" | "argocd" | "helmfile"
        | "kustomize" | "k3s" | "eksctl" => {
            !has(&["--raw", "--flatten"]) && is_value_of(words, &shown, &["--kubeconfig"])
        }
        "ansible" | "ansible-playbook" => is_value_of(words, &shown, &["--private-key", "--key-file"]),
        _ => file.effect == Effect::Unknown && is_value_of(words, &shown, OF_SERVERS),
    }
}

/// Whether openssl works with the key in this file, or prints only what is public in it.
fn openssl(words: &[Word], shown: &str, has: impl Fn(&[&str]) -> bool) -> bool {
    match words.first().and_then(Word::known).unwrap_or_default() {
        "rsa" | "pkey" | "ec" | "dsa" => {
            has(&["-pubout", "-pubin"]) || (has(&["-noout"]) && !has(&["-text"]))
        }
        "x509" | "req" | "crl" | "verify" => true,
        // The key is put into another file, which has a name for keys too.
        "pkcs12" => has(&["-export"]) && has(&["-out"]) || has(&["-nokeys"]),
        "dgst" | "s_client" | "s_server" | "ca" | "cms" | "smime" | "ocsp" | "ts" | "pkeyutl" | "rsautl" => {
            is_value_of(words, shown, OF_OPENSSL)
        }
        _ => false,
    }
}

/// Whether every word that names the file is the value of one of these options: `--key k`, `--key=k`.
fn is_value_of(words: &[Word], shown: &str, options: &[&str]) -> bool {
    let mut found = false;
    for (at, word) in words.iter().enumerate() {
        let text = word.show();
        let Some(front) = text.strip_suffix(shown) else { continue };
        let option = match front {
            "" => at.checked_sub(1).map(|before| words[before].show()),
            front => front.strip_suffix('=').map(|name| name.to_owned().into()),
        };
        if !option.is_some_and(|option| options.contains(&&*option)) {
            return false;
        }
        found = true;
    }
    found
}
