//! The interrupt of a session, such as Ctrl-C.

use std::sync::Arc;

use tokio::sync::watch;

/// Set when a person presses Ctrl-C.
#[derive(Debug, Clone)]
pub struct Interrupt {
    sender: Arc<watch::Sender<bool>>,
}

impl Default for Interrupt {
    fn default() -> Self {
        Self { sender: Arc::new(watch::Sender::new(false)) }
    }
}

impl Interrupt {
    /// Interrupts every agent of the session.
    pub fn set(&self) {
        self.sender.send_replace(true);
    }

    /// Lets agents work again, for a session that continues after an interrupt.
    pub fn clear(&self) {
        self.sender.send_replace(false);
    }

    /// Whether it is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        *self.sender.borrow()
    }

    /// Waits until it is set.
    pub async fn wait(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender is held by `self`, so it cannot be gone.
        let _ = receiver.wait_for(|set| *set).await;
    }
}
