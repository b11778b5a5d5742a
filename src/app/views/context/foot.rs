//! The details of the chosen row: the reason and cost of a cache miss, the composition of the
//! prompt, and which figures are estimates.

use itertools::Itertools as _;
use ratatui::text::{Line, Span};

use super::percent;
use super::row::token_words;
use crate::analysis::context::cache_breaks::CacheBreak;
use crate::analysis::context::seen;
use crate::analysis::context::window::weigh::ContextClass;
use crate::analysis::context::window::{Compaction, ContextRow, Request, TokenCount, shares};
use crate::analysis::phrases;
use crate::app::views::page::PageScene;
use crate::model::entry::EntryId;
use crate::model::figures::{count, tokens};
use crate::model::text::Name;
use crate::render::wrap;

/// Maximum number of tools whose results are listed by name.
const TOOLS: usize = 6;

/// The foot, with the cached sizes of results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foot {
    tools: Option<ToolBytes>,
}

/// Bytes of results by tool.
#[derive(Clone, Debug)]
struct ToolBytes {
    /// The request before which results were counted.
    request: EntryId,
    /// The state of the windows at that time.
    state: u64,
    sizes: Vec<(Name, u64)>,
}

impl Foot {
    /// The lines of the foot, exactly `most`.
    pub(crate) fn lines(
        &mut self,
        scene: &PageScene<'_>,
        row: &ContextRow,
        density: f64,
        most: usize,
    ) -> Vec<Line<'static>> {
        let paragraphs = match row {
            ContextRow::Request(request) => vec![
                cache(scene, request),
                vec![Span::styled(
                    self.made_of(scene, request, density),
                    scene.theme.text,
                )],
                vec![Span::styled(
                    estimate_note(scene, request, density),
                    scene.theme.dim,
                )],
            ],
            ContextRow::Compaction(compaction) => vec![of_compaction(scene, compaction)],
        };
        let mut lines = Vec::new();
        for spans in paragraphs {
            let left = most - lines.len();
            if left > 0 {
                lines.extend(wrap::wrap(&spans, &scene.frame(left)));
            }
        }
        // The foot has a fixed height, so that its rule does not move.
        lines.resize(most, Line::default());
        lines
    }

    /// The classes of the prompt, the largest first.
    fn made_of(&mut self, scene: &PageScene<'_>, request: &Request, density: f64) -> String {
        let dot = scene.theme.glyphs().dot;
        let shares = shares::of(request, density);
        let mut parts: Vec<(u64, String)> = Vec::new();
        if shares.rest > 0 {
            parts.push((shares.rest, "system and tools".to_owned()));
        }
        for (class, size) in &shares.classes {
            let name = match class {
                ContextClass::Result => tool_list(self.by_tool(scene, request.entry), *size),
                class => class.word().to_owned(),
            };
            parts.push((*size, name));
        }
        parts.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        let share = |size: u64| percent(size, request.prompt);
        let mut parts = parts
            .iter()
            .map(|(size, name)| format!("~{} {}% {name}", tokens(*size), share(*size)));
        let of = request
            .limit
            .map(|limit| format!(" of {}", tokens(limit)))
            .unwrap_or_default();
        let all = parts.join(&format!(" {dot} "));
        format!("{}{of}: {all}", tokens(request.prompt))
    }

    fn by_tool(&mut self, scene: &PageScene<'_>, request: EntryId) -> &[(Name, u64)] {
        let windows = &scene.indexes.windows;
        let state = windows.generation;
        let known = self
            .tools
            .take()
            .filter(|tools| (tools.request, tools.state) == (request, state));
        let known = known.unwrap_or_else(|| {
            let sizes = shares::results_by_tool(scene.transcript, &windows.cuts, request);
            ToolBytes {
                request,
                state,
                sizes,
            }
        });
        self.tools.insert(known).sizes.as_slice()
    }
}

/// Results by tool. `all` tokens are distributed by bytes.
fn tool_list(sizes: &[(Name, u64)], all: u64) -> String {
    let sum: u64 = sizes.iter().map(|(_, bytes)| bytes).sum();
    let part = |bytes: u64| u128::from(bytes) * u128::from(all) / u128::from(sum.max(1));
    let listed = sizes.iter().take(TOOLS).map(|(name, bytes)| {
        let name = if name.is_empty() {
            "unnamed"
        } else {
            name.as_str()
        };
        format!(
            "{name} ~{}",
            tokens(u64::try_from(part(*bytes)).unwrap_or(u64::MAX))
        )
    });
    let more = sizes
        .len()
        .checked_sub(TOOLS + 1)
        .map(|more| count(more as u64 + 1, "more tool"));
    format!("results ({})", listed.chain(more).join(", "))
}

