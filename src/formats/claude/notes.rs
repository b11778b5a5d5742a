//! Lines outside the chain of messages: titles, modes, queues, links, bookkeeping. The program
//! appends them repeatedly; the last one counts.

use super::line::TranscriptLine;
use super::queue;
use super::session::DecoderState;
use super::system::show_text;
use crate::formats::anthropic;
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Role};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::{Text, text};

/// Decodes a line of one of these types; `None` for another type.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Option<Fate> {
    let json = line.json;
    let fate = match line.kind() {
        "summary" => summary(line, session, out),
        "ai-title" => title(2, json.get("aiTitle"), out),
        "agent-name" => agent(json.get("agentName"), out),
        "custom-title" => title(4, json.get("customTitle"), out),
        "worktree-state" => moved(json.get("worktreeSession"), out),
        "tag" => {
            // An empty tag removes the one before.
            let value = json.get("tag").clean();
            out.fact("tag", value);
            Fate::Merged
        }
        "pr-link" => show_once(line, "pull request", &["prUrl"], session, out),
        "frame-link" => show_once(
            line,
            "artifact",
            &["title", "frameUrl", "path"],
            session,
            out,
        ),
        "continued-in" => continued(line, session, out),
        "ended-by-model" => line.show(
            Break::Ended(Text::clean("the model ended the conversation")),
            false,
            out,
        ),
        "teleported-from" => {
            let names = [
                "remoteSessionId",
                "sourceSessionId",
                "teleportedFrom",
                "from",
            ];
            let source = json
                .first(&names, Json::filled)
                .unwrap_or("another machine");
            line.show(
                Break::Resumed(text!("teleported from {source}")),
                false,
                out,
            )
        }
        "queue-operation" => queue::decode(line, &mut session.queue, &mut session.lanes, out),
        "file-history-snapshot" => snapshot(line, session, out),
        "launched" | "started" | "result" | "failed" if !line.has_uuid => {
            Fate::Passed("a record of a workflow's journal")
        }
        _ => return None,
    };
    Some(fate)
}

/// Records that the conversation continues in another session. A later message in this one revokes
/// it.
fn continued(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) -> Fate {
    let names = ["continuedInSessionId", "continuedIn", "targetSessionId"];
    let id = line.json.first(&names, Json::text).unwrap_or_default();
    let mut entry = line.own_entry(Role::Harness, out);
    entry.push_piece(line.piece(), Break::Continued(id));
    session.continued = Some(Box::new(entry.clone()));
    out.show(entry)
}

/// Revokes the record that the conversation continues elsewhere: it continues here.
pub(crate) fn revoke_continuation(session: &mut DecoderState, out: &mut Batch) {
    let Some(mut entry) = session.continued.take() else {
        return;
    };
    for block in &mut entry.blocks {
        if let BlockKind::Break(line) = &block.kind {
            let words = text!("{}, and went on here", line.words());
            block.kind = BlockKind::Break(Break::Setting(words));
        }
    }
    entry.marks.quiet = true;
    out.entry(*entry);
}

/// Decodes a change of worktree. A session in a worktree belongs to the project that was copied. On
/// leaving the worktree the members are empty.
fn moved(worktree: &Json<'_>, out: &mut Batch) -> Fate {
    let folder = |names: &[&str]| worktree.first(names, Json::filled).map(Text::clean);
    let from = folder(&["preEnterOriginalCwd", "originalCwd"]);
    if let Some((from, to)) = from.zip(folder(&["worktreePath"])) {
        out.meta(MetaEdit::Moved { from, to });
    }
    for (name, member) in [
        ("worktree", "worktreePath"),
        ("worktree branch", "worktreeBranch"),
    ] {
        let value = worktree.get(member).clean();
        out.fact(name, value);
    }
    Fate::Merged
}

fn title(rank: u8, title: &Json<'_>, out: &mut Batch) -> Fate {
    out.title(rank, Text::clean(title.str_or_empty()));
    Fate::Merged
}

/// Sets the name of the session as other sessions and lists show it.
fn agent(name: &Json<'_>, out: &mut Batch) -> Fate {
    if let Some(agent) = name.text() {
        out.meta(MetaEdit::Agent(agent));
    }
    title(3, name, out)
}

/// Decodes a summary. Summaries of other sessions are at the head of a file; all are shown.
fn summary(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) -> Fate {
    let json = line.json;
    let summary = json.get("summary").filled().map(str::to_owned);
    let text =
        summary.unwrap_or_else(|| anthropic::output_text(json.at("message.content")).into_owned());
    let leaf = json.get("leafUuid").str_or_empty();
    session.emit_summary(leaf, Text::stub(&text, 200), out);
    if !session.is_new_setting(&text!("summary {leaf}: {text}")) {
        return Fate::Merged;
    }
    show_text(line, "summary of a conversation", &text, true, out)
}

/// Shows an artifact of the session once: the lines are repeated at each resume, so that their
/// positions are meaningless.
fn show_once(
    line: &TranscriptLine<'_>,
    what: &str,
    members: &[&str],
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let value = line.json.first(members, Json::filled);
    let words = Text::stub(&format!("{what}: {}", value.unwrap_or_default()), 200);
    if !session.is_new_setting(&words) {
        return Fate::Merged;
    }
    let mut entry = line.entry(words.clone(), Role::Harness, out);
    entry.marks.quiet = true;
    entry.push(Break::Setting(words));
    out.show(entry)
}

/// Decodes a snapshot of files from before a prompt. Later lines repeat the same snapshot with more
/// files.
fn snapshot(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) -> Fate {
    let snapshot = line.json.get("snapshot");
    let of = snapshot
        .get("messageId")
        .filled()
        .or_else(|| line.json.get("messageId").filled());
    let key = of.map_or_else(|| line.id.clone(), |of| text!("snapshot:{of}"));
    let is_first = session.is_new_setting(&key);
    let files = snapshot.get("trackedFileBackups").members();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_ref()).collect();
    let mut entry = line.trace(key, out);
    entry.at = entry.at.or_else(|| snapshot.get("timestamp").moment());
    let body = out.output(&names.join("\n"));
    entry.push(BlockKind::raw(
        &format!("snapshot of {} for undo", count(names.len() as u64, "file")),
        body,
    ));
    out.entry(entry);
    if is_first { Fate::Shown } else { Fate::Merged }
}
