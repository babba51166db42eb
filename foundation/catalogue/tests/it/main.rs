//! Integration tests of the disciplines: one binary, since each would be linked with everything
//! again.

mod afd;
mod compose;
mod conformance;
mod fuzz;
mod modern;
mod parameters;
mod pushout;
mod rates;
mod red;
mod reference;
mod retune;
mod schedulers;
mod set_weight;
mod tokens;
