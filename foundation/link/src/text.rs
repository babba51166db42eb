//! Links from TOML or JSON.

use crate::builder::LinkBuilder;
use crate::error::{BadLink, Mistake};
use crate::link::Link;
use crate::moment::Moment;
use fairwire_catalogue::Choice;
use fairwire_core::{GilbertElliott, Loss};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    rate: String,
    delay: String,
    queue: Option<Choice>,
    #[serde(default)]
    mark_ecn: bool,
    buffer: Option<String>,
    device: Option<u32>,
    mtu: Option<u32>,
    steps: Option<Vec<(String, String)>>,
    pattern: Option<Vec<(String, String)>>,
    trace: Option<String>,
    scale_to: Option<String>,
    delays: Option<String>,
    delays_back: Option<String>,
    loss: Option<Lossy>,
    outages: Option<Vec<(String, String)>>,
    jitter: Option<String>,
    normal_jitter: Option<(String, String, f64)>,
    reorder: Option<(f64, String)>,
    duplicate: Option<f64>,
    #[serde(default)]
    keep_lost: bool,
    seed: Option<u64>,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "invalid loss; allowed: a probability, or `to_bad`, `to_good`, \
                               `loss_when_good` and `loss_when_bad`"
)]
enum Lossy {
    Each(f64),
    Bursts(Bursts),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bursts {
    to_bad: f64,
    to_good: f64,
    loss_when_good: f64,
    loss_when_bad: f64,
}

impl From<Lossy> for Loss {
    fn from(loss: Lossy) -> Self {
        match loss {
            Lossy::Each(p) => p.into(),
            Lossy::Bursts(Bursts { to_bad, to_good, loss_when_good, loss_when_bad }) => {
                GilbertElliott { to_bad, to_good, loss_when_good, loss_when_bad }.into()
            }
        }
    }
}

impl<T: Clone, I: Moment> Link<T, I> {
    /// Reads a link from JSON, which begins with `{`, or TOML. The keys are `rate`, `delay` and the
    /// methods of [`LinkBuilder`]. Several arguments form a list.
    ///
    /// ```
    /// use fairwire_link::Link;
    ///
    /// let toml = r#"
    ///     rate = "10 Mbit/s"
    ///     delay = "20 ms"
    ///     queue.fq-codel.target = "5 ms"
    ///     loss = 0.01
    ///     steps = [["5 s", "2 Mbit/s"], ["9 s", "10 Mbit/s"]]
    /// "#;
    /// let link = Link::<Vec<u8>>::from_text(toml)?.build()?;
    /// let json = r#"{ "rate": "10 Mbit/s", "delay": "20 ms", "queue": "drr+faba" }"#;
    /// let other = Link::<Vec<u8>>::from_text(json)?.build()?;
    /// # Ok::<(), fairwire_link::BadLink>(())
    /// ```
    ///
    /// # Errors
    /// If the text cannot be parsed; the error names the line. [`LinkBuilder::build`] reports wrong
    /// values.
    pub fn from_text(text: &str) -> Result<LinkBuilder<T, I>, BadLink> {
        let read = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            toml::from_str(text).map_err(|error| {
                let line = 1 + error.span().map_or(0, |span| text[..span.start].matches('\n').count());
                format!("{} at line {line}", error.message())
            })
        };
        let given: Given =
            read.map_err(|error| BadLink { mistakes: vec![Mistake::of("from_text", error)] })?;
        Ok(given.described(Link::new))
    }
}

impl Given {
    fn described<T: Clone, I: Moment>(
        self,
        new: fn(String, String) -> LinkBuilder<T, I>,
    ) -> LinkBuilder<T, I> {
        let Given { loss, outages, jitter, normal_jitter, reorder, duplicate, .. } = self;
        let link = new(self.rate, self.delay);
        let link = with(link, self.queue, LinkBuilder::chosen);
        let link = with(link, self.mark_ecn.then_some(()), |link, ()| link.mark_ecn());
        let link = with(link, self.buffer, |link, room| link.buffer(&room));
        let link = with(link, self.device, LinkBuilder::device);
        let link = with(link, self.mtu, LinkBuilder::mtu);
        let link = with(link, self.steps, LinkBuilder::steps);
        let link = with(link, self.pattern, LinkBuilder::pattern);
        let link = with(link, self.trace, |link, text| link.trace(&text));
        let link = with(link, self.scale_to, LinkBuilder::scale_to);
        let link = with(link, self.delays, |link, text| link.delays(&text));
        let link = with(link, self.delays_back, |link, text| link.delays_back(&text));
        let link = with(link, loss, LinkBuilder::loss);
        let link = with(link, outages, LinkBuilder::outages);
        let link = with(link, jitter, LinkBuilder::jitter);
        let link = with(link, normal_jitter, |link, (mean, deviation, correlation)| {
            link.normal_jitter(mean, deviation, correlation)
        });
        let link = with(link, reorder, |link, (part, by)| link.reorder(part, by));
        let link = with(link, duplicate, LinkBuilder::duplicate);
        let link = with(link, self.keep_lost.then_some(()), |link, ()| link.keep_lost());
        let link = with(link, self.seed, LinkBuilder::seed);
        with(link, self.name, LinkBuilder::name)
    }
}

fn with<L, V>(link: L, value: Option<V>, method: impl FnOnce(L, V) -> L) -> L {
    match value {
        Some(value) => method(link, value),
        None => link,
    }
}
