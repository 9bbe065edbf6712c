#[test]
fn show() {
    let loaded = crate::config::Loader::new(Default::default()).file("/tmp/arma/crosier.yaml").load();
    match loaded {
        Ok(config) => println!("{}", config.warnings),
        Err(problems) => println!("{problems}"),
    }
}
