//! One file per command.

pub mod cache;
pub mod calibrate;
pub mod completions;
pub mod demo;
pub mod describe;
pub mod gateway;
pub mod lab;
pub mod list;
pub mod man;
pub mod reproduce;
pub mod run;
pub mod schema;
pub mod trace;
