//! `fairwire gateway`: a real link, and its clients.

mod check;
mod client;
mod follow;
mod radius;
mod run;
mod setup;
mod status;
mod subscriber;
mod top;
mod usage;

use crate::args::GatewayCommand;
use crate::failure::{Ending, Failure};
use fairwire_gateway::control::protocol::{RateStep, Request};

/// Runs the command.
pub(crate) fn gateway(command: GatewayCommand) -> Result<Ending, Failure> {
    match command {
        GatewayCommand::Check(args) => check::check(&args),
        GatewayCommand::Setup(args) => setup::setup(&args),
        GatewayCommand::Run { configs, wait, take_over, no_seccomp } => {
            run::run(&configs, run::How { wait, take_over, no_seccomp })
        }
        GatewayCommand::Reload { whom } => client::reload(&whom),
        GatewayCommand::SetWeight { whom, name, weight } => {
            client::carry_out(&whom, &Request::SetWeight { class: name, weight })
        }
        GatewayCommand::SetRate { whom, way, rate, down } => {
            let step = |after_ms, bps| RateStep { after_ms, bps };
            let begin = down.map_or(0.0, |down| down.seconds() * 1e3);
            let none = (begin > 0.0).then(|| step(0.0, 0));
            let steps = none.into_iter().chain([step(begin, rate.bps())]).collect();
            client::carry_out(&whom, &Request::SetRate { way, steps })
        }
        GatewayCommand::Usage(args) => usage::usage(&args),
        GatewayCommand::Follow(args) => follow::follow(&args),
        GatewayCommand::Subscriber(command) => subscriber::subscriber(&command),
        GatewayCommand::Status { whom, format, flows: Some(flows), .. } => {
            status::counts(&whom, format, flows)
        }
        GatewayCommand::Status { whom, format, classes, flows: None } => {
            status::status(&whom, format, classes)
        }
        GatewayCommand::Top(args) => top::top(&args),
        GatewayCommand::Capture { whom, out } => client::capture(&whom, &out),
    }
}

/// Watches over a gateway.
pub(crate) fn guard(charge: &str) -> Ending {
    Ending::Agent(fairwire_gateway::service::guard_main(charge) as u8)
}
