//! The page of all exhibits, in HTML. It needs no network, and no script except for its search.

use super::cause::{Cause, cause};
use super::cells;
use super::conditions::conditions;
use super::csv::samples_name;
use super::tally::{Count, Paper, headline, others, papers, words};
use super::{PAGE, picture};
use crate::html::{self, Choice};
use fairwire_figures::{Setting, escaped};
use fairwire_study::record::{Claim, Depth, Exhibit, Panel, Results, Verdict};

/// The maximum length of a list of exhibits that is initially unfolded.
const SHORT: usize = 12;
/// The maximum number of values in an exhibit's table. Larger tables are only in the CSV.
const MAX_NUMBERS: usize = 36;
const PAPERS: &str = "The papers, reproduced";
const CHECKS: &str = " Checks are made on means over seeds with their 95 % intervals (Student t), and on paired differences where \
     two schemes are compared.";

const OTHERS: &str = "Not counted as the papers': checks at points that a paper does not print, claims of ours, and arithmetic, \
     which cannot fail.";

const MAX_TOGETHER: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// The exhibits are on this page.
    Here,
    /// The exhibits are on this page, which has only one paper.
    HereOfOne,
    /// The exhibits are on separate pages, one per paper.
    Apart,
}

/// Every page with its file name, the overview first.
pub(super) fn pages(results: &Results) -> Vec<(String, String)> {
    let papers = papers(results);
    if papers.len() < 2 || results.exhibits.len() <= MAX_TOGETHER {
        return vec![(PAGE.into(), page(results, Layout::Here))];
    }
    let of_one = |paper: &Paper<'_>| Results {
        title: paper.study.into(),
        exhibits: paper.exhibits.iter().map(|exhibit| (*exhibit).clone()).collect(),
        calibrated: results.calibrated.clone(),
        fairwire_version: results.fairwire_version.clone(),
        ..*results
    };
    let each = papers.iter().map(|paper| (file(paper.name), page(&of_one(paper), Layout::HereOfOne)));
    std::iter::once((PAGE.into(), page(results, Layout::Apart))).chain(each).collect()
}

fn file(paper: &str) -> String {
    format!("{}.html", anchor(paper))
}

fn page(results: &Results, layout: Layout) -> String {
    let papers = papers(results);
    let mut out = head(results);
    if layout == Layout::HereOfOne {
        out += &format!("<p><a href=\"{PAGE}\">All papers</a></p>\n");
    }
    let has_claims = papers.iter().any(|paper| paper.claims() > 0);
    if has_claims {
        counts(&mut out, &papers, layout);
    }
    filter(&mut out, has_claims);
    contents(&mut out, &papers, layout);
    if layout != Layout::Apart {
        sections(&mut out, &papers);
    }
    html::close(&mut out);
    out
}

