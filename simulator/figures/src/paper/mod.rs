//! Figures for papers: in column width with 7-point letters, as SVG, as PDF with the font embedded,
//! or as pgfplots.
//!
//! Lines also differ in dashes, markers and hatching, so a figure can be read in grey.

mod draw;
mod font;
mod keys;
mod page;
mod pdf;
mod shapes;
mod sheet;
mod tex;

use crate::layout::{Bounds, Place};
use crate::panel::{Kind, Panel};
use crate::{Figure, Setting};
use font::Ruler;
use page::{LINE, MARGIN, Page, SIZE, has_title};
use sheet::{Anchor, Sheet};

pub use page::{Paper, Width};

impl Figure<'_> {
    /// Renders the figure for paper as SVG.
    pub fn paper_svg(&self, paper: Paper) -> String {
        self.sheet(paper).svg()
    }

    /// Renders the figure for paper as a PDF with one page.
    pub fn paper_pdf(&self, paper: Paper) -> Vec<u8> {
        pdf::file(&self.sheet(paper))
    }

    /// Renders the figure as a `tikzpicture` for LaTeX. A comment at the top lists the packages
    /// that the picture needs.
    pub fn tex(&self, paper: Paper) -> String {
        tex::picture(self.title, &self.drawn(Setting::Alone), paper)
    }

    fn sheet(&self, paper: Paper) -> Sheet {
        let panels = self.drawn(Setting::Alone);
        let width = paper.width.points();
        let mut page = Page { ruler: Ruler::new(), sheet: Sheet { width, ..Sheet::default() } };
        page.sheet.title = self.title.into();
        let mut top = page.head(self.title, &self.detail, paper);
        let places = Places::of(&page.ruler, &panels, paper);
        let is_shared = panels.len() > 1 && panels.windows(2).all(|pair| keys::are_alike(&pair[0], &pair[1]));
        if let Some(first) = panels.first().filter(|_| is_shared) {
            top +=
                keys::draw(&mut page, first, Place { x: places.left, y: top }, width - MARGIN - places.left);
        }
        for row in panels.chunks(places.columns) {
            let keys = |panel: &Panel| keys::height(&page.ruler, panel, places.inner());
            let room = if is_shared { 0.0 } else { row.iter().map(keys).fold(0.0, f64::max) };
            let titles =
                if row.iter().any(|panel| has_title(panel, panels.len(), paper)) { LINE } else { 0.0 };
            let mut deepest = top;
            for (at, panel) in row.iter().enumerate() {
                let left = at as f64 * places.outer + places.left;
                let right = left + places.inner();
                if has_title(panel, panels.len(), paper) {
                    let title = page.ruler.cut(&panel.title, SIZE, right - left);
                    page.text(Place { x: left, y: top + SIZE }, Anchor::Start, title);
                }
                if !is_shared {
                    keys::draw(&mut page, panel, Place { x: left, y: top + titles }, right - left);
                }
                let ceiling = top + titles + room + 3.0;
                let bounds = Bounds { left, right, ceiling, floor: ceiling + places.height(panel) };
                deepest = deepest.max(draw::panel(&mut page, panel, &bounds));
            }
            top = deepest + 6.0;
        }
        page.sheet.height = (top - 4.0).ceil().max(1.0);
        page.sheet
    }
}

/// The columns of plots. All plots have the same position in their columns.
struct Places {
    columns: usize,
    outer: f64,
    /// The distance from the left edge of a column to the plot.
    left: f64,
    width: Width,
}

impl Places {
    fn of(ruler: &Ruler, panels: &[Panel], paper: Paper) -> Self {
        let columns = if paper.width == Width::TwoColumns && panels.len() > 1 { 2 } else { 1 };
        let widest = panels.iter().map(|panel| draw::ticks_width(ruler, panel)).fold(0.0, f64::max);
        let has_label = panels.iter().any(|panel| !panel.y.label.is_empty());
        let left = MARGIN + if has_label { LINE } else { 0.0 } + widest + 4.0;
        Places { columns, outer: paper.width.points() / columns as f64, left, width: paper.width }
    }

    /// The width of a plot. The horizontal axis's last number may extend beyond it.
    fn inner(&self) -> f64 {
        self.outer - self.left - 10.0
    }

    fn height(&self, panel: &Panel) -> f64 {
        match (panel.kind, self.width, self.columns) {
            (Kind::Grid | Kind::Table, ..) => draw::ROW * panel.lines.len() as f64,
            (_, Width::OneColumn, _) => 110.0,
            (_, Width::TwoColumns, 1) => 170.0,
            (_, Width::TwoColumns, _) => 120.0,
        }
    }
}

#[cfg(test)]
mod tests;
