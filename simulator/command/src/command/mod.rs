//! One file per command.

pub(crate) mod cache;
pub(crate) mod calibrate;
pub(crate) mod demo;
pub(crate) mod describe;
mod files;
pub(crate) mod gateway;
mod kept;
mod kind;
pub(crate) mod lab;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod play;
pub(crate) mod plot;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod shell;
pub(crate) mod stages;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod watch;
