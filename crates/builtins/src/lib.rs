//! Ready-made hooks for Crosier, and its permission rules.

pub mod shell;
