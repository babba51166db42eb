//! Every built-in discipline, once.

use crate::error::BuildError;
use crate::registry::{BuiltIn, Entry, Listed};
use crate::spec::{AnySpec, DisciplineSpec, Inside};
use core::any::Any;
use fairwire_core::Discipline;
use fairwire_laws::Site;
use fairwire_laws::about::About;
use serde::de::MapAccess;
use serde::ser::SerializeMap;

/// The same, with the error as one of the catalogue.
fn of_catalogue<E: Into<BuildError>>(
    built: Result<Box<dyn Discipline>, E>,
) -> Result<Box<dyn Discipline>, BuildError> {
    built.map_err(Into::into)
}

/// Lists each discipline of this crate once: its name, its aliases, and the module with its `ABOUT`
/// and its `Spec`, inside of which there may be others.
macro_rules! catalogue {
    ($($name:literal ($($alias:literal),*) => $($module:ident)::+ $($inside:ident)?;)+) => {
        $(
            impl DisciplineSpec for $($module)::+::Spec {
                const NAME: &'static str = $name;
                const ALIASES: &'static [&'static str] = &[$($alias),*];
                const ABOUT: About = $($module)::+::ABOUT;

                $(fn inside<'a>(&'a self, site: &Site<'a>) -> Vec<Inside<'a>> {
                    self.$inside(site).into_iter().map(|(nested, site)| (nested.choice, site)).collect()
                })?

                fn check(&self, site: &Site<'_>) -> Result<(), BuildError> {
                    $($module)::+::Spec::check(self, site)?;
                    Ok(())
                }

                fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
                    of_catalogue($($module)::+::Spec::build(self, site))
                }
            }
        )+

        impl Listed for BuiltIn {
            const ENTRIES: &'static [Entry] = &[$(Entry::of::<$($module)::+::Spec>()),+];

            fn read<'de, A: MapAccess<'de>>(
                place: usize,
                table: &mut A,
            ) -> Result<Option<Box<dyn AnySpec>>, A::Error> {
                let mut at = 0..;
                $(if at.next() == Some(place) {
                    return Ok(Some(Box::new(table.next_value::<$($module)::+::Spec>()?)));
                })+
                Ok(None)
            }

            fn write<M: SerializeMap>(
                place: usize,
                name: &str,
                spec: &dyn Any,
                map: &mut M,
            ) -> Result<bool, M::Error> {
                let mut at = 0..;
                $(if at.next() == Some(place) {
                    let spec = spec.downcast_ref::<$($module)::+::Spec>().expect("a place has one type");
                    return map.serialize_entry(name, spec).map(|()| true);
                })+
                Ok(false)
            }
        }
    };
}

catalogue! {
    "tail-drop" ("drop-tail", "fifo") => fairwire_laws::dropper::tail_drop;
    "drop-front" () => fairwire_laws::dropper::drop_front;
    "red" () => fairwire_laws::dropper::red;
    "rio" () => fairwire_laws::dropper::rio;
    "rem" () => fairwire_laws::dropper::rem;
    "blue" () => fairwire_laws::dropper::blue;
    "avq" () => fairwire_laws::dropper::avq;
    "rqm" () => fairwire_laws::dropper::rqm;
    "codel" () => fairwire_laws::dropper::codel;
    "pie" () => fairwire_laws::dropper::pie;
    "cobalt" () => fairwire_laws::dropper::cobalt;
    "dualpi2" () => fairwire_laws::compose::dual_pi2;
    "sfed" () => fairwire_laws::dropper::sfed;
    "faba" () => fairwire_laws::dropper::faba;
    "hfaba" ("hierarchical-faba") => fairwire_laws::dropper::hfaba;
    "afd-sb" () => fairwire_laws::dropper::afd::sb;
    "afd-ft" () => fairwire_laws::dropper::afd::ft;
    "afd-nft" () => fairwire_laws::dropper::afd::nft;
    "afd-exact" ("etrap") => fairwire_laws::dropper::afd::exact;
    "fred" () => fairwire_laws::dropper::fred;
    "choke" () => fairwire_laws::dropper::choke;
    "sfb" () => fairwire_laws::dropper::sfb;
    "lqd" () => fairwire_laws::dropper::lqd;
    "lqd-binned" ("bin-lqd") => fairwire_laws::dropper::lqd_binned;
    "alqd" () => fairwire_laws::dropper::alqd;
    "rnd" () => fairwire_laws::dropper::rnd;
    "drr" () => fairwire_laws::compose::fair_queueing::drr;
    "sfq-start" ("start-time-fair-queueing") => fairwire_laws::compose::fair_queueing::sfq;
    "scfq" () => fairwire_laws::compose::fair_queueing::scfq;
    "fbfq" () => fairwire_laws::compose::fair_queueing::fbfq;
    "wf2q+" () => fairwire_laws::compose::fair_queueing::wf2q_plus;
    "fq-codel" () => fairwire_laws::compose::fq_codel;
    "fq-pie" () => fairwire_laws::compose::fq_pie;
    "cake-like" () => fairwire_laws::compose::cake_like;
    "queue" () => crate::compose::queue placed;
    "conditioner" () => crate::compose::conditioner placed;
    "shaper" () => crate::compose::shaper placed;
    "prio" () => crate::compose::prio placed;
    "classful" () => crate::compose::classful placed;
}
