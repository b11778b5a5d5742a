//! Lines outside the chain of messages: titles, modes, queues, links, bookkeeping. The program appends
//! them again and again; the last one counts.

use super::line::Line;
use super::queue;
use super::session::Session;
use super::system::show_text;
use crate::formats::anthropic;
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Role};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// A line of one of these types; `None` if the type is another.
pub(crate) fn decode(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Option<Fate> {
    let json = line.json;
    let fate = match line.kind() {
        "summary" => summary(line, session, out),
        "ai-title" => title(2, json.get("aiTitle"), out),
        "agent-name" => agent(json.get("agentName"), out),
        "custom-title" => title(4, json.get("customTitle"), out),
        "worktree-state" => moved(json.get("worktreeSession"), out),
        "tag" => {
            // An empty one takes back the one before.
            let value = json.get("tag").clean();
            out.fact("tag", value);
            Fate::Merged
        }
        "pr-link" => once(line, "pull request", &["prUrl"], session, out),
        "frame-link" => once(
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
                Break::Resumed(Text::clean(&format!("teleported from {source}"))),
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

/// The conversation goes on in another session. What is said here after that takes it back.
fn continued(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let names = ["continuedInSessionId", "continuedIn", "targetSessionId"];
    let id = line.json.first(&names, Json::text).unwrap_or_default();
    let mut entry = line.entry(line.id.clone(), Role::Harness, out);
    entry.push_piece(line.piece(), Break::Continued(id));
    session.continued = Some(Box::new(entry.clone()));
    out.show(entry)
}

/// The conversation goes on here, whatever was said of another session.
pub(crate) fn go_on_here(session: &mut Session, out: &mut Batch) {
    let Some(mut entry) = session.continued.take() else {
        return;
    };
    for block in &mut entry.blocks {
        if let BlockKind::Break(line) = &block.kind {
            let words = Text::clean(&format!("{}, and went on here", line.words()));
            block.kind = BlockKind::Break(Break::Setting(words));
        }
    }
    entry.marks.quiet = true;
    out.entry(*entry);
}

/// A session may begin in a worktree, or go there: it is of the project whose copy that is. One that has left it says so
/// with nothing.
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

/// What the session is called wherever it is shown beside others.
fn agent(name: &Json<'_>, out: &mut Batch) -> Fate {
    if let Some(agent) = name.text() {
        out.meta(MetaEdit::Agent(agent));
    }
    title(3, name, out)
}

/// Summaries of other sessions stand at the head of a file; all are kept readable.
fn summary(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let json = line.json;
    let summary = json.get("summary").filled().map(str::to_owned);
    let text = summary
        .unwrap_or_else(|| anthropic::output_text(json.at(&["message", "content"])).into_owned());
    let leaf = json.get("leafUuid").str_or_empty();
    session.emit_summary(leaf, Text::stub(&text, 200), out);
    if !session.is_new_setting(&Text::clean(&format!("summary {leaf}: {text}"))) {
        return Fate::Merged;
    }
    show_text(line, "summary of a conversation", &text, true, out)
}

/// What the session made shows once: the lines are written again with every resume, so that their places say nothing.
fn once(
    line: &Line<'_>,
    what: &str,
    members: &[&str],
    session: &mut Session,
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

/// Copies of files from before a prompt. Later lines write the same snapshot again, with more files.
fn snapshot(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let snapshot = line.json.get("snapshot");
    let of = snapshot
        .get("messageId")
        .filled()
        .or_else(|| line.json.get("messageId").filled());
    let key = of.map_or_else(
        || line.id.clone(),
        |of| Text::clean(&format!("snapshot:{of}")),
    );
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
