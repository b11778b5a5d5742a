//! What Claude Code records of a result besides its text (`toolUseResult`, in streams
//! `tool_use_result`): exit codes, counts, durations, patches. The shape differs from tool to tool.

use super::stored;
use super::voice::background;
use crate::formats::definition::heads;
use crate::formats::json::Json;
use crate::model::edit::Batch;
use crate::model::figures::{bytes, count};
use crate::model::text::{Text, count_lines};
use crate::model::tool::work::EndRecording;
use crate::model::tool::{ToolResult, Verdict};

/// First words of the text of a result whose call the user interrupted.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Adds what the structured copy of a result has. `text` is the text of the result.
pub(crate) fn enrich(result: &mut ToolResult, text: &str, details: &Json<'_>, out: &mut Batch) {
    if let Some(begin) = stored::preview(text) {
        // Early versions store more of the output in the structured copy than in the text.
        let sample = begin
            .split_once("Preview")
            .map_or(begin, |(_, sample)| sample);
        let output = details
            .get("stdout")
            .str()
            .filter(|output| output.len() > sample.len());
        result.body = out.output(output.unwrap_or(begin));
    }
    let patch = details.get("structuredPatch").items();
    if !patch.is_empty() {
        result.patch = Some(out.prose(&unified(patch)));
    }
    result.duration_ms = duration(details);
    if result.verdict == Verdict::Done {
        result.work =
            background::begun(text, details).map(|id| Box::new(heads::work(out.format, id)));
        if let Some(work) = result
            .work
            .as_mut()
            .filter(|_| background::has_no_end(details))
        {
            work.ends = EndRecording::Unrecorded;
        }
    }
    let is_failed = result.verdict == Verdict::Failed;
    if details.get("interrupted").is_true()
        || (is_failed && text.trim_start().starts_with(INTERRUPTED))
    {
        result.verdict = Verdict::Stopped;
    }
    let mut facts: Vec<String> = facts(result.verdict, text, details);
    if facts.is_empty() && result.verdict == Verdict::Done {
        facts.extend(lines_before_reminder(text));
    }
    if result.facts.is_blank() || !facts.is_empty() {
        result.facts = Text::clean(&facts.join(" · "));
    }
}

/// The number of lines read from a file, if the program appended a reminder: the lines of the
/// reminder are not the file's.
fn lines_before_reminder(text: &str) -> Option<String> {
    let begin = text.trim_start();
    let rest = begin.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < begin.len() && rest.starts_with('→');
    let (file, _) = is_numbered.then(|| text.split_once("\n<system-reminder>"))??;
    Some(count(count_lines(file.trim_end()) as u64, "line"))
}

/// Applies the recorded reason why the call did not complete, whatever the text of the result.
pub(crate) fn deny(result: &mut ToolResult, kind: &str) {
    let (verdict, words) = match kind {
        "user-rejected" => (Verdict::Refused, "refused"),
        "permission-rule" => (Verdict::Refused, "refused by a rule"),
        "interrupted" => (Verdict::Stopped, "interrupted"),
        "cancelled" => (Verdict::Stopped, "cancelled"),
        _ if kind.starts_with("automode-") => (Verdict::Refused, "refused by auto mode"),
        _ => return,
    };
    result.verdict = verdict;
    result.facts = Text::clean(words);
}

fn duration(details: &Json<'_>) -> Option<u64> {
    let ms = details.first(&["durationMs", "totalDurationMs"], Json::count);
    ms.or_else(|| {
        let seconds = details.get("durationSeconds").number()?;
        Json::Number(seconds * 1000.0).count()
    })
}

fn facts(verdict: Verdict, text: &str, details: &Json<'_>) -> Vec<String> {
    if verdict == Verdict::Refused {
        return vec!["refused".to_owned()];
    }
    let mut facts = Vec::new();
    if verdict == Verdict::Stopped && !details.get("interrupted").is_true() {
        facts.push("interrupted".to_owned());
    }
    facts.extend(
        exit_code(text)
            .filter(|_| verdict == Verdict::Failed)
            .map(|code| format!("exit {code}")),
    );
    facts.extend(command_facts(details));
    facts.extend(file_facts(details));
    facts.extend(search_facts(details));
    facts.extend(agent_facts(details));
    facts.extend(task_facts(details));
    facts.extend(git_facts(details.get("gitOperation")));
    facts
}

