//! A figure for LaTeX, drawn by pgfplots in the font of the paper.

use super::page::{Paper, Width, has_title};
use super::{keys, shapes};
use crate::axis::can_show;
use crate::frame;
use crate::layout::Columns;
use crate::panel::{Kind, Line, Mark, Panel, Scale};
use crate::style::PALETTE;
use std::fmt::Write;

const DASHES: [&str; 5] = ["solid", "dashed", "densely dotted", "dash dot", "loosely dashed"];
const MARKERS: [&str; 5] = ["*", "square*", "triangle*", "diamond*", "pentagon*"];
const PATTERNS: [&str; 5] = ["", "north east lines", "north west lines", "crosshatch", "horizontal lines"];

pub(super) fn picture(title: &str, panels: &[Panel], paper: Paper) -> String {
    let columns = if paper.width == Width::TwoColumns && panels.len() > 1 { 2 } else { 1 };
    let width = paper.width.points() / columns as f64;
    let mut out = format!(
        "% {}\n% In the preamble:\n%   \\usepackage{{pgfplots}} \\pgfplotsset{{compat=1.17}}\n\
         %   \\usepgfplotslibrary{{groupplots}} \\usetikzlibrary{{patterns}}\n",
        title.replace(['\n', '\r'], " ")
    );
    for (at, (light, _)) in PALETTE.iter().enumerate() {
        let _ = writeln!(out, "\\definecolor{{fairwire{at}}}{{HTML}}{{{}}}", light[1..].to_uppercase());
    }
    let _ = write!(
        out,
        "\\begin{{tikzpicture}}\n\\begin{{groupplot}}[\n  group style={{group size={columns} by {}, vertical sep=54bp, \
         horizontal sep=42bp}},\n  scale only axis, width={:.0}bp, height={:.0}bp,\n  tick label style={{font=\\scriptsize}}, \
         label style={{font=\\scriptsize}}, title style={{font=\\scriptsize}},\n  legend style={{font=\\scriptsize, at={{(0.5,1.02)}}, \
         anchor=south, draw=none, legend columns=-1}},\n  grid=major, grid style={{gray!20}}, axis lines=left, unbounded coords=jump, \
         every axis plot/.append style={{line width=0.8pt}}\n]\n",
        panels.len().div_ceil(columns),
        width - 48.0,
        if columns == 2 { 120.0 } else { 0.45 * width },
    );
    for (at, panel) in panels.iter().enumerate() {
        let has_title = has_title(panel, panels.len(), paper);
        self::panel(&mut out, panel, has_title, at == 0 || !keys::are_alike(panel, &panels[at - 1]));
    }
    out + "\\end{groupplot}\n\\end{tikzpicture}\n"
}

fn panel(out: &mut String, panel: &Panel, has_title: bool, has_keys: bool) {
    let (x, y) = (frame::across(panel), frame::up(panel));
    let mut options = vec![
        format!("xlabel={{{}}}", escaped(&panel.x.label)),
        format!("ylabel={{{}}}", escaped(&panel.y.label)),
    ];
    if has_title {
        // The title must be above the keys.
        let lift = if has_keys && !panel.is_table() { "title style={yshift=10bp}, " } else { "" };
        options.push(format!("{lift}title={{{}}}", escaped(&panel.title)));
    }
    let scaled = |name: &str, scale: Scale| (scale == Scale::Log).then(|| format!("{name}mode=log"));
    let names = Columns::new(panel).names;
    if panel.is_table() {
        options.extend(rows(panel));
    } else {
        let [low, high] = y.ends();
        options.push(format!("ymin={low}, ymax={high}"));
        options.extend(scaled("y", panel.y.scale));
    }
    if frame::has_names(panel) {
        let names: Vec<String> = names.iter().map(|name| braced(name)).collect();
        options.push(format!("xmin=-0.5, xmax={}", names.len() as f64 - 0.5));
        options.push(format!(
            "xtick={{0,...,{}}}, xticklabels={{{}}}",
            names.len().max(1) - 1,
            names.join(",")
        ));
        options.push("x tick label style={rotate=30, anchor=north east}".into());
    } else {
        let [low, high] = x.ends();
        options.push(format!("xmin={low}, xmax={high}"));
        options.extend(scaled("x", panel.x.scale));
    }
    if panel.kind == Kind::Bars {
        options.push(format!(
            "ybar=1pt, bar width={:.1}bp",
            130.0 / (names.len() * panel.lines.len()).max(1) as f64
        ));
    }
    let _ = writeln!(out, "\\nextgroupplot[{}]", options.join(",\n  "));
    if panel.is_table() {
        return grid(out, panel);
    }
    for line in &panel.lines {
        plot(out, panel, line);
        if has_keys && !line.label.is_empty() {
            let _ = writeln!(out, "\\addlegendentry{{{}}}", escaped(&line.label));
        }
    }
    for one in panel.reference.iter().filter(|one| can_show(&panel.y, one.y)) {
        let ends = if frame::has_names(panel) { [-0.5, names.len() as f64 - 0.5] } else { x.ends() };
        let _ = writeln!(
            out,
            "\\draw[gray, dashed] (axis cs:{},{y}) -- (axis cs:{},{y}) node[above left, font=\\scriptsize] {{{}}};",
            ends[0],
            ends[1],
            escaped(&one.label),
            y = one.y
        );
    }
    if let Some(from) = panel.measured_from.filter(|from| x.holds(*from)) {
        let [low, high] = y.ends();
        let _ = writeln!(out, "\\draw[gray, dashed] (axis cs:{from},{low}) -- (axis cs:{from},{high});");
    }
}

