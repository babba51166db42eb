//! The token-bucket family: FABA, SFED and hierarchical FABA.

mod faba;