/// Parses the code in `Exit code 101`, with which the text of a failed command begins.
fn exit_code(text: &str) -> Option<i64> {
    let rest = text
        .trim_start()
        .trim_start_matches("Error: ")
        .strip_prefix("Exit code ")?;
    rest.split(|c: char| !c.is_ascii_digit() && c != '-')
        .next()?
        .parse()
        .ok()
}

fn command_facts(details: &Json<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    let flag = |name: &str, words: &str| details.get(name).is_true().then(|| words.to_owned());
    let meaning = details.get("returnCodeInterpretation").filled();
    facts.extend(meaning.map(str::to_lowercase));
    facts.extend(flag("interrupted", "interrupted"));
    let task = details.get("backgroundTaskId").filled();
    facts.extend(task.map(|task| format!("in the background as {task}")));
    facts.extend(flag("isImage", "image"));
    facts.extend(flag("userModified", "changed by the user"));
    if let Some(stdout) = details.get("stdout").str()
        && facts.is_empty()
    {
        let lines = count_lines(stdout);
        facts.extend((lines > 1).then(|| format!("{lines} lines")));
    }
    facts
}

fn file_facts(details: &Json<'_>) -> Vec<String> {
    let file = details.get("file");
    let shown = file.get("numLines").count();
    let total = file.get("totalLines").count();
    let mut facts = Vec::new();
    let start = file.get("startLine").count().filter(|start| *start > 1);
    match (shown, total) {
        (Some(shown), Some(total)) if total > shown => {
            let end = start.map(|start| (start, start.saturating_add(shown).saturating_sub(1)));
            let lines = end.map_or_else(
                || shown.to_string(),
                |(start, end)| format!("{start}–{end}"),
            );
            facts.push(format!("{lines} of {total} lines"));
        }
        (Some(shown), _) => facts.push(count(shown, "line")),
        _ if details.kind() == "pdf" => {
            facts.extend(file.get("originalSize").count().map(bytes));
        }
        _ => {}
    }
    let hunks = details.get("structuredPatch").items();
    if !hunks.is_empty() {
        let lines = || {
            hunks
                .iter()
                .flat_map(|hunk| hunk.get("lines").items())
                .filter_map(Json::str)
        };
        let with = |sign: char| lines().filter(|line| line.starts_with(sign)).count();
        facts.push(format!("+{} −{}", with('+'), with('-')));
    } else if details.kind() == "create" {
        let lines = details.get("content").str().map_or(0, count_lines);
        facts.push(count(lines as u64, "line"));
    }
    facts
}

fn search_facts(details: &Json<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    let files = details.get("numFiles").count();
    match (
        details.get("numMatches").count(),
        details.get("numLines").count(),
        files,
    ) {
        (Some(hits), _, _) => facts.push(count(hits, "hit")),
        (None, Some(lines), _) => facts.push(count(lines, "line")),
        (None, None, Some(files)) => facts.push(count(files, "file")),
        (None, None, None) => {}
    }
    if details.get("truncated").is_true() {
        facts.push("cut".to_owned());
    }
    if let Some(code) = details.get("code").count() {
        facts.push(
            format!("{code} {}", details.get("codeText").str_or_empty())
                .trim_end()
                .to_owned(),
        );
    }
    let pages = details
        .get("results")
        .items()
        .iter()
        .map(|found| found.get("content").items().len())
        .sum::<usize>();
    if details.has("query") && pages > 0 {
        facts.push(count(pages as u64, "page"));
    }
    facts
}

fn agent_facts(details: &Json<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    if (details.has("agentId") || details.has("taskId"))
        && let Some(status) = details
            .get("status")
            .filled()
            .filter(|status| *status != "completed")
    {
        facts.push(status.replace('_', " "));
    }
    let calls = details.get("totalToolUseCount").count();
    facts.extend(calls.map(|calls| count(calls, "call")));
    let tokens = details.get("totalTokens").count();
    facts.extend(tokens.map(|tokens| format!("{tokens} tokens")));
    facts
}

