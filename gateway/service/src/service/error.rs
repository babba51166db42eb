//! Why a gateway does not start or cannot continue.

use crate::sites::ServeError;
use fairwire_catalogue::BuildError;
use fairwire_document::DocumentError;
use fairwire_linux::port::PortError;

/// Why a gateway did not start or could not continue.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Another process already holds the name or the interface.
    #[error("{what} is taken by {holder}")]
    Taken {
        /// The taken item: the name of a gateway, or an interface.
        what: String,
        /// The process that holds the item.
        holder: String,
    },
    /// This machine cannot do what the configuration requires, or a file named in the configuration
    /// cannot be read.
    #[error(transparent)]
    Unfit(#[from] DocumentError),
    /// The system refused because rights are missing.
    #[error("this process may not do this: {operation}: {source}")]
    NoRights {
        /// The attempted operation.
        operation: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The discipline could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Metrics or the page cannot be served.
    #[error(transparent)]
    Serve(ServeError),
    /// The running process keeps the link.
    #[error("the gateway that runs was not taken over, and forwards as before: {message}")]
    NotHandedOver {
        /// Why.
        message: String,
    },
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// An operation that normally works has failed.
    #[error("{operation}: {source}")]
    System {
        /// The attempted operation.
        operation: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl ServiceError {
    /// Can the user correct the fault, in the configuration or on the machine?
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

    /// If this process was to take over (`is_heir`), turns a port's error into an error which says
    /// that the running process continues.
    pub(super) fn or_not_handed_over(self, is_heir: bool) -> Self {
        match self {
            ServiceError::Port(error) if is_heir => {
                ServiceError::NotHandedOver { message: error.to_string() }
            }
            other => other,
        }
    }

    /// The error for `source` at `operation`. Missing rights have a separate variant.
    pub fn system(operation: impl Into<String>, source: impl Into<std::io::Error>) -> Self {
        let (operation, source) = (operation.into(), source.into());
        match source.kind() {
            std::io::ErrorKind::PermissionDenied => ServiceError::NoRights { operation, source },
            _ => ServiceError::System { operation, source },
        }
    }
}
