//! Colours, the style sheet, and the fitting of text.

/// The margin at the left and right edges of a picture.
pub(super) const MARGIN: f64 = 24.0;
/// The width of a letter in the detail below the title, and along the axes.
pub(super) const DETAIL_LETTER: f64 = 7.2;

/// The location of the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A separate file.
    Alone,
    /// Inside a page that holds [`sheet`].
    InPage,
}

/// Colours for light and dark backgrounds.
///
/// The first are those of Okabe and Ito ("Color universal design", 2008). A search chose the
/// others, so that any two can be distinguished with any colour vision.
pub(super) const PALETTE: [(&str, &str); 9] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ef8a4c"),
    ("#009e73", "#1b876a"),
    ("#c481ba", "#bf43b8"),
    ("#864500", "#f2e24a"),
    ("#787487", "#bfbcac"),
    ("#2c00a7", "#9c76ff"),
    ("#460a13", "#f00017"),
    ("#009dfd", "#70ffff"),
];

/// The background of a picture, light and dark.
const GROUND: (&str, &str) = ("#ffffff", "#161a21");

const SHAPES: &str = "
  .chart text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif }
  .chart .title { font-size: 19px; font-weight: 650 }
  .chart .detail, .chart .tick, .chart .axis { font-size: 12.5px }
  .chart .name, .chart .cell, .chart .key { font-size: 13px }
  .chart .name, .chart .head { font-weight: 600 }
  .chart .head { font-size: 13px }
  .chart .value { font-size: 12.5px; font-weight: 600 }
  .chart .grid { fill: none; stroke-width: 1 }
  .chart .edge { stroke-width: 1.2; fill: none }
  .chart .line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
  .chart .band { opacity: 0.13 }
  .chart .claimed { opacity: 0.12 }
  .chart .fair { fill: none; stroke-width: 1.4; stroke-dasharray: 7 4 }
  .chart .limit { fill: none; stroke-width: 1.2; stroke-dasharray: 2 3 }
  .chart .halo { paint-order: stroke; stroke-width: 4px; stroke-linejoin: round }
  .chart .whisker { fill: none; stroke-width: 1.3; opacity: 0.6 }
  .chart .onbar { fill: none; stroke-width: 1.3 }
  .chart .hollow { stroke-width: 1.8 }
  .chart .ring { fill: none; stroke-width: 1.8 }";

/// The style sheet shared by all pictures. A page with pictures contains it once.
pub fn sheet() -> String {
    let mut sheet = String::from(SHAPES);
    let light = colours(
        |pair| pair.0,
        &Theme { text: "#1f2530", faint: "#5b6472", grid: "#e6e9ee", edge: "#d9dde3" },
    );
    let dark = colours(
        |pair| pair.1,
        &Theme { text: "#e8ebf0", faint: "#a3acba", grid: "#2a303b", edge: "#2c323d" },
    );
    // Only screens use the dark colours; paper is light.
    sheet += &format!("{light}\n  @media screen and (prefers-color-scheme: dark) {{{dark}\n  }}\n");
    sheet
}

struct Theme {
    text: &'static str,
    faint: &'static str,
    grid: &'static str,
    edge: &'static str,
}

fn colours(pick: fn((&'static str, &'static str)) -> &'static str, theme: &Theme) -> String {
    let Theme { text, faint, grid, edge } = theme;
    let ground = pick(GROUND);
    let mut sheet = format!(
        "\n  .chart .ground {{ fill: {ground}; stroke: {edge} }}\n  .chart text {{ fill: {text} }}\n  \
         .chart .detail, .chart .tick, .chart .tick text, .chart .axis {{ fill: {faint} }}\n  .chart .grid {{ stroke: {grid} }}\n  \
         .chart .edge, .chart .onbar {{ stroke: {text} }}\n  .chart .hollow {{ fill: {ground} }}\n  .chart .fair, .chart .limit {{ stroke: {faint} }} \
         .chart .claimed {{ fill: {faint} }} .chart .halo {{ stroke: {ground} }}"
    );
    for (at, pair) in PALETTE.iter().enumerate() {
        let colour = pick(*pair);
        sheet += &format!("\n  .chart .s{at} {{ stroke: {colour} }} .chart .f{at} {{ fill: {colour} }}");
    }
    sheet
}

/// `text`, shortened to `letters` letters with an ellipsis.
pub fn cut(text: &str, letters: f64) -> String {
    let letters = letters.max(1.0) as usize;
    if text.chars().count() <= letters {
        return text.into();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['\u{2026}']).collect()
}

/// Escapes text for XML and HTML. White space becomes a space; other control characters become a
/// replacement mark.
pub fn escaped(text: &str) -> String {
    let plain = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    };
    let text: String = text.chars().map(plain).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) fn wrapped(text: &str, letters: f64, max_lines: usize) -> Vec<String> {
    let lines = textwrap::wrap(text, letters.max(1.0) as usize);
    let mut shown: Vec<String> = lines.iter().take(max_lines).map(|line| line.to_string()).collect();
    if let Some(last) = shown.last_mut().filter(|_| lines.len() > max_lines) {
        last.push_str(" \u{2026}");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matrices from linear RGB to perceived colours: with all cones, then without each type of
    /// cone. Source: Machado, Oliveira and Fernandes, "A physiologically-based model for simulation
    /// of color vision deficiency", 2009, severity 1.0.
    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn times(matrix: &[[f64; 3]; 3], by: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(by).map(|(a, b)| a * b).sum())
    }

    fn light(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// The perceived colour in Oklab coordinates (Ottosson, 2020), in which distances match
    /// perception. A distance of 0.02 is barely visible.
    fn seen(colour: &str, vision: &[[f64; 3]; 3]) -> [f64; 3] {
        let rgb = times(vision, light(colour)).map(|part| part.clamp(0.0, 1.0));
        let cones = [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ];
        let lab = [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ];
        times(&lab, times(&cones, rgb).map(f64::cbrt))
    }

    #[test]
    fn any_two_colours_differ_with_any_colour_vision() {
        for column in [PALETTE.map(|pair| pair.0), PALETTE.map(|pair| pair.1)] {
            for vision in &VISIONS {
                for (at, first) in column.iter().enumerate() {
                    for second in &column[at + 1..] {
                        let (a, b) = (seen(first, vision), seen(second, vision));
                        let apart: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
                        assert!(apart > 0.07, "{first} {second} {apart}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_colour_contrasts_with_its_ground() {
        let luminance = |colour| times(&[[0.2126, 0.7152, 0.0722]; 3], light(colour))[0] + 0.05;
        for (bright, dark) in PALETTE {
            // WCAG 2.1 requires a contrast of 3 for graphics. Sky blue and pink have 2.9, which we
            // accept because our lines are not "thin".
            assert!(luminance(GROUND.0) / luminance(bright) > 2.85, "{bright}");
            assert!(luminance(dark) / luminance(GROUND.1) > 3.0, "{dark}");
        }
    }

    #[test]
    fn text_is_cut_where_there_is_no_room() {
        assert_eq!(cut("title", 5.0), "title");
        assert_eq!(cut("titles", 5.9), "titl\u{2026}");
        assert_eq!(cut("titles", -3.0), "\u{2026}");
    }

    #[test]
    fn control_characters_and_markup_are_escaped() {
        assert_eq!(escaped("<a & \"b\">\u{1b}\n\u{ffff}"), "&lt;a &amp; &quot;b&quot;&gt;\u{fffd} \u{fffd}");
    }
}
