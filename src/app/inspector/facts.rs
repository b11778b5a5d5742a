//! Sections that every item has: tokens, cost, records.

use super::inspected::InspectedItem;
use super::page::PageBuilder;
use crate::analysis::money::cost;
use crate::analysis::phrases;
use crate::model::figures;
use crate::model::usage::{Scope, Usage};

/// Tokens by class, as the agent recorded them.
pub fn usage(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let Some(usage) = subject.entry.usage.as_deref() else {
        return;
    };
    let scope = match usage.scope {
        Scope::Request | Scope::Open => "this request",
        Scope::Extra => "besides the requests",
        Scope::Run => "the run, as the agent sums it",
        Scope::Total => "all so far, as the agent sums it",
        Scope::Fallback => "the run",
    };
    page.heading("TOKENS", scope);
    for (name, tokens) in classes(usage) {
        if let Some(tokens) = tokens {
            page.fact(name, figures::tokens(tokens));
        }
    }
    if usage.is_partial {
        page.paragraph(
            "the output was counted before the answer was complete: it is more",
            page.look.theme.dim,
        );
    }
}

/// Tokens by class, with the names of the classes.
pub fn classes(usage: &Usage) -> [(&'static str, Option<u64>); 6] {
    [
        ("input", usage.input),
        ("cached", usage.cache_read),
        ("cache new", usage.cache_write),
        (
            "1h of it",
            usage.cache_write_1h.filter(|tokens| *tokens > 0),
        ),
        ("output", usage.output),
        ("thinking", usage.reasoning.filter(|tokens| *tokens > 0)),
    ]
}

/// The cost of the request, the turn and the session.
pub fn cost(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let entry = subject.entry;
    let request = entry
        .usage
        .as_deref()
        .map(|usage| cost::of_request(usage, entry.model.as_ref()));
    let unknown = || "$?".to_owned();
    let request = request.map(|cost| phrases::cost(&cost).unwrap_or_else(unknown));
    let turn = subject.turn.as_ref().filter(|turn| !turn.cost.is_empty());
    let session = Some(&subject.session.status.cost).filter(|cost| !cost.is_empty());
    let parts = [
        request.map(|cost| format!("this request {cost}")),
        turn.map(|turn| format!("turn {} {}", turn.number, turn.cost)),
        session.map(|cost| format!("session {cost}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        page.heading("COST", "");
        page.paragraph(parts.join("   "), page.look.theme.text);
    }
}

/// The records of the item.
pub fn source(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let origins = crate::app::copying::clipboard::origins_of(subject.session, &[subject.focus]);
    let first = origins
        .first()
        .and_then(|origin| subject.file(*origin))
        .unwrap_or_default();
    page.heading("SOURCE", &first);
    for (number, origin) in origins.iter().enumerate() {
        let name = if number == 0 { "records" } else { "" };
        let size = figures::bytes(u64::from(origin.len));
        page.fact(
            name,
            format!("{}  {size}", subject.place_words(None, *origin)),
        );
    }
}