/// The options of a table's vertical axis.
fn rows(panel: &Panel) -> Vec<String> {
    let rows: Vec<String> = panel.lines.iter().map(|line| braced(&line.label)).collect();
    let last = panel.lines.len() as f64 - 0.5;
    let shades = "colormap={fairwire}{color=(white) color=(fairwire0!55)}, point meta=explicit";
    let mut options = vec![
        format!("y dir=reverse, ymin=-0.5, ymax={last}, ytick={{0,...,{}}}", rows.len().max(1) - 1),
        format!("yticklabels={{{}}}, grid=none", rows.join(",")),
        shades.into(),
    ];
    if let Some([low, high]) = panel.y.range {
        options.push(format!("point meta min={}, point meta max={}", short(low), short(high)));
    }
    options
}

fn plot(out: &mut String, panel: &Panel, line: &Line) {
    let colour =
        if line.is_limit { "gray".into() } else { format!("fairwire{}", line.colour % PALETTE.len()) };
    let nth = line.colour % 5;
    let dash = match (line.is_limit, shapes::stroke(line).dash.is_empty()) {
        (true, _) => "densely dotted",
        (false, true) => "solid",
        (false, false) if nth == 0 => DASHES[1],
        (false, false) => DASHES[nth],
    };
    let style = match panel.kind {
        Kind::Bars if PATTERNS[nth].is_empty() => format!("fill={colour}, draw=black"),
        Kind::Bars => format!("pattern={}, pattern color={colour}, draw=black", PATTERNS[nth]),
        Kind::Scatter => format!("only marks, mark={}, mark size=1.2pt, {colour}", MARKERS[nth]),
        Kind::Lines => {
            format!("{colour}, {dash}, mark={}, mark size=1.4pt, mark options={{solid}}", MARKERS[nth])
        }
        Kind::Steps => format!("{colour}, {dash}, const plot, no marks"),
        Kind::Time | Kind::Table | Kind::Grid => format!("{colour}, {dash}, no marks"),
    };
    let has_intervals =
        line.marks.iter().any(|mark| mark.y_half_width.is_some() || mark.x_half_width.is_some());
    let bars = if has_intervals {
        ", error bars/.cd, y dir=both, y explicit, x dir=both, x explicit, error bar style={solid}"
    } else {
        ""
    };
    let _ = write!(out, "\\addplot[{style}{bars}] coordinates {{");
    let columns = Columns::new(panel);
    let has_names = frame::has_names(panel);
    // NaN is written too: `unbounded coords=jump` makes pgfplots interrupt the line there.
    let is_drawn = |mark: &&Mark| {
        (mark.y.is_nan() || can_show(&panel.y, mark.y)) && (has_names || can_show(&panel.x, mark.x))
    };
    for (at, mark) in line.marks.iter().filter(is_drawn).enumerate() {
        let x = if has_names { columns.of(mark).map(|column| column as f64) } else { Some(mark.x) };
        let Some(x) = x else { continue };
        out.push_str(if at % 6 == 0 { "\n  " } else { " " });
        let _ = write!(out, "({},{})", short(x), short(mark.y));
        if has_intervals {
            let half = |half: Option<f64>| short(half.unwrap_or(0.0));
            let _ = write!(out, " +- ({},{})", half(mark.x_half_width), half(mark.y_half_width));
        }
    }
    out.push_str("\n};\n");
}

fn grid(out: &mut String, panel: &Panel) {
    let columns = Columns::new(panel);
    let count = columns.names.len();
    let _ = write!(
        out,
        "\\addplot[matrix plot*, mesh/cols={count}, nodes near coords={{\\pgfmathprintnumber[precision=3]{{\\pgfplotspointmeta}}}}, \
         nodes near coords style={{font=\\tiny, anchor=center, text=black}}] coordinates {{"
    );
    for (row, line) in panel.lines.iter().enumerate() {
        out.push_str("\n ");
        for at in 0..count {
            let value = line.marks.iter().find(|mark| columns.of(mark) == Some(at)).map(|mark| mark.y);
            let value = value.filter(|value| value.is_finite()).map_or("nan".into(), short);
            let _ = write!(out, " ({at},{row}) [{value}]");
        }
    }
    out.push_str("\n};\n");
}

/// A number with six digits, which is more than a picture can show.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value.is_nan() => "nan".into(),
        value => format!("{:.*e}", 5, value),
    }
}

fn braced(text: &str) -> String {
    format!("{{{}}}", escaped(text))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', letter]),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_command_of_tex() {
        assert_eq!(escaped("50 % of \\x_{1}"), "50 \\% of \\textbackslash{}x\\_\\{1\\}");
    }
}
