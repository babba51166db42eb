//! Hierarchical FABA.
