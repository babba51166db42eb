//! The arguments of `fairwire-gateway subscriber`, `follow` and `usage`.

use super::WhomArgs;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

pub(super) const SUBSCRIBER_EXAMPLES: &str = "\
Examples:
  fairwire-gateway subscriber set tower.toml ann addresses=10.1.0.7 class=home download_ceiling='50 Mbit/s'
  fairwire-gateway subscriber suspend tower.toml ann
  fairwire-gateway subscriber resume tower.toml ann
  fairwire-gateway subscriber remove tower.toml ann";

#[derive(Debug, Subcommand)]
pub(crate) enum SubscriberCommand {
    /// Add a subscriber, or change the given values of an existing one.
    Set {
        #[command(flatten)]
        args: SubscriberArgs,
        /// Columns of the subscriber file with their values, such as `weight=2`. An empty value,
        /// such as `mac=`, clears the column.
        #[arg(value_name = "COLUMN=VALUE", required = true, value_parser = assignment)]
        values: Vec<(String, String)>,
    },
    /// Suspend a subscriber: all its packets are lost.
    Suspend(SubscriberArgs),
    /// Give a suspended subscriber service again.
    Resume(SubscriberArgs),
    /// Remove a subscriber from the file.
    Remove(SubscriberArgs),
}

/// A subscriber.
#[derive(Debug, Args)]
pub(crate) struct SubscriberArgs {
    #[command(flatten)]
    pub whom: WhomArgs,
    /// Its name.
    pub name: String,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some(("name", _)) => Err("a subscriber keeps its name; allowed: another column".into()),
        Some((column, value)) => Ok((column.trim().to_owned(), value.trim().to_owned())),
        None => Err("allowed: COLUMN=VALUE, such as `weight=2`".into()),
    }
}

pub(super) const FOLLOW_EXAMPLES: &str = "\
Examples:
  fairwire-gateway follow tower.toml --leases /var/lib/misc/dnsmasq.leases
  fairwire-gateway follow tower.toml --leases /var/lib/kea/kea-leases4.csv --leases /var/lib/kea/kea-leases6.csv
  fairwire-gateway follow tower.toml --radius 10.0.0.1:1813 --secret-file /etc/fairwire/radius.secret";

#[derive(Debug, Args)]
pub(crate) struct FollowArgs {
    #[command(flatten)]
    pub whom: WhomArgs,
    /// A lease file of dnsmasq or of Kea; may be given several times.
    #[arg(long, value_name = "FILE", required_unless_present = "radius")]
    pub leases: Vec<PathBuf>,
    /// Answer RADIUS at this address and port: accounting gives subscribers the addresses of their
    /// sessions, and CoA changes classes and ceilings.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "secret_file", conflicts_with_all = ["leases", "once"])]
    pub radius: Option<SocketAddr>,
    /// A file with the secret that RADIUS clients share.
    #[arg(long, value_name = "FILE", requires = "radius")]
    pub secret_file: Option<PathBuf>,
    /// Read once and exit.
    #[arg(long)]
    pub once: bool,
}

pub(super) const USAGE_EXAMPLES: &str = "\
Examples:
  fairwire-gateway usage tower.toml
  fairwire-gateway usage tower.toml --out /var/lib/billing/$(date +%s).csv";

#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    #[command(flatten)]
    pub whom: WhomArgs,
    /// A file for the table instead of stdout, written completely or not at all.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