fn sections(out: &mut String, papers: &[Paper<'_>]) {
    for paper in papers {
        *out += &format!(
            "<h2 id=\"{}\">{}</h2>\n<p class=\"faint\">{}</p>\n",
            anchor(paper.name),
            escaped(paper.study),
            escaped(paper.source)
        );
        paper.exhibits.iter().for_each(|exhibit| section(out, exhibit));
    }
}

fn head(results: &Results) -> String {
    let depth = match results.depth {
        Depth::Quick => {
            "A quick first look: few seeds, and of long sweeps not every point. Verdicts may change with <code>--full</code>."
        }
        Depth::Full => "In full: all seeds of each study.",
    };
    let (title, what) = match results.title.as_str() {
        "" if results.exhibits.len() == 1 => {
            (PAPERS, " exhibit of a paper on sharing a link fairly, made again with fairwire")
        }
        "" => (
            PAPERS,
            " exhibits: figures and tables of papers on sharing a link fairly, made again with fairwire",
        ),
        own => (
            own,
            if results.exhibits.len() == 1 {
                " exhibit, made with fairwire"
            } else {
                " exhibits, made with fairwire"
            },
        ),
    };
    let what = match results.exhibits.iter().any(|exhibit| !exhibit.claims.is_empty()) {
        true => (what, ", and what came of each claim", CHECKS),
        false => (what, "", ""),
    };
    let mut out = html::open(title);
    out += &format!(
        "<p>{}{} {}{}.</p>\n<p class=\"faint\">{depth}{}</p>\n",
        results.exhibits.len(),
        what.0,
        escaped(&results.fairwire_version),
        what.1,
        what.2,
    );
    if results.interrupted {
        out.push_str("<p><strong>This run was interrupted: only finished exhibits are here.</strong></p>\n");
    }
    out
}

fn counts(out: &mut String, papers: &[Paper<'_>], layout: Layout) {
    let (lines, sum) = headline(papers);
    if !lines.is_empty() {
        count_heads(out, ["paper", "exhibits"]);
        for (paper, count) in &lines {
            count_row(out, "", &[linked(paper, layout), paper.exhibits.len().to_string()], *count);
        }
        let exhibits: usize = lines.iter().map(|(paper, _)| paper.exhibits.len()).sum();
        count_row(out, " class=\"sum\"", &["all".into(), exhibits.to_string()], sum);
        out.push_str("</table></div>\n");
    }
    let others = others(papers);
    if others.is_empty() {
        return;
    }
    *out += &format!("<p class=\"faint\">{OTHERS}</p>\n");
    count_heads(out, ["study", "origin"]);
    for (paper, origin, count) in &others {
        count_row(out, "", &[linked(paper, layout), origin.to_string()], *count);
    }
    out.push_str("</table></div>\n");
}

fn linked(paper: &Paper<'_>, layout: Layout) -> String {
    format!("<a href=\"{}#{}\">{}</a>", page_of(paper.name, layout), anchor(paper.name), escaped(paper.study))
}

fn page_of(paper: &str, layout: Layout) -> String {
    if layout == Layout::Apart { file(paper) } else { String::new() }
}

fn count_heads(out: &mut String, first: [&str; 2]) {
    out.push_str("<div class=\"wide\"><table class=\"counts\">\n<tr>");
    for name in first.into_iter().chain(Count::HEADS) {
        *out += &format!("<th>{name}</th>");
    }
    out.push_str("</tr>\n");
}

fn count_row(out: &mut String, class: &str, names: &[String], count: Count) {
    *out += &format!("<tr{class}>");
    names.iter().for_each(|name| *out += &format!("<td>{name}</td>"));
    for number in count.numbers() {
        *out += &format!("<td class=\"number\">{number}</td>");
    }
    out.push_str("</tr>\n");
}

type Has = fn([usize; 3]) -> bool;

const VERDICTS: [(&str, &str, Has); 3] = [
    ("fails", "a claim does not hold", |[_, fail, _]| fail > 0),
    ("holds", "every claim holds", |[hold, fail, _]| hold > 0 && fail == 0),
    ("open", "a claim is not testable as printed", |[_, _, open]| open > 0),
];

fn filter(out: &mut String, has_claims: bool) {
    let verdict = || Choice {
        label: "Verdict".into(),
        all: "all exhibits".into(),
        options: VERDICTS.iter().map(|(word, text, _)| (word.to_string(), text.to_string())).collect(),
    };
    html::filter(out, "exhibits", &has_claims.then(verdict).into_iter().collect::<Vec<_>>());
}

fn contents(out: &mut String, papers: &[Paper<'_>], layout: Layout) {
    let exhibits: usize = papers.iter().map(|paper| paper.exhibits.len()).sum();
    // A long list is folded, because it would push the first figure off the screen.
    let open = if exhibits <= SHORT || layout != Layout::Here { " open" } else { "" };
    let summary = if exhibits == 1 { "One exhibit".into() } else { format!("All {exhibits} exhibits") };
    *out += &format!("<details class=\"contents\"{open}><summary>{summary}</summary>\n");
    out.push_str("<nav aria-label=\"Exhibits\">\n");
    for exhibit in papers.iter().flat_map(|paper| &paper.exhibits) {
        *out += &format!("{}\n", link(exhibit, &format!("{}: {}", exhibit.name(), exhibit.title), layout));
    }
    out.push_str("</nav>\n</details>\n");
}

fn link(exhibit: &Exhibit, text: &str, layout: Layout) -> String {
    let page = page_of(&exhibit.paper, layout);
    let name = anchor(&exhibit.name());
    let is: Vec<&str> =
        VERDICTS.iter().filter(|(.., has)| has(exhibit.counted())).map(|(word, ..)| *word).collect();
    format!(
        "<a href=\"{page}#{name}\" data-shows=\"{name}\" data-is=\"{}\">{}</a>",
        is.join(" "),
        escaped(text)
    )
}

fn anchor(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '-' }).collect()
}

fn place(claim: &Claim) -> String {
    let own = if claim.origin.is_of_the_paper() { String::new() } else { claim.origin.to_string() };
    let parts: Vec<&str> =
        [claim.place.as_str(), own.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(" <span class=\"faint\">({})</span>", escaped(&parts.join("; ")))
}

fn badge(claim: &Claim) -> String {
    let (class, sign) = match claim.verdict {
        Verdict::Holds => ("holds", "\u{2713}"),
        Verdict::Unclear | Verdict::Known | Verdict::Fails => ("fails", "\u{2717}"),
        Verdict::NotTestable => ("none", "\u{2013}"),
    };
    format!("<span class=\"verdict {class}\">{sign} {}</span>", words(claim))
}

fn section(out: &mut String, exhibit: &Exhibit) {
    let name = exhibit.name();
    *out += &format!(
        "<section class=\"exhibit\" id=\"{}\">\n<h3>{}: {}</h3>\n<figure>\n",
        anchor(&name),
        escaped(&name),
        escaped(&exhibit.title)
    );
    let (tables, drawings): (Vec<&Panel>, Vec<&Panel>) = exhibit.panels.iter().partition(|p| p.is_table());
    tables.iter().for_each(|panel| cells::figure(out, panel));
    if !drawings.is_empty() {
        out.push_str(&picture(exhibit, drawings.into_iter().cloned().collect(), Setting::InPage));
    }
    out.push_str("</figure>\n");
    claims(out, exhibit);
    if !exhibit.notes.is_empty() {
        out.push_str("<ul class=\"notes\">\n");
        exhibit.notes.iter().for_each(|note| *out += &format!("<li>{}</li>\n", escaped(note)));
        out.push_str("</ul>\n");
    }
    numbers(out, exhibit);
    let has_samples = super::csv::samples(exhibit).is_ok_and(|samples| samples.is_some());
    let samples = match has_samples {
        true => format!(", <a href=\"{0}\">samples</a>", escaped(&samples_name(exhibit))),
        false => String::new(),
    };
    *out += &format!(
        "<pre>{}</pre>\n<p class=\"faint\">{}. Beside this page: <a href=\"{file}.svg\">picture</a>, \
             <a href=\"{file}.csv\">numbers</a>{samples}.</p>\n</section>\n",
        escaped(&exhibit.command),
        escaped(&sentence(&conditions(exhibit))),
        file = escaped(&name)
    );
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn claims(out: &mut String, exhibit: &Exhibit) {
    if exhibit.claims.is_empty() {
        out.push_str("<p class=\"faint\">No claim is made of this one.</p>\n");
        return;
    }
    let (misses, others): (Vec<&Claim>, Vec<&Claim>) =
        exhibit.claims.iter().partition(|claim| claim.is_missed());
    *out += &format!("<p class=\"count\">{}</p>\n", counted(exhibit));
    listed(out, &misses);
    if !others.is_empty() {
        *out += &format!("<details><summary>{}</summary>\n", folded(exhibit));
        listed(out, &others);
        out.push_str("</details>\n");
    }
}

fn counted(exhibit: &Exhibit) -> String {
    let claims = exhibit.claims.len();
    let [hold, fail, open] = exhibit.counted();
    let mut text =
        format!("{claims} claim{}: {hold} hold{}", plural(claims), if hold == 1 { "s" } else { "" });
    for (count, words) in
        [(fail, if fail == 1 { "does not" } else { "do not" }), (open, "not testable as printed")]
    {
        if count > 0 {
            text += &format!(", {count} {words}");
        }
    }
    text
}

fn folded(exhibit: &Exhibit) -> String {
    let [hold, _, open] = exhibit.counted();
    let holds = if hold == 1 { "the one that holds".into() } else { format!("the {hold} that hold") };
    let untested = format!("the {open} not testable as printed");
    match (hold > 0, open > 0) {
        (true, true) => sentence(&format!("{holds}, and {untested}")),
        (true, false) => sentence(&holds),
        _ => sentence(&untested),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn listed(out: &mut String, claims: &[&Claim]) {
    if claims.is_empty() {
        return;
    }
    out.push_str("<ol class=\"claims\">\n");
    for claim in claims {
        *out += &format!("<li>{} {}{}\n", badge(claim), escaped(&claim.says), place(claim));
        let why = cause(claim).filter(|cause| *cause != Cause::Unknown);
        let why = why.map_or(String::new(), |cause| format!(". Why not: {}", cause.words()));
        if !claim.detail.is_empty() {
            *out += &format!("<p>{}{}</p>\n", escaped(&sentence(&claim.detail)), escaped(&why));
        }
        checked(out, claim);
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n");
}

fn checked(out: &mut String, claim: &Claim) {
    let because =
        if claim.because.is_empty() { String::new() } else { format!(". Why so: {}", claim.because) };
    if !claim.check.is_empty() {
        *out += &format!("<p class=\"faint\">Checked: {}{}</p>\n", escaped(&claim.check), escaped(&because));
    }
}

fn numbers(out: &mut String, exhibit: &Exhibit) {
    let are_shown = !exhibit.panels.is_empty() && exhibit.panels.iter().all(Panel::is_table);
    if exhibit.numbers.is_empty() || exhibit.numbers.len() > MAX_NUMBERS || are_shown {
        return;
    }
    let printed = if exhibit.published.is_empty() { "" } else { "; small: as printed" };
    *out += &format!("<details><summary>The numbers{printed}</summary>\n");
    cells::numbers(out, exhibit);
    out.push_str("</details>\n");
}

#[cfg(test)]
mod tests {
    use super::super::samples::{all_kinds, hostile, many};
    use super::*;
    use crate::html::is_balanced;

    fn whole(results: &Results) -> String {
        page(results, Layout::Here)
    }

    #[test]
    fn the_page_is_well_formed_for_any_text_of_a_study() {
        for results in [all_kinds(), hostile(), many()] {
            let page = whole(&results);
            assert!(is_balanced(&page));
            assert!(!page.contains(|c: char| c.is_control() && c != '\n'));
        }
        assert_eq!(whole(&hostile()).matches("<script").count(), 1, "its own");
    }

    #[test]
    fn the_page_loads_nothing_from_the_network() {
        let page = whole(&all_kinds());
        let addresses =
            page.split("http").skip(1).filter(|rest| !rest.starts_with("://www.w3.org/2000/svg\""));
        assert_eq!(addresses.count(), 0);
        assert!(
            ["@import", "url(", "<link", "src=", "fetch(", "import("].iter().all(|word| !page.contains(word))
        );
    }

    #[test]
    fn every_exhibit_has_its_section_command_and_seeds_and_every_link_a_target() {
        let results = many();
        let page = whole(&results);
        assert_eq!(page.matches("<section").count(), 57);
        for exhibit in &results.exhibits {
            assert!(page.contains(&format!("id=\"{}\"", exhibit.name())));
            assert!(page.contains(&format!("<pre>{}</pre>", escaped(&exhibit.command))));
        }
        for target in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
        }
    }

    #[test]
    fn many_exhibits_have_a_page_per_paper_without_broken_links() {
        let results = many();
        let pages = pages(&results);
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[0], "report.html");
        let of_papers = papers(&results).len();
        assert!(of_papers > 1 && names.len() == of_papers + 1, "{names:?}");
        assert_eq!(pages[0].1.matches("<section").count(), 0, "the first has counts and links");
        let sections: usize = pages[1..].iter().map(|(_, html)| html.matches("<section").count()).sum();
        assert_eq!(sections, results.exhibits.len());
        for (name, html) in &pages {
            assert!(is_balanced(html), "{name}");
            for target in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                let (file, place) = target.split_once('#').unwrap_or((target, ""));
                let file = if file.is_empty() { name } else { file };
                if file.ends_with(".html") {
                    let there = pages.iter().find(|(name, _)| name == file).expect(file);
                    assert!(place.is_empty() || there.1.contains(&format!("id=\"{place}\"")), "{target}");
                }
            }
        }
        let few = Results { exhibits: results.exhibits[..3].to_vec(), ..results };
        assert_eq!(super::pages(&few).len(), 1);
    }

    #[test]
    fn each_claim_is_once_below_its_figure_and_only_failures_are_open() {
        let results = all_kinds();
        let page = whole(&results);
        let (first_figure, first_claim) =
            (page.find("<figure>").unwrap(), page.find("<span class=\"verdict ").unwrap());
        assert!(first_figure < first_claim, "a figure comes first");
        let claims: usize = results.exhibits.iter().map(|exhibit| exhibit.claims.len()).sum();
        assert_eq!(page.matches("<span class=\"verdict ").count(), claims);
        let table = page.split("id=\"faba.table1\"").nth(1).unwrap().split("</section>").next().unwrap();
        assert!(
            table.contains("<p class=\"count\">5 claims: 2 hold, 2 do not, 1 not testable as printed</p>")
        );
        let (open, folded) = table.split_once("<details><summary>The 2 that hold, and the 1 not").unwrap();
        assert_eq!((open.matches("verdict fails").count(), open.matches("verdict holds").count()), (2, 0));
        assert_eq!(
            (folded.matches("verdict fails").count(), folded.matches("verdict holds").count()),
            (0, 2)
        );
        assert!(open.contains("Why not: more seeds may settle it"), "{open}");
    }

    #[test]
    fn an_exhibit_of_kind_table_is_a_table_in_the_page() {
        let page = whole(&all_kinds());
        let table = page.split("id=\"faba.table1\"").nth(1).unwrap().split("</section>").next().unwrap();
        assert!(table.contains("<table class=\"cells\">") && !table.contains("<svg"));
        assert!(page.contains("<svg"), "others are drawn");
    }

    #[test]
    fn a_custom_study_has_its_title_and_no_empty_claim_table() {
        let papers = whole(&all_kinds());
        assert!(papers.contains("<h1>The papers, reproduced</h1>") && papers.contains("Checks are made"));
        let mut own = all_kinds();
        own.title = "Buffers & queues".into();
        own.exhibits.iter_mut().for_each(|exhibit| exhibit.claims.clear());
        let page = whole(&own);
        assert!(
            page.contains("<h1>Buffers &amp; queues</h1>")
                && page.contains("<title>Buffers &amp; queues</title>")
        );
        for nothing in ["papers on sharing", "<th>verdict</th>", "undecided", "Checks are made", "each claim"]
        {
            assert!(!page.contains(nothing), "{nothing}");
        }
        assert!(is_balanced(&page));
    }

    #[test]
    fn a_claim_that_more_seeds_may_settle_says_so() {
        assert!(whole(&all_kinds()).contains("does not hold (undecided)"));
    }
}
