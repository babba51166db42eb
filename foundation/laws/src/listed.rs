//! Every law, once.

/// Calls the macro `$with` with all disciplines, followed by `$others`. An entry is a module and,
/// in brackets, the discipline's aliases. Users see the disciplines in this order.
#[doc(hidden)]
#[macro_export]
macro_rules! with_each_law {
    ($with:ident { $($others:tt)* }) => {
        $with! {
            $crate::dropper::tail_drop ("drop-tail", "fifo");
            $crate::dropper::policer;
            $crate::dropper::drop_front;
            $crate::dropper::red;
            $crate::dropper::rio;
            $crate::dropper::step;
            $crate::dropper::rem;
            $crate::dropper::blue;
            $crate::dropper::avq;
            $crate::dropper::rqm;
            $crate::dropper::codel;
            $crate::dropper::pie;
            $crate::dropper::cobalt;
            $crate::compose::dual_pi2;
            $crate::dropper::sfed;
            $crate::dropper::faba;
            $crate::dropper::hfaba ("hierarchical-faba");
            $crate::dropper::afd::sb;
            $crate::dropper::afd::ft;
            $crate::dropper::afd::nft;
            $crate::dropper::afd::exact ("etrap");
            $crate::dropper::fred;
            $crate::dropper::choke;
            $crate::dropper::sfb;
            $crate::dropper::lqd;
            $crate::dropper::lqd_binned ("bin-lqd");
            $crate::dropper::alqd;
            $crate::dropper::rnd;
            $crate::compose::fair_queueing::drr;
            $crate::compose::fair_queueing::sfq ("start-time-fair-queueing");
            $crate::compose::fair_queueing::scfq;
            $crate::compose::fair_queueing::fbfq;
            $crate::compose::fair_queueing::wf2q_plus;
            $crate::compose::fq_codel;
            $crate::compose::fq_pie;
            $crate::compose::cake_like;
            $($others)*
        }
    };
}
