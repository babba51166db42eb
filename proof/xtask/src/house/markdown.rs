//! The links and headings of Markdown pages, outside code blocks.

fn without_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// The links of a page: line and target.
pub fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    without_code(text).flat_map(|(line, text)| {
        text.split("](").skip(1).filter_map(move |rest| Some((line, rest.split_once(')')?.0)))
    })
}

/// The links whose text is code, such as [`Name`](file.rs): line, text and target.
pub fn links_of_code(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    without_code(text).flat_map(|(line, text)| {
        text.match_indices("`](").filter_map(move |(at, end)| {
            let (_, name) = text[..at].rsplit_once("[`")?;
            Some((line, name, text[at + end.len()..].split_once(')')?.0))
        })
    })
}

/// The headings of a page: the anchor, as in GitHub and mdBook, and the text.
pub fn headings(text: &str) -> impl Iterator<Item = (String, &str)> {
    let mut seen: Vec<String> = Vec::new();
    without_code(text).filter_map(move |(_, line)| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?.trim();
        let slug: String = without_targets(title).to_lowercase().chars().filter_map(of_anchor).collect();
        let before = seen.iter().filter(|other| **other == slug).count();
        let anchor = if before == 0 { slug.clone() } else { format!("{slug}-{before}") };
        seen.push(slug);
        Some((anchor, title))
    })
}

fn of_anchor(c: char) -> Option<char> {
    if c == ' ' { Some('-') } else { Some(c).filter(|c| c.is_alphanumeric() || "-_".contains(*c)) }
}

/// `text` with each link replaced by its text.
pub fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |plain, part| plain + part.split_once(')').map_or("", |(_, after)| after))
}

/// The target of a link in `page`, relative to the root.
pub fn resolved(page: &str, target: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut path: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()),
            name => path.push(name),
        }
    }
    path.join("/")
}
