//! Every built-in discipline, once.

use crate::spec::{DisciplineSpec, Disciplines, Inside};
use fairwire_core::Discipline;
use fairwire_laws::{BadParameter, Site};

/// Lists each discipline of this crate once: the module with its `ABOUT` and its `Spec`, its
/// aliases, and the method that has the disciplines inside of it, where there may be any.
macro_rules! catalogue {
    ($($($module:ident)::+ $(($($alias:literal),+))? $($inside:ident)?;)+) => {
        $(
            impl DisciplineSpec for $($module)::+::Spec {
                $(fn inside<'a>(&'a self, site: &Site<'a>) -> Vec<Inside<'a>> {
                    self.$inside(site).into_iter().map(|(nested, site)| (nested.choice, site)).collect()
                })?

                fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
                    $($module)::+::Spec::check(self, site).map(drop)
                }

                fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
                    $($module)::+::Spec::build(self, site)
                }
            }
        )+

        fairwire_parameters::parts! { Disciplines: $($($module)::+ => Spec $(($($alias),+))?;)+ }
    };
}

catalogue! {
    fairwire_laws::dropper::tail_drop ("drop-tail", "fifo");
    fairwire_laws::dropper::policer;
    fairwire_laws::dropper::drop_front;
    fairwire_laws::dropper::red;
    fairwire_laws::dropper::rio;
    fairwire_laws::dropper::step;
    fairwire_laws::dropper::rem;
    fairwire_laws::dropper::blue;
    fairwire_laws::dropper::avq;
    fairwire_laws::dropper::rqm;
    fairwire_laws::dropper::codel;
    fairwire_laws::dropper::pie;
    fairwire_laws::dropper::cobalt;
    fairwire_laws::compose::dual_pi2;
    fairwire_laws::dropper::sfed;
    fairwire_laws::dropper::faba;
    fairwire_laws::dropper::hfaba ("hierarchical-faba");
    fairwire_laws::dropper::afd::sb;
    fairwire_laws::dropper::afd::ft;
    fairwire_laws::dropper::afd::nft;
    fairwire_laws::dropper::afd::exact ("etrap");
    fairwire_laws::dropper::fred;
    fairwire_laws::dropper::choke;
    fairwire_laws::dropper::sfb;
    fairwire_laws::dropper::lqd;
    fairwire_laws::dropper::lqd_binned ("bin-lqd");
    fairwire_laws::dropper::alqd;
    fairwire_laws::dropper::rnd;
    fairwire_laws::compose::fair_queueing::drr;
    fairwire_laws::compose::fair_queueing::sfq ("start-time-fair-queueing");
    fairwire_laws::compose::fair_queueing::scfq;
    fairwire_laws::compose::fair_queueing::fbfq;
    fairwire_laws::compose::fair_queueing::wf2q_plus;
    fairwire_laws::compose::fq_codel;
    fairwire_laws::compose::fq_pie;
    fairwire_laws::compose::cake_like;
    crate::compose::queue placed;
    crate::compose::conditioner placed;
    crate::compose::shaper placed;
    crate::compose::prio placed;
    crate::compose::classful placed;
}
