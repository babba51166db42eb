//! A deterministic packet simulator
