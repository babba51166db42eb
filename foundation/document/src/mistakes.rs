//! Collects several mistakes, although the reader stops at the first.

use crate::reader::{Mistake, read};
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

const MAX_MISTAKES: usize = 10;

/// The mistakes in `root`, read as a `T`, starting with `first`. Removes each rejected value, and
/// reads the rest again. A key that is missing only because of a removal is not a mistake.
pub(crate) fn all<T: DeserializeOwned>(mut root: Spanned<DeTable<'_>>, first: Mistake) -> Vec<Mistake> {
    let mut found: Vec<Mistake> = Vec::new();
    let mut robbed: Vec<Range<usize>> = Vec::new();
    let mut next = Some(first);
    // Each iteration removes a value. Some iterations find no mistake: they only remove a table
    // that lost a required value.
    for _ in 0..MAX_MISTAKES * 4 {
        let Some(mistake) = next else { break };
        let span = mistake.span.clone();
        if !robbed.contains(&span) {
            found.push(mistake);
        }
        let whole = root.span();
        if found.len() == MAX_MISTAKES || !taken_out(root.get_mut(), &span, &whole, &mut robbed) {
            break;
        }
        next = read::<T>(&root).err();
    }
    found
}

/// Removes the entry whose key or value has `span`, and adds the span of the entry's table to
/// `robbed`. `own` is the span of `table`. Returns false if no entry has `span`.
fn taken_out(
    table: &mut DeTable<'_>,
    span: &Range<usize>,
    own: &Range<usize>,
    robbed: &mut Vec<Range<usize>>,
) -> bool {
    // Inner values are tried first, because an array of tables has the span of its first element.
    if table.iter_mut().any(|(_, value)| taken_out_below(value, span, robbed)) {
        return true;
    }
    let meant = table.iter().find(|(key, value)| key.span() == *span || value.span() == *span);
    let Some(key) = meant.map(|(key, _)| key.get_ref().to_string()) else { return false };
    table.remove(key.as_str());
    robbed.push(own.clone());
    true
}

fn taken_out_below(
    value: &mut Spanned<DeValue<'_>>,
    span: &Range<usize>,
    robbed: &mut Vec<Range<usize>>,
) -> bool {
    let own = value.span();
    match value.get_mut() {
        DeValue::Table(table) => taken_out(table, span, &own, robbed),
        DeValue::Array(items) => {
            let mut below = 0..items.len();
            if below.any(|at| items.get_mut(at).is_some_and(|item| taken_out_below(item, span, robbed))) {
                return true;
            }
            let before = items.len();
            let kept =
                std::mem::replace(items, DeArray::new()).into_iter().filter(|item| item.span() != *span);
            kept.for_each(|item| items.push(item));
            items.len() < before
        }
        _ => false,
    }
}
