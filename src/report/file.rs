//! `tv file SESSION#KEY PATH`: a file as it was after a call, with marks for lines that the session
//! does not determine; `tv diff SESSION --files`: all that a session changed, as one unified diff.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use similar::DiffOp;

use super::diff::Named;
use super::history::{Texts, steps};
use super::outcome::{ReportError, ReportOutcome};
use super::reading::{self, Reading, on_one_line};
use crate::analysis::derived::Memo;
use crate::analysis::files::steps::FileStep;
use crate::analysis::files::version::{FileLine, LineRun, Version};
use crate::analysis::files::{FileUses, Files, Op, Use, paths};
use crate::ingest::OpenError;
use crate::model::body::Key;
use crate::model::change;
use crate::model::entry::Entry;
use crate::model::figures::count;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;

/// Options of `tv file`.
pub struct FileOptions {
    /// The session, and the key of an entry or a call; without one the end of the session.
    pub at: Named,
    /// The path, absolute or from where the session began.
    pub path: String,
    /// Whether the output is a terminal, which gets no control characters.
    pub is_terminal: bool,
}

pub fn write(options: &FileOptions, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    let (target, key) = options.at.clone()?;
    let mut reading = reading::read(&target, false)?;
    let last = key
        .as_deref()
        .map(|key| last_use(&reading, key))
        .transpose()?;
    let files = Memo::<Files>::of(&reading.transcript);
    let (path, file) = named(&reading, &files, &options.path)?;
    let mut done = steps(&mut reading, (&path, &file), Texts::Raw);
    if let Some(last) = &last {
        done.retain(|(used, _)| last.is_reached_by(used, &reading));
    }
    let mut version = Version::default();
    for (number, (_, step)) in done.iter().enumerate() {
        version.apply(step, u32::try_from(number).unwrap_or(u32::MAX));
    }
    if version.runs().next().is_none() {
        let name = on_one_line(&path).into_owned();
        return Err(OpenError(format!("no call up to there shows what {name} holds")).into());
    }
    let mut put = |text: &str| {
        let text = if options.is_terminal {
            Cow::from(Text::clean(text).to_string())
        } else {
            Cow::from(text)
        };
        out.write_all(text.as_bytes())
    };
    if let Some(whole) = version.whole.as_ref().filter(|_| version.is_whole()) {
        whole.lines.iter().try_for_each(|line| put(&line.text))?;
    } else {
        write_parts(&version, &mut put)?;
    }
    let said = based_on(&done, &version);
    Ok(ReportOutcome::Saying(
        said,
        Box::new(if version.is_whole() {
            ReportOutcome::Complete
        } else {
            ReportOutcome::Found
        }),
    ))
}

/// The calls up to which a file is wanted.
struct LastUse {
    /// The id of the last one; without it all of an entry.
    call: Option<Key>,
    at: Option<Timestamp>,
    /// Position of the entry.
    place: usize,
}

fn last_use(reading: &Reading, key: &str) -> Result<LastUse, OpenError> {
    let transcript = &reading.transcript;
    let id = reading.find(key)?;
    let entry = transcript.get(id);
    let calls = || entry.into_iter().flat_map(Entry::numbered_calls);
    let ended = |call: &ToolCall| {
        let at = call.state.result().and_then(|result| result.at);
        at.or(call.started).or(entry?.at)
    };
    let key = Key::clean(key);
    let named = calls().find(|(_, call)| call.key == key);
    let last = || calls().filter_map(|(_, call)| ended(call)).max();
    Ok(LastUse {
        at: named.map_or_else(last, |(_, call)| ended(call)),
        call: named.map(|_| key),
        place: transcript.place_of(id).unwrap_or(usize::MAX),
    })
}

impl LastUse {
    /// Whether a use happened until then.
    fn is_reached_by(&self, used: &Use, reading: &Reading) -> bool {
        let transcript = &reading.transcript;
        let own = transcript.place_of(used.place.entry).unwrap_or(0);
        let is_call = |call: &Key| {
            let own = used.place.call(transcript);
            own.is_some_and(|own| own.key == *call)
        };
        match (&self.call, used.at, self.at) {
            (None, ..) if own == self.place => true,
            (Some(call), ..) if is_call(call) => true,
            (_, Some(used), Some(at)) if used != at => used < at,
            _ => own < self.place,
        }
    }
}

