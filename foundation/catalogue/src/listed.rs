//! Every built-in discipline, once.

use crate::spec::{DisciplineSpec, Disciplines, Inside};
use fairwire_core::Discipline;
use fairwire_laws::{BadParameter, Site};

/// Implements [`DisciplineSpec`] for each listed discipline. A line has a module, its aliases, and
/// the method that returns its inner disciplines, if any.
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

fairwire_laws::with_each_law! {
    catalogue {
        crate::compose::queue placed;
        crate::compose::conditioner placed;
        crate::compose::shaper placed;
        crate::compose::prio placed;
        crate::compose::classful placed;
    }
}
