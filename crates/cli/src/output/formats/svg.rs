//! Pictures in SVG.

use crate::output::format::Format;
use crate::output::plot;

pub(super) const FORMAT: Format = Format { plot: Some(plot::svg), ..Format::new("svg") };
