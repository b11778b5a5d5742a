//! Lines outside the chain of messages: titles, modes, queues, links, bookkeeping. The program appends
//! them again and again; the last one counts.

use super::lanes::Trust;
use super::line::Line;
use super::session::Session;
use super::system::{show_break, show_text};
use super::voice::element;
use crate::formats::anthropic;
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;

/// A line of one of these types; `None` if the type is another.
pub fn decode(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Option<Fate> {
    let json = line.json;
    let fate = match line.kind() {
        "summary" => summary(line, session, out),
        "ai-title" => title(2, json.get("aiTitle"), out),
        "custom-title" => title(3, json.get("customTitle"), out),
        "agent-name" => agent(json.get("agentName"), out),
        "agent-setting" => changed(line, session, "agent", "agentSetting", out),
        "mode" => changed(line, session, "mode", "mode", out),
        "permission-mode" => changed(line, session, "permission mode", "permissionMode", out),
        "tag" => changed(line, session, "tag", "tag", out),
        "pr-link" => changed(line, session, "pull request", "prUrl", out),
        "bridge-session" => changed(line, session, "bridge session", "bridgeSessionId", out),
        "continued-in" => {
            let names = ["continuedIn", "targetSessionId", "sessionId"];
            let target = names.iter().find_map(|name| json.get(name).filled()).unwrap_or_default();
            let text = Text::clean(&format!("continued in {target}"));
            show_break(line, Break::Resumed(text), false, out)
        }
        "queue-operation" => queue(line, session, out),
        "last-prompt" => Fate::Passed("copy of the last prompt"),
        "file-history-snapshot" => Fate::Passed("snapshot of files for undo"),
        _ => return None,
    };
    Some(fate)
}

fn title(rank: u8, title: &Json<'_>, out: &mut Batch) -> Fate {
    out.meta(MetaEdit::Title { rank, title: Text::clean(title.str_or_empty()) });
    Fate::Merged
}

fn agent(name: &Json<'_>, out: &mut Batch) -> Fate {
    if let Some(name) = name.text() {
        out.meta(MetaEdit::Agent(name));
    }
    Fate::Merged
}

/// Summaries of other sessions stand at the head of a file; all are kept readable.
fn summary(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let json = line.json;
    let told = json.get("summary").filled().map(str::to_owned);
    let text = told.unwrap_or_else(|| anthropic::output_text(json.at(&["message", "content"])).into_owned());
    session.tell_summary(json.get("leafUuid").str_or_empty(), Text::stub(&text, 200), out);
    show_text(line, "summary of a conversation", &text, true, out)
}

/// A setting shows once for each of its values: the lines are appended again with every resume, so
/// their places tell nothing.
fn changed(line: &Line<'_>, session: &mut Session, what: &str, member: &str, out: &mut Batch) -> Fate {
    let told = Text::stub(&format!("{what}: {}", line.json.get(member).str_or_empty()), 200);
    if !session.is_new_setting(&told) {
        return Fate::Merged;
    }
    let mut entry = line.entry(told.clone(), Role::Harness, out);
    entry.marks.quiet = true;
    entry.blocks.push(Batch::block(Piece(0), BlockKind::Break(Break::Setting(told))));
    out.entry(entry);
    Fate::Shown
}

/// The queue of prompts typed while the agent is busy. What is taken out shows as a prompt of its own.
fn queue(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let content = line.json.get("content").str_or_empty();
    if content.trim().is_empty() {
        return Fate::Passed("queue of prompts");
    }
    if let (Some(task), Some(call)) = (element(content, "task-id"), element(content, "tool-use-id")) {
        session.lanes.link(task, call, Trust::Progress, out);
    }
    show_text(line, "queued", content, true, out)
}
