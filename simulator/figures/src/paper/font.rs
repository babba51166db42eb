//! The font of figures for papers: DejaVu Sans Condensed, about as wide as Helvetica. The program
//! contains the font, so a figure has the same bytes on every machine.

use ttf_parser::{Face, GlyphId};

/// The name of the font in a PDF.
pub(super) const NAME: &str = "DejaVuSansCondensed";

/// The font's file.
pub(super) fn file() -> &'static [u8] {
    dejavu::sans_condensed::regular()
}

/// The parsed font.
pub(super) fn face() -> Face<'static> {
    Face::parse(file(), 0).expect("the font that comes with the command is one")
}

pub(super) fn glyph(face: &Face<'_>, letter: char) -> u16 {
    face.glyph_index(letter).map_or(0, |GlyphId(glyph)| glyph)
}

/// The width of a glyph, in thousandths of the font size.
pub(super) fn advance(face: &Face<'_>, glyph: u16) -> f64 {
    let units = f64::from(face.units_per_em());
    f64::from(face.glyph_hor_advance(GlyphId(glyph)).unwrap_or(0)) * 1000.0 / units
}

/// Widths of texts.
pub(super) struct Ruler(Face<'static>);

impl Ruler {
    pub(super) fn new() -> Self {
        Ruler(face())
    }

    /// The width of `text` at this font size, in points.
    pub(super) fn width(&self, text: &str, size: f64) -> f64 {
        let thousandths: f64 = text.chars().map(|letter| advance(&self.0, glyph(&self.0, letter))).sum();
        thousandths * size / 1000.0
    }

    pub(super) fn cut(&self, text: &str, size: f64, room: f64) -> String {
        let mut letters: Vec<char> = text.chars().collect();
        if self.width(text, size) <= room {
            return text.into();
        }
        while letters.pop().is_some() {
            let short: String = letters.iter().chain(&['\u{2026}']).collect();
            if self.width(&short, size) <= room {
                return short;
            }
        }
        String::new()
    }
}
