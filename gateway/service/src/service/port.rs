//! A port of a running gateway. It survives the removal of its interface, and takes in nothing
//! while the gateway may not forward.

use super::heartbeat::Heartbeat;
use super::links::LinkView;
use crate::telemetry::PortState;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{LinkKind, Outgoing, Port, PortError, PortHealth, Refused, Take, Transmit};
use std::cell::{Cell, RefCell};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

pub(super) type Open<P> = Box<dyn FnMut(&str) -> Result<P, PortError>>;

/// State shared by the ports and the driver's watcher, which run on one thread.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub heartbeat: Option<Heartbeat>,
    /// True if the gateway is about to end. The ports then take in nothing.
    pub is_ending: bool,
}

pub(super) struct LivePort<P> {
    name: String,
    kind: LinkKind,
    port: Option<P>,
    open: Open<P>,
    /// A descriptor on which nothing arrives, to poll while there is no port.
    nothing: OwnedFd,
    gone_since: Time,
    try_at: Time,
    look_at: Time,
    patience: Option<Duration>,
    /// Does the port's queue hold frames that arrived while the gateway could not forward?
    is_stale: bool,
    /// The sum of the counts of all earlier interfaces, and how often an interface was lost.
    past: PortHealth,
    link: Arc<LinkView>,
    state: Rc<Cell<PortState>>,
    common: Rc<RefCell<Common>>,
}

const RETRY: Duration = Duration::from_ms(100);
/// After a batch of fewer frames, the queue is empty. Every back end has a larger batch size.
const SHORT_BATCH: u32 = 16;
const LOOK: Duration = Duration::from_ms(100);

impl<P: Port> LivePort<P> {
    /// A port on the open interface `name`, whose state is in `link`. If the interface disappears,
    /// the port retries `open` for at most `patience`.
    pub(super) fn new(
        name: &str,
        port: P,
        open: Open<P>,
        patience: Option<Duration>,
        link: Arc<LinkView>,
        common: Rc<RefCell<Common>>,
    ) -> Result<Self, std::io::Error> {
        let nothing = rustix::net::socket_with(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::DGRAM,
            rustix::net::SocketFlags::CLOEXEC,
            None,
        )?;
        let state = PortState { is_up: link.is_up(), ..PortState::default() };
        Ok(LivePort {
            name: name.to_owned(),
            kind: port.link_kind(),
            port: Some(port),
            open,
            nothing,
            gone_since: Time::ZERO,
            try_at: Time::ZERO,
            look_at: Time::ZERO,
            patience,
            is_stale: false,
            past: PortHealth::default(),
            link,
            state: Rc::new(Cell::new(state)),
            common,
        })
    }

    pub(super) fn state(&self) -> Rc<Cell<PortState>> {
        self.state.clone()
    }

    fn lose(&mut self, now: Time) {
        self.past = self.health();
        self.past.outages += 1;
        self.port = None;
        (self.gone_since, self.try_at) = (now, now + RETRY);
        self.take_note();
    }

    fn reopen(&mut self, now: Time) -> Result<(), PortError> {
        if self.patience.is_some_and(|patience| now.since(self.gone_since) >= patience) {
            return Err(PortError::Gone { name: self.name.clone() });
        }
        if now >= self.try_at {
            self.try_at = now + RETRY;
            // If this fails, the interface is missing or not ready. The next attempt may succeed.
            if let Ok(port) = (self.open)(&self.name) {
                self.port = Some(port);
                self.take_note();
            }
        }
        Ok(())
    }

    /// Reads the kernel's loss counters. This costs a system call, so it is done at most once per
    /// [`LOOK`].
    fn look(&mut self, now: Time) {
        if now >= self.look_at {
            self.look_at = now + LOOK;
            self.take_note();
        }
    }

    /// Updates the port's state. The outages come from `link`, which also counts outages that
    /// affected no packet.
    fn take_note(&mut self) {
        let health = PortHealth { outages: self.link.outages(), ..self.health() };
        self.state.set(PortState { health, is_up: self.port.is_some() && self.link.is_up() });
    }
}

