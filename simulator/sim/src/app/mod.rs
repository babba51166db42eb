//! Applications, which offer packets or give data to a TCP. Each application has a separate stream
//! of random numbers.

mod call;
pub(crate) mod datagram;
mod law;
pub(crate) mod load;
pub(crate) mod session;

pub use call::{Call, KINDS as CALL_KINDS, Rates as CallRates};
pub use datagram::on_off::OnOff;
pub use datagram::outside::{DatagramSource, OutsideTraffic};
pub use datagram::poisson::Poisson;
pub use datagram::replay::{Offered, Replay};
pub use datagram::video::Video;
pub use datagram::voip::{Talk, Voip};
pub use datagram::{Emission, Traffic};
pub use law::{Law, Moments, Sampler};
pub use load::bursts::Bursts;
pub use load::outside::{OutsideLoad, TcpUser};
pub use load::sequence::Sequence;
pub use load::streaming::{KINDS as STREAMING_KINDS, Streaming};
pub use load::telnet::Telnet;
pub use load::transfers::{Arrivals, Transfers};
pub use load::web::Web;
pub use load::{Cause, Demand, ENDLESS, Load, Segments, Step};
