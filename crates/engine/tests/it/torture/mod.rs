//! Hostile hooks, one behaviour per test.
