//! The frame of a single-file page: head, style, search and script. The page needs no network, and
//! is complete without the script.

use fairwire_figures::{escaped, sheet};
use fairwire_web::report::{SCRIPT, STYLE};

/// A filter for the items of a page. An item's attribute `data-is` contains the words of the
/// options that the item matches.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Its label.
    pub label: String,
    /// The text of the filter while nothing is selected.
    pub all: String,
    /// The word and the text of each option.
    pub options: Vec<(String, String)>,
}

pub(crate) fn open(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
             <style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
        sheet(),
        title = escaped(title),
    )
}

/// Adds a search among the page's `items`, and filters for them. Both need the script, so they are
/// hidden until it shows them.
pub(crate) fn filter(out: &mut String, items: &str, choices: &[Choice]) {
    *out += &format!(
        "<form class=\"filter\" role=\"search\" data-items=\"{items}\" hidden>\n\
             <label>Search <input type=\"search\" autocomplete=\"off\"></label>\n"
    );
    for choice in choices {
        *out += &format!(
            "<label>{} <select><option value=\"\">{}</option>",
            escaped(&choice.label),
            escaped(&choice.all)
        );
        for (word, text) in &choice.options {
            *out += &format!("<option value=\"{}\">{}</option>", escaped(word), escaped(text));
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("<output aria-live=\"polite\"></output>\n</form>\n");
}

/// Ends a page.
pub(crate) fn close(out: &mut String) {
    *out += &format!("</main>\n<script type=\"module\">\n{SCRIPT}</script>\n</body>\n</html>\n");
}

#[cfg(test)]
pub(crate) fn is_balanced(html: &str) -> bool {
    const EMPTY: [&str; 3] = ["meta", "!doctype", "input"];
    let mut open: Vec<&str> = Vec::new();
    let (page, _) = html.split_once("<script").expect("a script at the end");
    for part in page.split('<').skip(1) {
        let Some((tag, _)) = part.split_once('>') else { return false };
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        match (tag.starts_with('/'), tag.ends_with('/') || EMPTY.contains(&name)) {
            (true, _) if open.pop() != Some(name) => return false,
            (false, false) => open.push(name),
            _ => {}
        }
    }
    open == ["html", "body"]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unbalanced_page_is_found() {
        let page = |inside: &str| format!("<html><body>{inside}<script>a<b</script></body></html>");
        assert!(!is_balanced(&page("<a><b></a></b>")) && !is_balanced(&page("<a>")));
        assert!(is_balanced(&page("<a><br/></a>")));
    }

    #[test]
    fn titles_and_labels_of_a_page_are_escaped() {
        let mut page = open("<b>&");
        let choice = Choice {
            label: "<i>".into(),
            all: "\"".into(),
            options: vec![("a\"b".into(), "<script>".into())],
        };
        filter(&mut page, "rows", &[choice]);
        close(&mut page);
        assert!(is_balanced(&page), "{page}");
        assert_eq!(page.matches("<script").count(), 1, "its own");
    }
}
