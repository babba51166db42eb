//! Logs the types of loss that indicate a wrong setup, each type once.

use fairwire_datapath::ledger::Loss;

#[derive(Debug, Default)]
pub(super) struct Troubles {
    logged: [bool; Loss::ALL.len()],
}

impl Troubles {
    /// Logs each new type of loss. `lost` is in the order of [`Loss::ALL`].
    pub(super) fn look(&mut self, lost: [u64; Loss::ALL.len()], say: &mut dyn FnMut(String)) {
        for ((loss, count), logged) in Loss::ALL.into_iter().zip(lost).zip(&mut self.logged) {
            if count == 0 || *logged {
                continue;
            }
            *logged = true;
            if let Some(meaning) = meaning(loss) {
                say(format!("packets are lost as `{}`: {meaning}", loss.name()));
            }
        }
    }
}

/// The cause and remedy of a loss; `None` for normal losses.
fn meaning(loss: Loss) -> Option<&'static str> {
    Some(match loss {
        Loss::Malformed => {
            "super-packets arrive that cannot be taken apart (`fairwire-gateway capture` shows them); without segmentation offload \
             there are none: `ethtool -K INTERFACE gro off gso off tso off` on both interfaces and on veth peers"
        }
        Loss::NotIp => {
            "what is not IP comes faster than `not_ip` lets pass; where the link carries MPLS, MACsec or the like, raise `not_ip` in \
             [download] and [upload]"
        }
        Loss::OverMtu => {
            "frames are longer than the outgoing interface takes: give both interfaces one MTU (`ip link set INTERFACE mtu ...`)"
        }
        Loss::Looped => {
            "the same frames come back, or come a thousand times a second: both interfaces lie in one network (one switch without \
             VLANs, or a second path around the gateway), so take one cable out; or a host repeats a frame, and \
             `fairwire-gateway capture` shows its address; only these frames are dropped"
        }
        Loss::Spoofed => {
            "uploads come with an address of one subscriber and the Ethernet address, VLAN or session of another, or of none \
             (`fairwire-gateway capture` shows them); where a subscriber has a new device, change its `mac`; `bind = \"loose\"` in \
             [subscribers] lets them pass"
        }
        Loss::TooLong | Loss::NoBuffer | Loss::Refused | Loss::Suspended => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_is_logged_once_with_a_remedy() {
        let mut troubles = Troubles::default();
        let mut lines = Vec::new();
        let mut look = |lost: &[(Loss, u64)]| {
            let mut counts = [0; Loss::ALL.len()];
            lost.iter().for_each(|(loss, count)| counts[*loss as usize] = *count);
            troubles.look(counts, &mut |line| lines.push(line));
            lines.len()
        };
        assert_eq!(look(&[]), 0);
        assert_eq!(look(&[(Loss::Looped, 1), (Loss::Refused, 9)]), 1);
        assert_eq!(look(&[(Loss::Looped, 1000), (Loss::Refused, 9)]), 1);
        assert_eq!(look(&[(Loss::Looped, 1000), (Loss::NotIp, 2)]), 2);
        assert!(
            lines[0].starts_with("packets are lost as `looped`: ") && lines[0].contains("cable"),
            "{}",
            lines[0]
        );
        assert!(lines[1].contains("`not_ip`"), "{}", lines[1]);
    }
}
