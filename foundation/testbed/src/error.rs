//! The errors of a test bed.

use fairwire_linux::port::PortError;
use serde::{Deserialize, Serialize};

/// The failure to build a network, or the failure of its hosts.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// This process may not create network namespaces or packet sockets.
    #[error(
        "this process may not make network namespaces ({operation}: {reason}). Allowed: running as root; or as any user \
         where the kernel lets users make namespaces (on Debian and Ubuntu: sysctl kernel.unprivileged_userns_clone=1, \
         kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces and user.max_net_namespaces above 0); or in a container started \
         with --privileged, or with --cap-add SYS_ADMIN --cap-add NET_ADMIN --cap-add NET_RAW and a seccomp profile that \
         permits unshare"
    )]
    NoRights {
        /// The refused operation.
        operation: String,
        /// The system's message.
        reason: String,
    },
    /// The kernel has no virtual Ethernet pairs.
    #[error("this kernel has no virtual Ethernet pairs ({reason}); needed: the module `veth` (CONFIG_VETH)")]
    NoVeth {
        /// The system's message.
        reason: String,
    },
    /// A helper process failed unexpectedly.
    #[error("the lab's {role} could not go on: {operation}: {reason}")]
    Helper {
        /// The helper: `network`, `source` or `sink`.
        role: String,
        /// The operation that failed.
        operation: String,
        /// The system's message.
        reason: String,
    },
    /// A helper process ended early.
    #[error("a helper process of the lab ended before its time ({status})")]
    HelperEnded {
        /// How.
        status: String,
    },
    /// The helper processes could not be started or reached.
    #[error("{operation}: {source}")]
    System {
        /// The operation tried.
        operation: &'static str,
        /// The cause.
        source: std::io::Error,
    },
}

/// A helper's failure, as sent to its parent process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// The type of the error.
    pub kind: TroubleKind,
    /// The operation that failed.
    pub operation: String,
    /// The system's message.
    pub reason: String,
}

/// The type of error that a [`Trouble`] becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TroubleKind {
    /// This process lacks the rights.
    NoRights,
    /// The kernel has no virtual Ethernet pairs.
    NoVeth,
    /// Anything else.
    Other,
}

impl std::error::Error for Trouble {}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.operation, self.reason)
    }
}

impl Trouble {
    /// The failure of `operation` with `error`. Recognizes a lack of rights.
    pub fn new(operation: impl Into<String>, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied => TroubleKind::NoRights,
            _ => TroubleKind::Other,
        };
        Trouble { kind, operation: operation.into(), reason: error.to_string() }
    }

    /// The failure of a kernel that has no virtual Ethernet pairs.
    pub fn no_veth(error: &std::io::Error) -> Self {
        Trouble { kind: TroubleKind::NoVeth, ..Trouble::new("making a virtual Ethernet pair", error) }
    }

    /// This failure, reported as a lack of rights.
    pub fn for_want_of_rights(self) -> Self {
        Trouble { kind: TroubleKind::NoRights, ..self }
    }

    /// Adds `first`, the error that occurred without a user namespace. Both causes may need repair.
    pub fn after(self, first: &std::io::Error) -> Self {
        Trouble { reason: format!("{}; without one: {first}", self.reason), ..self }
    }

    /// The error to report for this failure of the helper `role`.
    pub fn into_error(self, role: &str) -> TestbedError {
        let Trouble { kind, operation, reason } = self;
        match kind {
            TroubleKind::NoRights => TestbedError::NoRights { operation, reason },
            TroubleKind::NoVeth => TestbedError::NoVeth { reason },
            TroubleKind::Other => TestbedError::Helper { role: role.to_owned(), operation, reason },
        }
    }
}

impl From<PortError> for Trouble {
    fn from(error: PortError) -> Self {
        match error {
            PortError::System { operation, source, name } => {
                Trouble::new(format!("{operation} on interface {name}"), &source)
            }
            gone @ PortError::Gone { .. } => {
                Trouble::new("using a packet socket", &std::io::Error::other(gone.to_string()))
            }
        }
    }
}

/// Names the operation that the system refused.
pub trait During<T> {
    /// The value, or a failure with `operation` and the system's message.
    fn during(self, operation: &str) -> Result<T, Trouble>;
}

impl<T, E: Into<std::io::Error>> During<T> for Result<T, E> {
    fn during(self, operation: &str) -> Result<T, Trouble> {
        self.map_err(|error| Trouble::new(operation, &error.into()))
    }
}
