//! The context tab: the context window of the item's request, as far as usage records it.

use ratatui::text::Span;

use super::facts::classes;
use super::inspected::InspectedItem;
use super::page::{PageBuilder, bar};
use crate::analysis::context::{LOOKED_AT, before, is_request, window_at};
use crate::app::text::viewport::Focus;
use crate::model::entry::{BlockKind, Break, Entry, EntryId};
use crate::model::figures::{self, percent};
use crate::model::usage::Usage;

const BAR: usize = 24;

/// The request of an item: its own, or the last one before it.
struct InspectedRequest<'a> {
    id: EntryId,
    entry: &'a Entry,
    usage: &'a Usage,
    is_own: bool,
}

fn request<'a>(subject: &InspectedItem<'a>) -> Option<InspectedRequest<'a>> {
    let transcript = &subject.session.transcript;
    let is_own = is_request(subject.entry);
    let id = if is_own {
        subject.focus.entry
    } else {
        before(
            transcript,
            transcript.place_of(subject.focus.entry)?,
            LOOKED_AT,
        )
        .0?
    };
    let entry = transcript.get(id)?;
    Some(InspectedRequest {
        id,
        entry,
        usage: entry.usage.as_deref()?,
        is_own,
    })
}

/// Lays out the context in two rows.
pub fn brief(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let Some(request) = request(subject) else {
        return;
    };
    let seen = request.usage.last_step();
    let window = window_at(&subject.session.transcript, request.entry, seen.context());
    let of = window
        .map(|window| format!(" / {}", figures::tokens(window)))
        .unwrap_or_default();
    let when = if request.is_own {
        "CONTEXT AT THIS REQUEST"
    } else {
        "CONTEXT AT THE REQUEST BEFORE"
    };
    page.heading(when, &format!("{}{of}", figures::tokens(seen.prompt())));
    let cached = seen.cache_read.unwrap_or(0);
    let cached = format!(
        "{} cached ({}%)",
        figures::tokens(cached),
        percent(cached, seen.prompt())
    );
    let output = seen
        .output
        .map(|tokens| format!("   {} written", figures::tokens(tokens)));
    page.paragraph(
        format!("{cached}{}", output.unwrap_or_default()),
        page.look.theme.text,
    );
}

/// Lays out the context tab.
pub fn lay_out(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let theme = page.look.theme;
    let Some(request) = request(subject) else {
        return page.paragraph(
            "no request up to here records its tokens, so the context is not known",
            theme.dim,
        );
    };
    if !request.is_own {
        page.paragraph(
            "this item records no tokens; the request before it does",
            theme.dim,
        );
    }
    let target = (!request.is_own).then_some(Focus {
        entry: request.id,
        block: 0,
    });
    let place = subject.place_words(Some(request.id), request.entry.origin);
    page.link("request", &[Span::styled(place, theme.text)], target);
    if let Some(model) = &request.entry.model {
        page.fact("model", model.to_string());
    }
    window(subject, &request, page);
    prompt(request.usage, page);
    growth(subject, &request, page);
}

fn window(subject: &InspectedItem<'_>, request: &InspectedRequest<'_>, page: &mut PageBuilder<'_>) {
    let seen = request.usage.last_step();
    let tokens = seen.prompt();
    let ascii = page.look.theme.ascii;
    if let Some(window) = window_at(&subject.session.transcript, request.entry, seen.context()) {
        page.heading(
            "WINDOW",
            &format!(
                "{} / {} {dot} {}%",
                figures::tokens(tokens),
                figures::tokens(window),
                percent(tokens, window),
                dot = page.look.theme.glyphs().dot
            ),
        );
        page.field(
            "filled",
            &[Span::styled(
                bar(tokens, window, BAR, ascii),
                page.look.theme.accent,
            )],
        );
        page.fact("left", figures::tokens(window.saturating_sub(tokens)));
    } else {
        page.heading("WINDOW", "size not known");
        page.fact("filled", figures::tokens(tokens));
    }
}

fn prompt(usage: &Usage, page: &mut PageBuilder<'_>) {
    page.heading(
        "TOKENS",
        &format!("{} in the prompt", figures::tokens(usage.prompt())),
    );
    let ascii = page.look.theme.ascii;
    let most = classes(usage)
        .iter()
        .filter_map(|(_, tokens)| *tokens)
        .max()
        .unwrap_or(0);
    for (name, tokens) in classes(usage) {
        let Some(tokens) = tokens else { continue };
        let theme = page.look.theme;
        let words = format!("{:>6}  ", figures::tokens(tokens));
        let bar = Span::styled(bar(tokens, most, BAR, ascii), theme.accent);
        page.field(name, &[Span::styled(words, theme.text), bar]);
    }
}

/// The growth of the prompt since the previous request.
fn growth(subject: &InspectedItem<'_>, request: &InspectedRequest<'_>, page: &mut PageBuilder<'_>) {
    let (theme, transcript) = (page.look.theme, &subject.session.transcript);
    let Some(place) = transcript.place_of(request.id) else {
        return;
    };
    let (earlier, compaction) = before(transcript, place, LOOKED_AT);
    page.heading("SINCE THE REQUEST BEFORE", "");
    if let Some(words) = compaction.and_then(|id| compaction_words(transcript.get(id)?)) {
        let target = compaction.map(|entry| Focus { entry, block: 0 });
        page.link("compacted", &[Span::styled(words, theme.warn)], target);
    }
    let earlier = earlier.and_then(|id| Some((id, transcript.get(id)?)));
    let Some((id, entry, usage)) =
        earlier.and_then(|(id, entry)| Some((id, entry, entry.usage.as_deref()?)))
    else {
        return page.paragraph(
            "there is none: this is the first that records its tokens",
            theme.dim,
        );
    };
    let words = format!(
        "{}  {} in its prompt",
        subject.place_words(Some(id), entry.origin),
        figures::tokens(usage.last_step().prompt())
    );
    page.link(
        "before",
        &[Span::styled(words, theme.text)],
        Some(Focus {
            entry: id,
            block: 0,
        }),
    );
    let (now, then) = (
        request.usage.last_step().prompt(),
        usage.last_step().prompt(),
    );
    let minus = theme.glyphs().minus;
    let change = if now >= then {
        format!("+{}", figures::tokens(now - then))
    } else {
        format!("{minus}{}", figures::tokens(then - now))
    };
    page.fact("change", change);
    if entry.model != request.entry.model {
        let name = entry
            .model
            .as_ref()
            .map_or("another model", |name| name.as_str());
        page.field("model", &[Span::styled(format!("was {name}"), theme.warn)]);
    }
    if let Some(cached) = request.usage.last_step().cache_read {
        let words = format!(
            "{} of the {} before came from the cache ({}%)",
            figures::tokens(cached.min(then)),
            figures::tokens(then),
            percent(cached.min(then), then)
        );
        page.fact("reuse", words);
    }
    if let Some(pause) = request
        .entry
        .at
        .zip(entry.at)
        .map(|(now, then)| now.since(then))
    {
        page.fact("pause", figures::duration(pause));
    }
}

fn compaction_words(entry: &Entry) -> Option<String> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Compaction {
            before,
            after,
            trigger,
            ..
        }) => {
            let words =
                |tokens: &Option<u64>| tokens.map_or_else(|| "?".to_owned(), figures::tokens);
            Some(format!(
                "from {} to {} {trigger}",
                words(before),
                words(after)
            ))
        }
        _ => None,
    })
}
