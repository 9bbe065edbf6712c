//! Async callbacks and services: the same wherever they are fired, also when they use a socket and a timer.

use std::future::Future;
use std::net::TcpListener;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::{Answer, BoxFuture, Engine, FailureKind, Hook, Outcome, Reply, Service, ServiceCall};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

/// A server that accepts and says nothing.
fn server() -> (TcpListener, std::net::SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn connect_and_deny(address: std::net::SocketAddr) -> Reply {
    tokio::time::sleep(Duration::from_millis(1)).await;
    let connected = TcpStream::connect(address).await.is_ok();
    let spawned = tokio::spawn(async { 7 }).await.unwrap();
    Reply::deny(format!("connected: {connected}, spawned: {spawned}"))
}

struct Endpoint(std::net::SocketAddr);

impl Service for Endpoint {
    fn kind(&self) -> &'static str {
        "endpoint"
    }
    fn call(&self, call: ServiceCall<'_>) -> BoxFuture {
        assert!(call.deadline > std::time::Instant::now());
        let address = self.0;
        Box::pin(async move { Answer::from(connect_and_deny(address).await) })
    }
}

fn engine(address: std::net::SocketAddr, as_service: bool) -> Engine {
    let hook = Hook::on(PreToolUse).named("guard").timeout(Duration::from_secs(30));
    let hook = match as_service {
        true => hook.service(Endpoint(address)),
        false => hook.async_callback(move |_| connect_and_deny(address)),
    };
    Engine::builder().hook(hook).build().unwrap()
}

/// Polls without any runtime.
fn poll_alone<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

#[test]
fn a_callback_that_uses_a_socket_denies_wherever_it_is_fired() {
    let (_listener, address) = server();
    for as_service in [false, true] {
        let engine = engine(address, as_service);
        let fire = || engine.fire(PreToolUse::default());
        let full = Builder::new_current_thread().enable_all().build().unwrap();
        let no_io = Builder::new_current_thread().enable_time().build().unwrap();
        let no_time = Builder::new_current_thread().enable_io().build().unwrap();
        let bare = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let ways: [(&str, &dyn Fn() -> Outcome); 8] = [
            ("blocking", &|| engine.fire_blocking(PreToolUse::default())),
            ("blocking inside", &|| full.block_on(async { engine.fire_blocking(PreToolUse::default()) })),
            ("blocking inside bare", &|| {
                bare.block_on(async { engine.fire_blocking(PreToolUse::default()) })
            }),
            ("full", &|| full.block_on(fire())),
            ("no io", &|| no_io.block_on(fire())),
            ("no time", &|| no_time.block_on(fire())),
            ("bare", &|| bare.block_on(fire())),
            ("none", &|| poll_alone(fire())),
        ];
        for (name, way) in ways {
            for _ in 0..3 {
                let outcome = way();
                assert!(outcome.is_denied(), "{name}: {outcome:?}");
                assert_eq!(outcome.reason.as_deref(), Some("connected: true, spawned: 7"), "{name}");
            }
        }
    }
}

#[test]
fn the_deadline_of_a_callback_holds_wherever_it_is_fired() {
    let hook = |name: &str| Hook::on(PreToolUse).named(name.to_owned()).timeout(Duration::from_millis(20));
    let engine = Engine::builder()
        .hook(hook("async").async_callback(|_| std::future::pending::<Reply>()))
        .hook(hook("blocking").blocking_callback(|_| {
            std::thread::sleep(Duration::from_secs(2));
            Reply::none()
        }))
        .build()
        .unwrap();
    let bare = Builder::new_current_thread().build().unwrap();
    let ways: [&dyn Fn() -> Outcome; 3] = [
        &|| engine.fire_blocking(PreToolUse::default()),
        &|| bare.block_on(engine.fire(PreToolUse::default())),
        &|| poll_alone(engine.fire(PreToolUse::default())),
    ];
    for way in ways {
        let outcome = way();
        let kinds: Vec<_> = outcome.failures().map(|(_, failure)| failure.kind).collect();
        assert_eq!(kinds, [FailureKind::Timeout, FailureKind::Timeout], "{outcome:?}");
    }
}

#[test]
fn a_service_is_named_by_its_kind_and_its_panic_is_a_failure() {
    struct Broken;
    impl Service for Broken {
        fn kind(&self) -> &'static str {
            "broken"
        }
        fn call(&self, _: ServiceCall<'_>) -> BoxFuture {
            panic!("not today")
        }
    }
    let hook = Hook::on(PreToolUse).named("guard").on_error(crosier::OnError::Abort).service(Broken);
    let engine = Engine::builder().hook(hook).build().unwrap();
    assert_eq!(engine.entries()[0].type_word(), "broken");
    let outcome = engine.fire_blocking(PreToolUse::default());
    assert!(outcome.is_denied() && outcome.by_failure, "{outcome:?}");
    assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Panic);
}
