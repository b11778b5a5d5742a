//! Computes which entries are dimmed, and lists the model's context at the cursor.

use ratatui::text::{Line, Span};

use super::{ContextPart, SessionAtCursor, messages, request_of};
use crate::analysis::context;
use crate::analysis::context::seen::Sight;
use crate::analysis::context::window::weigh::ContextClass;
use crate::analysis::context::window::{Request, shares};
use crate::app::mode::Mode;
use crate::app::pop_ups::raw::RawView;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::viewport::Focus;
use crate::model::entry::{Entry, EntryId, Role};
use crate::model::figures;
use crate::render::row::Row;
use crate::render::wrap;

/// Limit of the list in rows; of a longer one the beginning is cut, with a note.
const MOST_ROWS: usize = 20_000;

/// Finds the entries of the window to dim, and the figures up to the cursor.
pub fn arrange(text: &mut TextPane, scene: &mut Scene<'_>) {
    text.as_of.lost.clear();
    let focus = text
        .view
        .focus
        .filter(|_| text.as_of.is_on && !scene.session.indexes.is_behind);
    let known = text.as_of.then.take();
    text.as_of.then = focus.map(|focus| {
        let wanted = (focus.entry, scene.session.indexes.generation);
        known
            .filter(|then| then.made_for == wanted)
            .unwrap_or_else(|| compute_totals(scene, wanted))
    });
    let sight = focus.and_then(|focus| sight_at(scene, focus));
    let Some(sight) = sight else { return };
    let in_sight = text.view.lines.iter().map(|line| line.entry);
    text.as_of.lost = in_sight
        .filter(|id| sight.has_lost(&scene.session.transcript, *id))
        .collect();
    if std::mem::take(&mut text.as_of.is_asked) {
        scene.set_status(if text.as_of.lost.is_empty() {
            "the model had lost nothing of what is in sight at the cursor"
        } else {
            "dim is what the model did not see at the cursor"
        });
    }
}

fn compute_totals(scene: &Scene<'_>, made_for: (EntryId, u64)) -> SessionAtCursor {
    let (transcript, account) = (&scene.session.transcript, &scene.session.indexes.account);
    let reach = account.as_of(transcript, made_for.0);
    SessionAtCursor {
        made_for,
        at: transcript.get(made_for.0).and_then(|entry| entry.at),
        cost: account.cost_as_of(transcript, &reach),
        turn: reach
            .turn
            .map(|turn| account.turn_as_of(transcript, &reach, turn)),
        context: context::at(transcript, made_for.0),
        position: reach,
    }
}

fn sight_at(scene: &Scene<'_>, focus: Focus) -> Option<Sight> {
    Sight::at(
        &scene.session.transcript,
        &scene.session.indexes.windows.cuts,
        focus.entry,
    )
}

/// Opens a list of the model's context at the cursor.
pub fn list(text: &mut TextPane, scene: &mut Scene<'_>) {
    let last = scene.session.transcript.order().last().map(|entry| Focus {
        entry: *entry,
        block: 0,
    });
    let Some(focus) = text.view.focus.or(last) else {
        return scene.set_status("nothing here yet");
    };
    let Some(sight) = sight_at(scene, focus) else {
        return;
    };
    let Some(entry) = scene.session.transcript.get(focus.entry) else {
        return;
    };
    let density = scene.session.indexes.windows.density(entry.lane.as_ref());
    let messages = messages(
        &scene.session.transcript,
        &sight.entries(&scene.session.transcript),
        entry.at,
        density,
    );
    let request = request_of(
        &scene.session.indexes.windows,
        &scene.session.transcript,
        focus.entry,
    );
    let mut lines = summary(scene, entry, &messages, request, density);
    let title = format!("What the model saw at {}", place(scene, focus.entry, entry));
    lines.push(String::new());
    let skipped = messages.len().saturating_sub(MOST_ROWS);
    if skipped > 0 {
        lines.push(format!("the first {skipped} are left out here"));
    }
    let cut = scene.screen.theme.glyphs().cut;
    let heads = lines.len();
    let shown = messages
        .iter()
        .skip(skipped)
        .map(|message| message.line(cut));
    lines.extend(shown);
    let width = usize::from(scene.screen.size.0.saturating_sub(2).max(1));
    let rows = lines.iter().enumerate().map(|(at, line)| {
        let style = if at < heads {
            scene.screen.theme.dim
        } else {
            scene.screen.theme.text
        };
        Row {
            line: Line::from(wrap::fit(&[Span::styled(line.clone(), style)], width, cut)),
            ..Row::default()
        }
    });
    let rows: Vec<Row> = rows.collect();
    let list = format!("{title}\n{}\n", lines.join("\n"));
    scene.enter(Mode::Raw(RawView::of_text(title, rows, list)));
}

fn place(scene: &Scene<'_>, id: EntryId, entry: &Entry) -> String {
    let number = scene
        .session
        .transcript
        .place_of(id)
        .map_or(0, |place| place + 1);
    let time = entry
        .at
        .map(|at| format!(", {}", at.clock()))
        .unwrap_or_default();
    let lane = entry.lane.as_ref().map(|name| {
        let label = scene
            .session
            .transcript
            .lane(name)
            .map_or(name, |lane| &lane.label);
        format!(", in {label}")
    });
    format!("#{number}{time}{}", lane.unwrap_or_default())
}

/// The lines above the list: sums, and notes on what the file does not record.
fn summary(
    scene: &Scene<'_>,
    entry: &Entry,
    messages: &[ContextPart],
    request: Option<&Request>,
    density: f64,
) -> Vec<String> {
    let bytes: u64 = messages.iter().map(|message| message.bytes).sum();
    let parts = messages.len() as u64;
    let mut lines = vec![format!(
        "{} of messages, {}, ~{} tokens at {density:.1} bytes a token",
        figures::count(parts, "part"),
        figures::bytes(bytes),
        figures::tokens(shares::tokens_of(bytes, density)),
    )];
    let has = |class: ContextClass| messages.iter().any(|message| message.class == class);
    let missing = match (has(ContextClass::System), has(ContextClass::Tools)) {
        (true, true) => None,
        (true, false) => Some("tools"),
        (false, true) => Some("the system prompt"),
        (false, false) => Some("system prompt and tools"),
    };
    let not_here = || {
        missing
            .map(|missing| format!("; {missing} are not in the file"))
            .unwrap_or_default()
    };
    match request {
        Some(request) => {
            let shares = shares::of(request, density);
            let rest = if shares.is_scaled {
                "the estimate is too high; of system and tools nothing can be told".to_owned()
            } else {
                let rest = figures::tokens(shares.rest);
                missing.map_or_else(
                    || format!("~{rest} of it no part explains"),
                    |missing| format!("~{rest} of {missing} are not in the file"),
                )
            };
            let prompt = figures::tokens(request.prompt);
            lines.push(format!(
                "the prompt of this request had {prompt} tokens, as recorded: {rest}"
            ));
        }
        None if entry.role == Role::Assistant => {
            lines.push(format!("this answer records no tokens{}", not_here()));
        }
        None => lines.push(format!(
            "what the next request was to have before it{}",
            not_here()
        )),
    }
    if scene.session.is_part() {
        lines.push(
            "the session is still being read: what comes before its end is missing".to_owned(),
        );
    }
    lines
}
