//! Integration tests of the laws, in one binary, since each binary links all dependencies again.

mod afd;
mod beside;
mod compose;
mod conformance;
mod fate;
mod inside;
mod modern;
mod pushout;
mod rates;
mod red;
mod retune;
mod schedulers;
mod set_weight;
mod site;
mod tokens;

use site::{Typed, built, site};
