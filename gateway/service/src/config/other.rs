//! Builds a discipline other than the one in use, to replay arrivals.

use super::discipline::share_between_hosts;
use super::shaping::{Chosen, Shaping};
use super::{Config, PlanContext};
use fairwire_catalogue::{self as catalogue, BuildError};
use fairwire_core::{Discipline, Rate};
use fairwire_datapath::classify::FlowKind;
use fairwire_laws::part::ClassSupport;
use fairwire_wire::Way;

/// A discipline built as if a direction used it.
pub struct OtherDiscipline {
    /// The discipline.
    pub discipline: Box<dyn Discipline>,
    /// The link's rate.
    pub rate: Rate,
    /// Does the discipline share between hosts first, then between each host's conversations?
    pub within: bool,
}

impl Config {
    /// Builds the discipline `name` as if `way` used it, with the link, buffer, classes and
    /// parameters of this configuration. Returns `None` if the direction is not shaped.
    ///
    /// A discipline that does not support these classes gets no classes. A discipline that supports
    /// neither guarantees nor ceilings gets only the weights.
    ///
    /// # Errors
    /// There is no such discipline, or it cannot work on this link.
    pub fn other_discipline(
        &self,
        way: Way,
        name: &str,
        context: &PlanContext,
    ) -> Result<Option<OtherDiscipline>, BuildError> {
        let Some(shaping) = self.shaping(way) else { return Ok(None) };
        let discipline = catalogue::find(name)?.name;
        let is_same = discipline == shaping.discipline;
        let parameters = if is_same { shaping.parameters.clone() } else { self.spec().discipline.clone() };
        let has_classes = self.book().len() > 1;
        let is_nested = self.book().iter().any(|(_, class)| class.parent.is_some());
        let chosen = Chosen { discipline, parameters: &parameters, is_own: false };
        let sharing = match chosen.classes() {
            ClassSupport::Queues => ClassSupport::Queues,
            ClassSupport::Weights if is_nested => ClassSupport::None,
            sharing if has_classes => sharing,
            _ => ClassSupport::None,
        };
        let within = match sharing {
            ClassSupport::Queues => shaping.within,
            _ if has_classes || shaping.flows == FlowKind::FiveTuple => false,
            _ => share_between_hosts(discipline, &mut parameters.clone()),
        };
        let other = Shaping { discipline, sharing, within, parameters, ..shaping.clone() };
        let plan = self.discipline_plan(&other, way, context.frame_bytes, context.seed);
        Ok(Some(OtherDiscipline { discipline: plan.build()?, rate: shaping.rate, within }))
    }
}
