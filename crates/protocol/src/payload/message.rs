//! Payloads of events about prompts, answers and notifications.

use super::Base;

payloads! {
    /// A person sent a prompt.
    UserPromptSubmit {
        /// What the person wrote.
        required prompt: String,
    }

    /// A prompt is about to go to the model.
    PreMessage {
        /// What the model will get.
        required prompt: String,
        /// The model's name.
        optional model: String,
    }

    /// The model has answered.
    PostMessage {
        /// What the model wrote.
        required output: String,
        /// The model's name.
        optional model: String,
    }

    /// A person is notified.
    Notification on notification_type {
        /// What they are told.
        required message: String,
        /// A heading.
        optional title: String,
        /// What it is about.
        required notification_type: String,
    }
}