fn task_facts(details: &Json<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    let todos = details.get("newTodos").items();
    if !todos.is_empty() {
        let done = todos
            .iter()
            .filter(|todo| todo.get("status").is("completed"))
            .count();
        facts.push(format!("{done}/{} done", todos.len()));
    }
    facts.extend(details.get("humanSchedule").filled().map(str::to_owned));
    let status = details.get("retrieval_status").filled();
    facts.extend(status.map(|status| status.replace('_', " ")));
    let answers = details.get("answers").members().len();
    facts.extend((answers > 0).then(|| count(answers as u64, "answer")));
    facts
}

/// Commits, pushes and pull requests that a command made.
fn git_facts(done: &Json<'_>) -> Vec<String> {
    let fact = |path: &str, word: &str| {
        let value = done.at(path);
        let value = value
            .filled()
            .map(str::to_owned)
            .or_else(|| Some(value.count()?.to_string()));
        value.map(|value| format!("{word} {value}"))
    };
    let facts = [
        fact("commit.sha", "commit"),
        fact("push.branch", "pushed"),
        fact(
            "branch.ref",
            done.at("branch.action").filled().unwrap_or("branch"),
        ),
        fact("pr.number", "pull request"),
    ];
    facts.into_iter().flatten().collect()
}

/// Formats hunks as a unified diff.
fn unified(hunks: &[Json<'_>]) -> String {
    let mut diff = String::new();
    for hunk in hunks {
        let number = |name: &str| hunk.get(name).int().unwrap_or(0);
        diff.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            number("oldStart"),
            number("oldLines"),
            number("newStart"),
            number("newLines")
        ));
        for line in hunk.get("lines").items().iter().filter_map(Json::str) {
            diff.push_str(line);
            diff.push('\n');
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::{facts, unified};
    use crate::formats::json::parse;
    use crate::model::tool::Verdict;

    fn facts_of(json: &str) -> String {
        facts(Verdict::Done, "", &parse(json).unwrap()).join(" · ")
    }

    #[test]
    fn facts_fit_the_tool() {
        assert_eq!(
            facts_of(r#"{"stdout":"a\nb\n","stderr":"","interrupted":false}"#),
            "2 lines"
        );
        assert_eq!(
            facts_of(r#"{"type":"text","file":{"numLines":61,"totalLines":400}}"#),
            "61 of 400 lines"
        );
        assert_eq!(
            facts_of(r#"{"filenames":["a"],"numFiles":1,"durationMs":3,"truncated":true}"#),
            "1 file · cut"
        );
        assert_eq!(
            facts_of(r#"{"mode":"content","numFiles":0,"filenames":[],"numLines":12}"#),
            "12 lines"
        );
        assert_eq!(
            facts_of(r#"{"code":200,"codeText":"OK","bytes":10}"#),
            "200 OK"
        );
        assert_eq!(
            facts_of(
                r#"{"status":"completed","agentId":"a1","totalTokens":900,"totalToolUseCount":3}"#
            ),
            "3 calls · 900 tokens"
        );
        let git = r#"{"stdout":"a","gitOperation":{"commit":{"sha":"c0ffee1"},"push":{"branch":"main"},"pr":{"number":7}}}"#;
        assert_eq!(
            facts_of(git),
            "commit c0ffee1 · pushed main · pull request 7"
        );
        assert_eq!(
            facts_of(r#"{"status":"async_launched","taskId":"w1","runId":"wf_1"}"#),
            "async launched"
        );
        assert_eq!(
            facts_of(r#"{"newTodos":[{"status":"completed"},{"status":"pending"}]}"#),
            "1/2 done"
        );
        assert_eq!(facts_of("\"Error: x\""), "");
        let failed = facts(
            Verdict::Failed,
            "Exit code 101\nboom",
            &parse("null").unwrap(),
        );
        assert_eq!(failed, ["exit 101"]);
        let text = "[Request interrupted by user for tool use]";
        assert_eq!(
            facts(Verdict::Stopped, text, &parse("null").unwrap()),
            ["interrupted"]
        );
        assert_eq!(
            facts_of(r#"{"type":"pdf","file":{"base64":"QUJD","originalSize":720}}"#),
            "720 B"
        );
    }

    #[test]
    fn patches_are_unified_diffs() {
        let hunks =
            r#"[{"oldStart":3,"oldLines":2,"newStart":3,"newLines":2,"lines":[" a","-b","+c"]}]"#;
        assert_eq!(
            unified(parse(hunks).unwrap().items()),
            "@@ -3,2 +3,2 @@\n a\n-b\n+c\n"
        );
    }
}
