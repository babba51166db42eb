//! Laws on rates and on overflow: RQM, REM, BLUE, AVQ and SFB, each beside a second, straight-line
//! reading of its paper.

mod avq;
mod beside;
mod blue;
mod rem;
mod rqm;
mod sfb;