impl<P: Port> Port for LivePort<P> {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        let now = clock::now();
        let may_forward = {
            let mut common = self.common.borrow_mut();
            let is_ending = common.is_ending;
            common.heartbeat.as_mut().is_none_or(|heartbeat| heartbeat.may_forward(now)) && !is_ending
        };
        let Some(port) = &mut self.port else {
            self.look(now);
            return self.reopen(now);
        };
        self.is_stale |= !may_forward;
        let is_stale = self.is_stale;
        let mut count = 0_u32;
        let received = port.receive(&mut |frame, vnet| {
            count += 1;
            if !is_stale {
                take(frame, vnet);
            }
        });
        self.is_stale = !may_forward || is_stale && count >= SHORT_BATCH;
        match received {
            Err(PortError::Gone { .. }) => self.lose(now),
            outcome => outcome?,
        }
        self.look(now);
        Ok(())
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.port.as_mut().is_some_and(|port| port.transmit(frame))
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        match &mut self.port {
            Some(port) => port.transmit_all(frames),
            None => Refused::first(frames.len()),
        }
    }

    fn link_kind(&self) -> LinkKind {
        self.kind
    }

    fn remote(&mut self) -> Option<Arc<dyn Transmit>> {
        self.port.as_mut().and_then(Port::remote)
    }

    fn place(&self) -> Option<u32> {
        self.port.as_ref().and_then(Port::place)
    }

    fn check(&mut self) -> Result<(), PortError> {
        match self.port.as_mut().map(Port::check) {
            Some(Err(PortError::Gone { .. })) => {
                self.lose(clock::now());
                Ok(())
            }
            outcome => outcome.unwrap_or(Ok(())),
        }
    }

    fn health(&mut self) -> PortHealth {
        let now = self.port.as_mut().map(Port::health).unwrap_or_default();
        PortHealth {
            overflows: self.past.overflows + now.overflows,
            truncated: self.past.truncated + now.truncated,
            outages: self.past.outages + now.outages,
        }
    }
}

impl<P: AsFd> AsFd for LivePort<P> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_ref().map_or(self.nothing.as_fd(), AsFd::as_fd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_datapath::io::memory::{Arrival, MemoryPort};
    use fairwire_wire::vnet::VnetHeader;

    struct Fragile {
        inner: MemoryPort,
        is_gone: Rc<Cell<bool>>,
    }

    impl Port for Fragile {
        fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
            if self.is_gone.get() {
                return Err(PortError::Gone { name: "x".into() });
            }
            self.inner.receive(take)
        }
        fn transmit(&mut self, frame: &[u8]) -> bool {
            self.inner.transmit(frame)
        }
        fn health(&mut self) -> PortHealth {
            PortHealth { overflows: 5, ..PortHealth::default() }
        }
    }

    fn fragile(is_gone: &Rc<Cell<bool>>) -> Fragile {
        let arrival = Arrival { at: Time::ZERO, frame: vec![1; 60], vnet: VnetHeader::PLAIN };
        Fragile { inner: MemoryPort::new(vec![arrival]), is_gone: is_gone.clone() }
    }

    fn port(is_gone: &Rc<Cell<bool>>, patience: Option<Duration>, common: Common) -> LivePort<Fragile> {
        let again = is_gone.clone();
        let open: Open<Fragile> = Box::new(move |name| match again.get() {
            true => Err(PortError::Gone { name: name.into() }),
            false => Ok(fragile(&again)),
        });
        let common = Rc::new(RefCell::new(common));
        LivePort::new("x", fragile(is_gone), open, patience, LinkView::up(), common).expect("a socket")
    }

    fn received(port: &mut LivePort<Fragile>) -> Result<u32, PortError> {
        let mut count = 0;
        port.receive(&mut |_, _| count += 1).map(|()| count)
    }

    #[test]
    fn a_returning_interface_is_an_outage_and_its_losses_stay_counted() {
        let is_gone = Rc::new(Cell::new(false));
        let mut port = port(&is_gone, None, Common::default());
        assert_eq!(received(&mut port).ok(), Some(1));
        is_gone.set(true);
        assert_eq!(received(&mut port).ok(), Some(0));
        assert!(!port.transmit(&[0; 60]) && !port.state().get().is_up);
        is_gone.set(false);
        port.try_at = Time::ZERO; // as if the time had come
        assert_eq!(received(&mut port).ok(), Some(0));
        assert_eq!(received(&mut port).ok(), Some(1), "it is another port");
        assert!(port.transmit(&[0; 60]) && port.state().get().is_up);
        assert_eq!((port.health().outages, port.health().overflows), (1, 10));
    }

    #[test]
    fn waiting_for_an_interface_ends_at_the_configured_time() {
        let is_gone = Rc::new(Cell::new(true));
        let mut port = port(&is_gone, Some(Duration::ZERO), Common::default());
        assert_eq!(received(&mut port).ok(), Some(0), "it is noticed");
        assert!(matches!(received(&mut port), Err(PortError::Gone { .. })));
    }

    #[test]
    fn an_ending_gateway_accepts_no_frames() {
        let is_gone = Rc::new(Cell::new(false));
        let mut port = port(&is_gone, None, Common { is_ending: true, ..Common::default() });
        assert_eq!(received(&mut port).ok(), Some(0));
    }
}
