//! Writes a sheet as PDF. Its glyphs are embedded, because publishers require embedded fonts.

use super::font;
use super::sheet::{Anchor, Item, Rgb, Sheet, Step, Stroke, Text};
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use subsetter::GlyphRemapper;
use ttf_parser::Face;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT: Ref = Ref::new(5);
const CID_FONT: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FONT_FILE: Ref = Ref::new(8);
const TO_UNICODE: Ref = Ref::new(9);
const ABOUT: Ref = Ref::new(10);

/// The character collection whose character codes are glyph numbers (ISO 32000-1, 9.7.3).
const IDENTITY: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The name of the font in the page's resources.
const F: Name<'static> = Name(b"F");

pub(super) fn file(sheet: &Sheet) -> Vec<u8> {
    let mut glyphs = Glyphs { face: font::face(), mapped: GlyphRemapper::new(), letters: BTreeMap::new() };
    let content = content(sheet, &mut glyphs);
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.media_box(Rect::new(0.0, 0.0, sheet.width as f32, sheet.height as f32));
    page.parent(PAGES).contents(CONTENT);
    page.resources().fonts().pair(F, FONT);
    page.finish();
    pdf.stream(CONTENT, &content);
    glyphs.embed(&mut pdf);
    pdf.document_info(ABOUT)
        .title(TextStr(&sheet.title))
        .producer(TextStr(concat!("fairwire ", env!("CARGO_PKG_VERSION"))));
    pdf.finish()
}

struct Glyphs {
    face: Face<'static>,
    mapped: GlyphRemapper,
    /// The character and the width of each glyph, by its number in the embedded font.
    letters: BTreeMap<u16, (char, f64)>,
}

impl Glyphs {
    /// The glyph numbers of `text` as bytes, and its width in thousandths of the font size.
    fn text(&mut self, text: &str) -> (Vec<u8>, f64) {
        let mut bytes = Vec::new();
        let mut width = 0.0;
        for letter in text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }) {
            let glyph = font::glyph(&self.face, letter);
            let number = self.mapped.remap(glyph);
            let advance = font::advance(&self.face, glyph);
            self.letters.insert(number, (letter, advance));
            bytes.extend(number.to_be_bytes());
            width += advance;
        }
        (bytes, width)
    }

    fn embed(&self, pdf: &mut Pdf) {
        let file = subsetter::subset(font::file(), 0, &self.mapped);
        let file = file.expect("the font that comes with the command can be cut");
        // A tag of six letters before the font's name marks a subset (ISO 32000-1, 9.6.4).
        let name = format!("FAIRWR+{}", font::NAME);
        let name = Name(name.as_bytes());
        pdf.type0_font(FONT)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(CID_FONT)
            .to_unicode(TO_UNICODE);
        let mut cid = pdf.cid_font(CID_FONT);
        cid.subtype(CidFontType::Type2).base_font(name).system_info(IDENTITY).font_descriptor(DESCRIPTOR);
        cid.default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = cid.widths();
        for (number, (_, width)) in &self.letters {
            widths.consecutive(*number, [*width as f32]);
        }
        widths.finish();
        cid.finish();
        let face = &self.face;
        let scaled = |units: i16| f32::from(units) * 1000.0 / f32::from(face.units_per_em());
        let bounds = face.global_bounding_box();
        let bounds = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled);
        pdf.font_descriptor(DESCRIPTOR)
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(bounds[0], bounds[1], bounds[2], bounds[3]))
            .italic_angle(0.0)
            .ascent(scaled(face.ascender()))
            .descent(scaled(face.descender()))
            .cap_height(scaled(face.capital_height().unwrap_or(face.ascender())))
            .stem_v(80.0)
            .font_file2(FONT_FILE);
        let length = i32::try_from(file.len()).expect("it is a part of a font of 680 kB");
        pdf.stream(FONT_FILE, &file).pair(Name(b"Length1"), length);
        let mut letters = UnicodeCmap::new(Name(b"Letters"), IDENTITY);
        self.letters.iter().for_each(|(number, (letter, _))| letters.pair(*number, *letter));
        pdf.cmap(TO_UNICODE, &letters.finish());
    }
}

/// The operators that draw `sheet`. PDF's y points up.
fn content(sheet: &Sheet, glyphs: &mut Glyphs) -> Vec<u8> {
    let mut out = Content::new();
    let up = |y: f64| (sheet.height - y) as f32;
    out.set_line_join(LineJoinStyle::RoundJoin);
    for item in &sheet.items {
        match item {
            Item::Path { path, fill, stroke, within } => {
                out.save_state();
                if let Some([left, top, right, bottom]) = within {
                    out.rect(*left as f32, up(*bottom), (right - left) as f32, (bottom - top) as f32);
                    out.clip_nonzero().end_path();
                }
                fill.iter().for_each(|colour| {
                    let [red, green, blue] = parts(*colour);
                    out.set_fill_rgb(red, green, blue);
                });
                stroke.iter().for_each(|stroke| set_stroke(&mut out, stroke));
                path.iter().for_each(|step| match *step {
                    Step::To(at) => drop(out.move_to(at.x as f32, up(at.y))),
                    Step::Line(at) => drop(out.line_to(at.x as f32, up(at.y))),
                    Step::Curve([a, b, c, d, x, y]) => {
                        out.cubic_to(a as f32, up(b), c as f32, up(d), x as f32, up(y));
                    }
                    Step::Close => drop(out.close_path()),
                });
                match (fill, stroke) {
                    (Some(_), Some(_)) => out.fill_nonzero_and_stroke(),
                    (Some(_), None) => out.fill_nonzero(),
                    _ => out.stroke(),
                };
                out.restore_state();
            }
            Item::Text(text) => write(&mut out, text, glyphs, up(text.at.y)),
        }
    }
    out.finish().to_vec()
}

fn parts(colour: Rgb) -> [f32; 3] {
    colour.map(|part| f32::from(part) / 255.0)
}

fn set_stroke(out: &mut Content, stroke: &Stroke) {
    let [red, green, blue] = parts(stroke.colour);
    out.set_stroke_rgb(red, green, blue).set_line_width(stroke.width as f32);
    out.set_dash_pattern(stroke.dash.iter().map(|length| *length as f32), 0.0);
}

fn write(out: &mut Content, text: &Text, glyphs: &mut Glyphs, y: f32) {
    let (bytes, width) = glyphs.text(&text.text);
    let back = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let back = (back * width * text.size / 1000.0) as f32;
    let angle = (text.turn.to_radians()) as f32;
    let (sin, cos) = (libm::sinf(angle), libm::cosf(angle));
    let [red, green, blue] = parts(text.colour);
    out.begin_text().set_fill_rgb(red, green, blue).set_font(F, text.size as f32);
    out.set_text_matrix([cos, sin, -sin, cos, text.at.x as f32 - back * cos, y - back * sin]);
    out.show(Str(&bytes)).end_text();
}
