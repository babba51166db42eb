//! Why a gateway does not start, or cannot go on.

use crate::sites::ServeError;
use fairwire_catalogue::BuildError;
use fairwire_document::DocumentError;
use fairwire_linux::port::PortError;

/// Why a gateway did not start, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Another process has it already.
    #[error("{what} is taken by {holder}")]
    Taken {
        /// What is taken: the name of a gateway, an interface.
        what: String,
        /// The process that has it.
        holder: String,
    },
    /// This machine cannot do what the configuration requires, or a file that it names cannot be
    /// read.
    #[error(transparent)]
    Unfit(#[from] DocumentError),
    /// The system refused for want of rights.
    #[error("this process may not do this: {operation}: {source}")]
    NoRights {
        /// What was tried.
        operation: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The discipline could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Metrics or the page cannot be served.
    #[error(transparent)]
    Serve(ServeError),
    /// The process that runs keeps the link.
    #[error("the gateway that runs was not taken over, and forwards as before: {message}")]
    NotHandedOver {
        /// Why.
        message: String,
    },
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The system failed at something that ought to work.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl ServiceError {
    /// Can the user correct it, in the configuration or on the machine? Else it is our fault, or
    /// the machine's.
    pub fn is_users(&self) -> bool {
        !matches!(self, ServiceError::System { .. } | ServiceError::Port(_))
    }

    /// The remedy, in a sentence.
    pub fn remedy(&self) -> String {
        match self {
            ServiceError::Taken { .. } => {
                "two gateways cannot share a name, a socket or an interface: stop the other one \
                                           (SIGTERM), or give this one its own"
                    .into()
            }
            ServiceError::Unfit(error) => error.problem.advice().unwrap_or_default(),
            ServiceError::NoRights { .. } => {
                "run it as root, or with the capabilities CAP_NET_ADMIN and CAP_NET_RAW and a \
                                              folder for its socket (the systemd unit gives them)"
                    .into()
            }
            ServiceError::NotHandedOver { .. } => {
                "`fairwire-gateway reload` changes what needs no restart; for anything else stop the gateway and start it".into()
            }
            ServiceError::Build(_) => "the page of each discipline in docs/reference has its parameters".into(),
            ServiceError::Serve(_) => {
                "`telemetry.metrics` and `telemetry.page.address` take an address of this machine and a port that is free".into()
            }
            ServiceError::Port(_) => "see `ip link` for the state of the interface".into(),
            ServiceError::System { .. } => "this is a fault of fairwire or of this machine".into(),
        }
    }

    /// The same, or for a process that takes over (`is_heir`) that the one which runs goes on.
    pub(super) fn or_not_handed_over(self, is_heir: bool) -> Self {
        match self {
            ServiceError::Port(error) if is_heir => {
                ServiceError::NotHandedOver { message: error.to_string() }
            }
            other => other,
        }
    }

    /// The error for `source` at `operation`; missing rights have a variant of their own.
    pub fn system(operation: impl Into<String>, source: impl Into<std::io::Error>) -> Self {
        let (operation, source) = (operation.into(), source.into());
        match source.kind() {
            std::io::ErrorKind::PermissionDenied => ServiceError::NoRights { operation, source },
            _ => ServiceError::System { operation, source },
        }
    }
}
