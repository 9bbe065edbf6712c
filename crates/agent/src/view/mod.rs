//! The screen as data, and who draws it.
//!
//! In comes the state of a session; out goes a [`View`], which hooks see (and may change) as JSON at
//! `PreViewRender` before a [`Renderer`] draws it. What hooks give back is read leniently: a screen is not worth
//! an error.

use serde::{Deserialize, Serialize};

/// What a person sees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The heading.
    pub title: String,
    /// The phase that the session is in.
    pub phase: String,
    /// What was said and done last, a line each.
    pub lines: Vec<String>,
    /// The tasks of a team, a line each.
    pub tasks: Vec<String>,
    /// What hooks decided, a line each.
    pub decisions: Vec<String>,
}

/// Draws a view.
pub trait Renderer: Send {
    /// Draws it.
    fn draw(&mut self, view: &View);
}

/// Draws nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Blind;

impl Renderer for Blind {
    fn draw(&mut self, _: &View) {}
}

/// Draws each new line once, for a stream that is not a terminal.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    drawn: usize,
}

impl<W: std::io::Write + Send> Lines<W> {
    /// Draws to this stream.
    pub fn new(out: W) -> Self {
        Self { out, drawn: 0 }
    }
}

impl<W: std::io::Write + Send> Renderer for Lines<W> {
    fn draw(&mut self, view: &View) {
        for line in view.lines.iter().skip(self.drawn) {
            // A reader that went away does not stop the agent.
            let _ = writeln!(self.out, "{line}");
        }
        self.drawn = view.lines.len().max(self.drawn);
        let _ = self.out.flush();
    }
}

impl View {
    /// The view as JSON, as hooks see it.
    #[must_use]
    pub fn to_json(&self) -> crosier::Json {
        serde_json::to_value(self).unwrap_or_default().into()
    }

    /// The view that a hook gave back.
    #[must_use]
    pub fn from_json(json: &crosier::Json) -> Option<Self> {
        serde_json::from_str(json.text()).ok()
    }
}
