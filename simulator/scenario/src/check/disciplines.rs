//! Checks the disciplines compared, the disciplines of single links, and their parameters.

use super::{Check, Checked};
use crate::build;
use crate::compared::Compared;
use crate::fault::{Fault, refused, unknown};
use crate::topology::Topology;
use fairwire_catalogue as catalogue;
use fairwire_catalogue::{BadParameter, BuildError, UnknownDiscipline};
use fairwire_document::shortened;

const A_DROPPER: &str = "a scheduler and a dropper, such as `drr+faba`; or a discipline alone";

impl Check<'_> {
    pub(super) fn compared(&self, topology: &Topology) -> Checked {
        let compared = &self.spec.disciplines;
        if compared.is_empty() {
            let allowed = "at least one name, see `fairwire list disciplines`";
            return Err(refused("disciplines", "empty", "a run needs at least one discipline", allowed));
        }
        let places = topology.compared_places();
        for (at, compared) in compared.iter().enumerate() {
            let path = format!("disciplines.{at}");
            self.named(&path, compared)?;
            for queue in &places {
                self.parameters(&path, compared, topology, *queue)?;
            }
            self.label(at, compared)?;
        }
        Ok(())
    }

    pub(super) fn disciplines(&self, topology: &Topology) -> Checked {
        self.compared(topology)?;
        for (at, queue) in topology.queues.iter().enumerate() {
            let Some(own) = &queue.own else { continue };
            let path = format!("{}.discipline", queue.path);
            self.named(&path, own)?;
            if own.label.is_some() {
                let why = "only disciplines that are compared have labels";
                return Err(refused(format!("{path}.label"), "given", why, "leave it out"));
            }
            self.parameters(&path, own, topology, at)?;
        }
        self.base(topology)
    }

    /// Checks the `[discipline.<name>]` tables, including overridden values.
    fn base(&self, topology: &Topology) -> Checked {
        let of_queues = topology.queues.iter().filter_map(|queue| queue.own.as_ref());
        let uses = self.own.iter().chain(of_queues);
        match build::check_base(self.spec, topology, uses.map(|compared| &compared.choice)) {
            Err(BuildError::Parameter(bad)) => {
                let path = format!("discipline.{}", bad.path());
                self.cannot_work(&path, bad)
            }
            Err(BuildError::Unknown(_)) | Ok(()) => Ok(()), // the names were already read
        }
    }

    fn named(&self, path: &str, compared: &Compared) -> Checked {
        catalogue::find(compared.name()).map_err(|_| self.unknown_discipline(path, compared.name()))?;
        Ok(())
    }

    /// Checks that each label is unique, because results and expectations refer to disciplines by
    /// label.
    fn label(&self, at: usize, compared: &Compared) -> Checked {
        let label = compared.label();
        let key = if compared.label.is_some() { ".label" } else { "" };
        let path = format!("disciplines.{at}{key}");
        let refuse = |why, allowed| Err(refused(&path, format!("`{}`", shortened(label)), why, allowed));
        let own_name = catalogue::find(compared.name()).map_or("", |entry| entry.name);
        if label != own_name {
            self.name(&path, label)?;
            if catalogue::find(label).is_ok() {
                let why = format!("that names another discipline, not `{own_name}`");
                return refuse(why, "a label that is no other discipline's name");
            }
        }
        if let Some(other) = self.spec.disciplines[..at].iter().find(|other| other.label() == label) {
            let alias = [compared, other].into_iter().find(|one| one.label.is_none() && one.name() != label);
            let why = match alias {
                Some(one) => format!("`{}` is another name of `{label}`, already listed", one.name()),
                None => "that name is already listed".to_owned(),
            };
            return refuse(why, "each discipline once, or each time with a different `label`");
        }
        Ok(())
    }

    pub(super) fn unknown_discipline(&self, path: &str, name: &str) -> Fault {
        if let Err(UnknownDiscipline { given, why: Some(why), .. }) = catalogue::find(name) {
            return refused(path, format!("`{given}`"), why, A_DROPPER);
        }
        let labels = self.own.iter().filter_map(|compared| compared.label.as_deref());
        unknown(path, "discipline", name, labels.chain(catalogue::allowed(name)).map(Into::into).collect())
    }

    /// Checks the discipline's parameters, so a run cannot fail because of them.
    fn parameters(&self, path: &str, compared: &Compared, topology: &Topology, at: usize) -> Checked {
        let has_own = compared.choice.parameters().is_some();
        if let Ok(Some(buffer)) =
            catalogue::own_buffer(compared.name(), &compared.parameters(&self.spec.discipline))
        {
            let key = catalogue::find(compared.name()).map_or("", |entry| entry.key);
            let table =
                if has_own { format!("{path}.{}", compared.name()) } else { format!("discipline.{key}") };
            self.memory(&format!("{table}.buffer"), buffer, &topology.queues[at])?;
        }
        match build::check_discipline(self.spec, topology, at, compared) {
            Ok(()) => Ok(()),
            Err(BuildError::Unknown(_)) => Err(self.unknown_discipline(path, compared.name())),
            Err(BuildError::Parameter(bad)) => {
                let path = match has_own {
                    true => format!("{path}.{}", compared.choice.path_of(&bad)),
                    false => format!("discipline.{}", bad.path()),
                };
                self.cannot_work(&path, bad)
            }
        }
    }

    fn cannot_work(&self, path: &str, bad: BadParameter) -> Checked {
        let why = format!("`{}` does not accept that", bad.discipline);
        Err(refused(path, bad.given, why, bad.allowed))
    }
}
