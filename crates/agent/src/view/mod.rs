//! The screen as data, and its renderer.
//!
//! Input: the state of a session. Output: a [`View`], which hooks see (and may change) as JSON at
//! `PreViewRender` before a [`Renderer`] draws it. What hooks return is read leniently: a screen is not worth
//! an error.

use serde::{Deserialize, Serialize};

/// How many of the last lines of each kind a view keeps.
const MAX_LINES: usize = 500;

/// What a person sees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The heading.
    pub title: String,
    /// The phase of the session.
    pub phase: String,
    /// The last messages and actions, one line each.
    pub lines: Vec<String>,
    /// How many earlier lines were dropped.
    pub scrolled: usize,
    /// The tasks of a team, one line each.
    pub tasks: Vec<String>,
    /// The decisions of hooks, one line each.
    pub decisions: Vec<String>,
}

/// Draws a view.
pub trait Renderer: Send {
    /// Draws it.
    fn draw(&mut self, view: &View);
}

/// A renderer that draws nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct NullRenderer;

impl Renderer for NullRenderer {
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
        for line in view.lines.iter().skip(self.drawn.saturating_sub(view.scrolled)) {
            // A closed reader does not stop the agent.
            let _ = writeln!(self.out, "{line}");
        }
        self.drawn = (view.scrolled + view.lines.len()).max(self.drawn);
        let _ = self.out.flush();
    }
}

impl View {
    /// Adds a line; drops the oldest if there are too many.
    pub fn add(&mut self, line: String) {
        self.lines.push(line);
        if self.lines.len() > MAX_LINES {
            self.lines.remove(0);
            self.scrolled += 1;
        }
    }

    /// Adds a decision; drops the oldest if there are too many.
    pub fn decide(&mut self, line: String) {
        self.decisions.push(line);
        if self.decisions.len() > MAX_LINES {
            self.decisions.remove(0);
        }
    }

    /// The view as JSON, as hooks see it.
    #[must_use]
    pub fn to_json(&self) -> crosier::Json {
        serde_json::to_value(self).unwrap_or_default().into()
    }

    /// The view that a hook returned.
    #[must_use]
    pub fn from_json(json: &crosier::Json) -> Option<Self> {
        serde_json::from_str(json.text()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_drawn_once_also_when_old_ones_scroll_away() {
        let mut view = View::default();
        let mut lines = Lines::new(Vec::new());
        for number in 0..MAX_LINES + 20 {
            view.add(format!("{number}"));
            lines.draw(&view);
        }
        let drawn = String::from_utf8(lines.out).unwrap();
        let wanted: String = (0..MAX_LINES + 20).map(|number| format!("{number}\n")).collect();
        assert_eq!(drawn, wanted);
        assert_eq!((view.lines.len(), view.scrolled), (MAX_LINES, 20));
    }
}