/// The file that a path names: as the session has it, absolute, or by its end if that is enough.
fn named(reading: &Reading, files: &Files, path: &str) -> Result<(Text, FileUses), OpenError> {
    let root = reading.transcript.meta().root.as_deref();
    let normal = paths::normal(path, root);
    let is_below = |known: &&Text| {
        known
            .strip_suffix(normal.as_str())
            .is_some_and(|rest| rest.ends_with(['/', '\\']))
    };
    let exact = files.all().find(|(known, _)| ***known == *normal);
    let mut below = files.all().filter(|(known, _)| is_below(known));
    let found = exact.or_else(|| below.next().filter(|_| below.next().is_none()));
    found
        .map(|(path, file)| (path.clone(), file.clone()))
        .ok_or_else(|| {
            let name = Text::clean(path);
            OpenError(format!(
                "no call names {}; `tv files SESSION` lists those that were used",
                on_one_line(&name)
            ))
        })
}

/// Writes what is known of a file, with a mark in each gap.
fn write_parts(version: &Version, put: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    let mut placed: Vec<&LineRun> = version.runs().filter(|run| run.at.is_some()).collect();
    placed.sort_by_key(|run| run.at);
    let mut next = 1_usize;
    for run in placed {
        let at = run.at.unwrap_or(1);
        let skipped = next.saturating_sub(at).min(run.lines.len());
        match at.saturating_sub(next) {
            0 => {}
            1 => put(&format!("[tv: line {next} is not known]\n"))?,
            _ => put(&format!("[tv: lines {next} to {} are not known]\n", at - 1))?,
        }
        for line in run.lines.iter().skip(skipped) {
            put(&line.text)?;
        }
        next = next.max(at + run.lines.len());
    }
    if version.whole.is_none() && next > 1 {
        put("[tv: what follows is not known]\n")?;
    }
    for run in version.runs().filter(|run| run.at.is_none()) {
        put("[tv: where these lines stand is not known]\n")?;
        for line in &run.lines {
            put(&line.text)?;
        }
        if run
            .lines
            .last()
            .is_some_and(|line| !line.text.ends_with('\n'))
        {
            put("\n")?;
        }
    }
    Ok(())
}

/// `from a whole write and 3 edits; ...`.
fn based_on(done: &[(Use, FileStep)], version: &Version) -> String {
    let number = |is_meant: fn(&FileStep) -> bool| {
        done.iter().filter(|(_, step)| is_meant(step)).count() as u64
    };
    let parts = [
        (
            number(|step| matches!(step, FileStep::Before(_))),
            "snapshot",
        ),
        (
            number(|step| matches!(step, FileStep::Write { .. })),
            "whole write",
        ),
        (
            number(|step| matches!(step, FileStep::Read { is_whole: true, .. })),
            "whole read",
        ),
        (
            number(|step| {
                matches!(
                    step,
                    FileStep::Read {
                        is_whole: false,
                        ..
                    }
                )
            }),
            "read of a part",
        ),
        (
            number(|step| matches!(step, FileStep::Replace { .. } | FileStep::Patch(_))),
            "edit",
        ),
        (number(|step| matches!(step, FileStep::Delete)), "removal"),
        (
            number(|step| matches!(step, FileStep::Unknown)),
            "change that is not recorded",
        ),
    ];
    let words: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| match what.split_once(' ') {
            // `2 reads of a part`.
            Some((noun, rest)) if rest.starts_with("of ") || rest.starts_with("that ") => {
                format!("{} {rest}", count(number, noun))
            }
            _ => count(number, what),
        })
        .collect();
    let gaps = if !version.is_whole() {
        "; not all of it is known"
    } else if !version.is_end_known {
        "; that its last line has an end is assumed"
    } else {
        ""
    };
    format!("from {}{gaps}", words.join(", "))
}

