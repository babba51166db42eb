//! Integration tests of the laws: one binary, since each would be linked with everything again.

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