/// The share of the cache, or the reason of a cache miss.
fn cache(scene: &PageScene<'_>, request: &Request) -> Vec<Span<'static>> {
    let theme = scene.theme;
    if let Some(found) = &request.cache_break {
        return missed(scene, found);
    }
    let parts = [
        request.read.map(|read| (read, "read")),
        request.write.map(|write| (write, "written")),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .map(|(size, word)| format!("{} {word}", tokens(size)))
        .collect();
    if parts.is_empty() {
        return vec![Span::styled("cache: not recorded", theme.dim)];
    }
    vec![Span::styled(
        format!("cache: {}", parts.join(", ")),
        theme.text,
    )]
}

fn missed(scene: &PageScene<'_>, found: &CacheBreak) -> Vec<Span<'static>> {
    let theme = scene.theme;
    let place = if found.is_inside {
        "cache missed within the turn"
    } else {
        "cache missed"
    };
    let price = found
        .usd
        .map_or_else(|| "$?".to_owned(), |usd| format!("~{}", phrases::usd(usd)));
    let again = if found.is_written {
        "were written again"
    } else {
        "were paid as input again"
    };
    let words = format!(
        "{} of the {} before were read; {} {again}, for {price} more than reading costs",
        tokens(found.read.min(found.cached)),
        tokens(found.cached),
        tokens(found.repaid),
    );
    vec![
        Span::styled(format!("{place}: {}. ", found.cause.words()), theme.warn),
        Span::styled(words, theme.text),
    ]
}

/// Which of these figures are estimates.
fn estimate_note(scene: &PageScene<'_>, request: &Request, density: f64) -> String {
    let shares = shares::of(request, density);
    let rest = if shares.is_scaled {
        "they are more than the prompt, and cut down to it: nothing is left to tell system and tools by"
    } else {
        match (
            shares.contains(ContextClass::System),
            shares.contains(ContextClass::Tools),
        ) {
            (true, true) => "the rest is what no entry explains, beside system prompt and tools",
            (true, false) => {
                "system and tools is what no entry explains, beside the system prompt that the file holds"
            }
            (false, true) => "the system prompt is not in the file: it is what no entry explains",
            (false, false) => "system and tools are what no entry explains",
        }
    };
    let left = scene
        .transcript
        .branches()
        .of(request.entry)
        .filter(|branch| !branch.is_active);
    let left = left.map(|branch| format!("; on branch {}, which was left", branch.number));
    format!(
        "shares are estimated from sizes, {density:.1} bytes a token; {rest}{}",
        left.unwrap_or_default()
    )
}

fn of_compaction(scene: &PageScene<'_>, compaction: &Compaction) -> Vec<Span<'static>> {
    let theme = scene.theme;
    let transcript = scene.transcript;
    let source = |figure: Option<TokenCount>, beside: &str| match figure {
        Some(figure) if figure.is_recorded => "as recorded".to_owned(),
        Some(_) => format!("the prompt of the request {beside}"),
        None => "not known".to_owned(),
    };
    let figures = format!(
        "{} tokens before, {}; {} after, {}. ",
        token_words(compaction.before),
        source(compaction.before, "before with its answer"),
        token_words(compaction.after),
        source(compaction.after, "after"),
    );
    let place = transcript.place_of(compaction.entry);
    let kept = place.and_then(|place| {
        Some((
            seen::kept_from(transcript, &transcript.get(compaction.entry)?.key, place)?,
            place,
        ))
    });
    let kept = match kept {
        _ if compaction.is_partial => "Only old outputs of tools were dropped.".to_owned(),
        Some((first, end)) => {
            let lane = transcript.get(compaction.entry).map(|entry| &entry.lane);
            let order = transcript.order().get(first..end).unwrap_or_default();
            let of_lane = order
                .iter()
                .filter(|id| transcript.get(**id).map(|entry| &entry.lane) == lane);
            let kept = count(of_lane.count() as u64, "entry");
            format!("It kept {kept} before it.")
        }
        None => "It kept nothing before it but the summary, as far as the file tells.".to_owned(),
    };
    vec![
        Span::styled(figures, theme.text),
        Span::styled(kept, theme.dim),
    ]
}