/// Writes what a session changed: of each file from what was known of it first to what was last.
pub fn write_changes(session: &Named, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    let (target, _) = session.clone()?;
    let mut reading = reading::read(&target, false)?;
    let files = Memo::<Files>::of(&reading.transcript);
    let mut changed: Vec<(&Text, &FileUses)> = files
        .all()
        .filter(|(_, file)| {
            let is_change = |used: &Use| matches!(used.op, Op::Edit | Op::Write);
            file.uses.iter().any(is_change)
        })
        .collect();
    changed.sort_by_key(|(path, _)| *path);
    let (mut in_part, mut all) = (Vec::new(), 0);
    for (path, file) in changed {
        let done = steps(&mut reading, (path, file), Texts::Clean);
        let mut version = Version::default();
        for (_, step) in &done {
            version.apply(step, 0);
        }
        let hunks: Vec<String> = version.runs().filter_map(hunks).collect();
        let is_unrecorded = done.iter().any(|(_, step)| *step == FileStep::Unknown);
        if hunks.is_empty() && !is_unrecorded {
            continue;
        }
        all += 1;
        let is_in_part = !version.is_whole() || !version.is_first_known;
        if is_in_part {
            in_part.push(on_one_line(path).into_owned());
        }
        if hunks.is_empty() {
            continue;
        }
        let name = on_one_line(path.trim_start_matches('/')).into_owned();
        let is_new = version.runs().all(|run| run.first.is_empty());
        let is_gone = version.runs().all(|run| run.lines.is_empty());
        let side = |is_nothing: bool, side: &str| {
            if is_nothing {
                "/dev/null".to_owned()
            } else {
                format!("{side}/{name}")
            }
        };
        let mode = match (is_new, is_gone) {
            (true, _) => "new file mode 100644\n",
            (false, true) => "deleted file mode 100644\n",
            (false, false) => "",
        };
        write!(
            out,
            "diff --git a/{name} b/{name}\n{mode}--- {}\n+++ {}\n{}",
            side(is_new, "a"),
            side(is_gone, "b"),
            hunks.concat()
        )?;
    }
    let outcome = ReportOutcome::of(reading.failure().into_iter().collect());
    if in_part.is_empty() {
        return Ok(outcome);
    }
    let said = format!(
        "of {} of {} not all is known: {}",
        in_part.len(),
        count(all, "file"),
        in_part.join(", ")
    );
    Ok(ReportOutcome::Saying(said, Box::new(outcome)))
}

/// The hunks of a unified diff of a run of lines; `None` if nothing differs.
fn hunks(run: &LineRun) -> Option<String> {
    let new: Vec<Arc<str>> = run
        .lines
        .iter()
        .map(|FileLine { text, .. }| Arc::clone(text))
        .collect();
    let [olds, news] =
        [&run.first, &new].map(|lines| lines.iter().map(|line| &**line).collect::<Vec<&str>>());
    let mut text = String::new();
    let from = run.at.unwrap_or(1);
    for group in change::groups(&olds, &news) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let range = |start: usize, end: usize| {
            let count = end - start;
            // Of nothing, the line before it is named.
            let start = (start + from).saturating_sub(usize::from(count == 0));
            format!("{start},{count}")
        };
        text += &format!(
            "@@ -{} +{} @@\n",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        );
        for op in group {
            if let DiffOp::Equal { .. } = op {
                text += &signed(' ', olds.get(op.old_range()));
            } else {
                text += &signed('-', olds.get(op.old_range()));
                text += &signed('+', news.get(op.new_range()));
            }
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Lines of a unified diff.
fn signed(sign: char, lines: Option<&[&str]>) -> String {
    let signed = |line: &&str| match line.strip_suffix('\n') {
        Some(text) => format!("{sign}{text}\n"),
        None => format!("{sign}{line}\n\\ No newline at end of file\n"),
    };
    lines.unwrap_or_default().iter().map(signed).collect()
}
