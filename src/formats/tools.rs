//! Tool names and inputs of all agents: the kind of a tool, and the headline of its input.
//!
//! **Calls in prose are calls.** If a model writes them as text, they are paired with the results
//! that follow in order. They have no ids, so they are excluded from statistics of pairing.
//!
//! Invariant: no agent is special here; names are compared without case, `_` and `-`.

use std::collections::HashMap;
use std::sync::LazyLock;

use itertools::Itertools as _;

use super::json::{self, Json};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::path::BETWEEN;
use crate::model::text::Text;
use crate::model::tool::{self, ToolCall, ToolKind, ToolState};

/// Length limit of a headline, in characters.
const HEADLINE_CHARS: usize = 200;
/// Length limit of a headline that names several files, in characters.
const LIST_CHARS: usize = 4_096;
/// Size limit of a string that may be the headline of an input without a known field, in bytes.
const SHORT_BYTES: usize = 200;

/// Names of tools by kind, without separators.
static NAMES: &[(ToolKind, &str)] = &[
    (
        ToolKind::Run,
        "bash sh zsh shell exec execute cmd command terminal powershell process run runcommand executecommand \
         runterminalcmd runterminalcommand runinterminal runshellcommand shellcommand localshell \
         localshellcall containerexec runcommands execcommand executebash writestdin bashoutput \
         killbash killshell python ipython executeipythoncell codeinterpreter executecode eval repl \
         readbash writebash stopbash readpowershell writepowershell stoppowershell joboutput jobkill \
         commandstatus sendcommandinput readcommandoutput codeexecution bashcodeexecution monitor",
    ),
    (
        ToolKind::Read,
        "read readfile readfiles readmanyfiles view viewfile viewimage cat open openfile notebookread \
         image pdf memoryget getfilecontents readmcpresource accessmcpresource readmediafile \
         readfilerange viewcodeitem viewcontentchunk viewfileoutline showfile lookat analyze",
    ),
    (
        ToolKind::Edit,
        "edit editfile editfiles multiedit applypatch applydiff patch strreplace strreplaceeditor \
         strreplacebasededittool editor replace replaceinfile searchreplace searchandreplace \
         insertcontent inserteditintofile replacestringinfile multireplacestringinfile notebookedit \
         editnotebook filechange texteditor strreplacefile replacefilecontent multireplacefilecontent \
         editexistingfile singlefindandreplace texteditorcodeexecution",
    ),
    (
        ToolKind::Write,
        "write writefile writetofile createfile createnewfile newfile savefile create",
    ),
    (
        ToolKind::Search,
        "grep find ls glob rg search list tree listfiles listdir listdirectory listdirectorytree \
         searchfiles searchfilecontent searchcodebase codebasesearch grepsearch filesearch \
         globfilesearch findfiles findbyname listcodedefinitionnames semanticsearch memorysearch \
         toolsearch lsp fileglobsearch viewsubdirectory findfile searchdir searchfile sourcegraph \
         codesearch sessionsearch ripgrep ripgreprawsearch toolsearchtoolregex toolsearchtoolbm25",
    ),
    (
        ToolKind::Fetch,
        "webfetch websearch fetch fetchurl fetchcontent fetchwebpage fetchwebcontent googlewebsearch \
         searchweb readurlcontent browser browseraction browse httprequest curl urlfetch \
         openbrowserpage openpage readwebpage webextract webscrape fetchurlcontent agenticfetch download \
         browsernavigate",
    ),
    (
        ToolKind::Delegate,
        "task agent agents subagent sessionsspawn spawn spawnagent sendinput spawnsubagent \
         delegate delegatetask dispatchagent newtask startsubagent usesubagents runsubagent handoff \
         oracle finder librarian createsubagent executetask createtask browsersubagent",
    ),
    (
        ToolKind::Plan,
        "todo todos todowrite todoread todolist settodolist updatetodolist managetodolist writetodos \
         updateplan plan exitplanmode enterplanmode taskcreate taskupdate tasklist taskget focuschain \
         tasktracker planmoderespond updatetodos updatetodo checklist",
    ),
];

/// The kind of a tool by its name: `bash`, `read_file`, `WebFetch`, `mcp__files__read_file`.
pub(crate) fn kind_of(name: &str) -> ToolKind {
    static KINDS: LazyLock<HashMap<&str, ToolKind>> = LazyLock::new(|| {
        NAMES
            .iter()
            .flat_map(|(kind, names)| names.split_ascii_whitespace().map(|name| (name, *kind)))
            .collect()
    });
    if WEB.contains(&name) {
        return ToolKind::Fetch;
    }
    KINDS
        .get(bare_name(name).as_str())
        .copied()
        .unwrap_or(ToolKind::Other)
}

/// Names of a `run` tool that searches, as only its namespace shows.
const WEB: [&str; 2] = ["web__run", "web.run"];

/// The kind of a call. An editor with several commands may read, edit or create a file.
pub(crate) fn kind_of_call(name: &str, input: &Json<'_>) -> ToolKind {
    match (kind_of(name), input.get("command").str()) {
        (ToolKind::Edit, Some("view")) => ToolKind::Read,
        (ToolKind::Edit, Some("create" | "write")) => ToolKind::Write,
        (kind, _) => kind,
    }
}

/// The name without its server or namespace, in lower case, without separators and version. Editors prefix their own
/// tools with `builtin_`.
fn bare_name(name: &str) -> String {
    let last = name.rsplit("__").next().unwrap_or(name);
    let last = last.rsplit(['.', '/', ':']).next().unwrap_or(last);
    let last = last.strip_prefix("builtin_").unwrap_or(last);
    let last = match last.rsplit_once("_v") {
        Some((name, version)) if version.chars().all(|c| c.is_ascii_digit()) => name,
        _ => last,
    };
    last.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Steps of a log whose names differ from their tools'.
const STEPS: [(&str, &str); 5] = [
    ("listdirectory", "listdir"),
    ("find", "findbyname"),
    ("codeaction", "writetofile"),
    ("codeaction", "replacefilecontent"),
    ("codeaction", "multireplacefilecontent"),
];

/// Whether a step belongs to a tool: another spelling of its name, such as `VIEW_FILE` for `view_file`, or a synonym.
pub(crate) fn is_step_of(step: &str, tool: &str) -> bool {
    let (step, tool) = (bare_name(step), bare_name(tool));
    step == tool || STEPS.contains(&(&step, &tool))
}

/// A call that has no result so far, without id and time.
pub(crate) fn call(name: &str, input: &Json<'_>, out: &mut Batch) -> ToolCall {
    let kind = kind_of_call(name, input);
    call_of(name, kind, headline(kind, input), input, out)
}

/// A call with a kind and a headline of its own.
pub(crate) fn call_of(
    name: &str,
    kind: ToolKind,
    headline: Text,
    input: &Json<'_>,
    out: &mut Batch,
) -> ToolCall {
    let mut body = input.to_body(&headline, out);
    body.flags.broken_off = is_truncated(input);
    ToolCall {
        key: Key::default(),
        name: Text::clean(name),
        kind,
        headline,
        input: body,
        state: ToolState::Pending,
        started: None,
        lane: None,
    }
}

/// The headline of an input: the command, the path, the pattern, the prompt.
pub(crate) fn headline(kind: ToolKind, input: &Json<'_>) -> Text {
    let headline = match kind {
        ToolKind::Run => command(input),
        ToolKind::Read => path(input).map(|path| path + &range(input)),
        // An edit without a path has no headline: its text is not a name.
        ToolKind::Edit | ToolKind::Write => {
            path(input).or_else(|| patched_paths(input)).or_else(|| {
                tool::EDITS
                    .iter()
                    .any(|(old, _)| input.has(old))
                    .then(String::new)
            })
        }
        ToolKind::Search => search(input),
        ToolKind::Fetch => fetched(input),
        ToolKind::Delegate => delegated(input),
        ToolKind::Plan => plan(input),
        ToolKind::Other => None,
    };
    let names_files = matches!(kind, ToolKind::Read | ToolKind::Edit | ToolKind::Write);
    let is_list = names_files
        && headline
            .as_ref()
            .is_some_and(|headline| headline.contains(BETWEEN));
    let longest = if is_list { LIST_CHARS } else { HEADLINE_CHARS };
    Text::stub(
        &headline
            .or_else(|| any_field(input))
            .unwrap_or_else(|| first_string(input)),
        longest,
    )
}

/// Whether an input is the text of a truncated object, because the model was cut off.
pub(crate) fn is_truncated(input: &Json<'_>) -> bool {
    input.str().is_some_and(is_unfinished)
}

/// Whether a text is a truncated object or array.
pub(crate) fn is_unfinished(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && json::parse(text)
            .err()
            .is_some_and(|damage| damage.unfinished)
}

/// The first of the named fields that is a string and not blank.
fn first(input: &Json<'_>, names: &[&str]) -> Option<String> {
    input.first(names, Json::filled).map(str::to_owned)
}

pub(crate) fn command(input: &Json<'_>) -> Option<String> {
    let command = first(
        input,
        &["command", "cmd", "script", "code", "input", "CommandLine"],
    );
    command
        .or_else(|| words(input.get("command")))
        .or_else(|| words(input.get("cmd")))
        .or_else(|| {
            let mut each = input
                .get("commands")
                .items()
                .iter()
                .filter_map(|one| one.filled().map(str::to_owned));
            let all = each.join(" ; ");
            (!all.is_empty()).then_some(all)
        })
}

/// A command given as a list of words, without the shell that only runs a script.
fn words(argv: &Json<'_>) -> Option<String> {
    let words: Vec<&str> = argv.items().iter().filter_map(Json::str).collect();
    match words.as_slice() {
        [] => None,
        [_, "-c" | "-lc" | "-Command", script] => Some((*script).to_owned()),
        words => Some(words.join(" ")),
    }
}

fn path(input: &Json<'_>) -> Option<String> {
    let names = [
        "file_path",
        "path",
        "filePath",
        "filepath",
        "file",
        "filename",
        "absolute_path",
        "absolutePath",
        "target_file",
        "relative_workspace_path",
        "AbsolutePath",
        "notebook_path",
        "TargetFile",
    ];
    first(input, &names).or_else(|| {
        let list = ["paths", "files", "file_paths"]
            .into_iter()
            .find(|name| !input.get(name).items().is_empty())?;
        let mut paths = input
            .get(list)
            .items()
            .iter()
            .filter_map(|one| match one.filled() {
                Some(path) => Some(path.to_owned()),
                None => path(one),
            });
        let all = paths.join(BETWEEN);
        (!all.is_empty()).then_some(all)
    })
}

/// The requested range of lines: `:40-80`, `:40` without an end, empty for the whole file.
fn range(input: &Json<'_>) -> String {
    let number = |names: &[&str]| input.first(names, Json::int);
    let both = input.get("view_range").items();
    let start = number(&[
        "offset",
        "start_line",
        "startLine",
        "line_start",
        "from",
        "StartLine",
    ]);
    let start = start
        .or_else(|| both.first()?.int())
        .map(|line| line.max(1));
    let limit = number(&["limit", "max_lines", "lines"]);
    let end = number(&["end_line", "endLine", "line_end", "EndLine"])
        .or_else(|| both.get(1)?.int().filter(|end| *end > 0))
        .or_else(|| limit.map(|limit| start.unwrap_or(1).saturating_add(limit).saturating_sub(1)));
    match (start, end) {
        (None, None) => String::new(),
        (Some(start), None) => format!(":{start}"),
        (start, Some(end)) => format!(":{}-{end}", start.unwrap_or(1)),
    }
}

/// The files that a patch in the `*** Update File:` form or a unified diff names.
fn patched_paths(input: &Json<'_>) -> Option<String> {
    let listed: Vec<String> = input.items().iter().filter_map(path).collect();
    if !listed.is_empty() {
        return Some(listed.join(BETWEEN));
    }
    let patch = input
        .str()
        .or_else(|| input.first(&["patch", "patchText", "input", "diff"], Json::str))?;
    let marks = [
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "+++ b/",
    ];
    let named = patch
        .lines()
        .filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
    let paths: Vec<&str> = named.map(str::trim).collect();
    (!paths.is_empty()).then(|| paths.join(BETWEEN))
}

fn search(input: &Json<'_>) -> Option<String> {
    let what = first(
        input,
        &[
            "pattern",
            "query",
            "regex",
            "glob_pattern",
            "glob",
            "search",
            "q",
            "Query",
            "Pattern",
        ],
    );
    let names = [
        "path",
        "directory",
        "dir_path",
        "dir",
        "target_directory",
        "file_path",
        "DirectoryPath",
        "SearchPath",
        "SearchDirectory",
    ];
    match (what, first(input, &names)) {
        (Some(what), Some(place)) => Some(format!("{what} in {place}")),
        (what, place) => what.or(place),
    }
}

fn fetched(input: &Json<'_>) -> Option<String> {
    let target = first(
        input,
        &[
            "url",
            "targetUrl",
            "uri",
            "query",
            "q",
            "search_term",
            "Url",
        ],
    )
    .or_else(|| words(input.get("urls")))
    .or_else(|| words(input.get("queries")))
    .or_else(|| {
        let mut searched = input
            .get("search_query")
            .items()
            .iter()
            .filter_map(|one| first(one, &["q"]));
        Some(searched.join(" ")).filter(|searched| !searched.is_empty())
    });
    match (first(input, &["action"]), target) {
        (Some(action), Some(target)) => Some(format!("{action} {target}")),
        (action, target) => target.or(action),
    }
}

fn delegated(input: &Json<'_>) -> Option<String> {
    let names = [
        "description",
        "label",
        "title",
        "task",
        "prompt",
        "message",
        "objective",
    ];
    let Some(what) = first(input, &names) else {
        let mut tasks = input
            .get("tasks")
            .items()
            .iter()
            .filter_map(|task| first(task, &names));
        let all = tasks.join(" ; ");
        return (!all.is_empty()).then_some(all);
    };
    let who = first(
        input,
        &["subagent_type", "agentId", "agent_type", "agent", "mode"],
    );
    Some(who.map_or_else(|| what.clone(), |who| format!("{who}: {what}")))
}

/// The progress of a task list, and the current task: `2/5 write the tests`.
fn plan(input: &Json<'_>) -> Option<String> {
    let lists = ["todos", "plan", "items", "tasks", "todoList", "newTodos"];
    let Some(tasks) = lists
        .iter()
        .map(|name| input.get(name).items())
        .find(|items| !items.is_empty())
    else {
        if let Some(task) = first(input, &["taskId"]) {
            let what = first(input, &["status", "subject", "description"]).unwrap_or_default();
            return Some(
                format!("#{task} {}", what.replace('_', " "))
                    .trim_end()
                    .to_owned(),
            );
        }
        return first(
            input,
            &[
                "explanation",
                "subject",
                "plan",
                "content",
                "description",
                "title",
                "todos",
            ],
        );
    };
    let is = |task: &Json<'_>, states: &[&str]| {
        task.get("status")
            .str()
            .is_some_and(|s| states.contains(&s))
    };
    let done = tasks
        .iter()
        .filter(|task| is(task, &["completed", "done"]) || task.get("done").is_true())
        .count();
    let current = tasks
        .iter()
        .find(|task| is(task, &["in_progress", "in-progress", "active"]));
    let names = [
        "content",
        "step",
        "text",
        "title",
        "task",
        "description",
        "subject",
    ];
    let now = current
        .and_then(|task| first(task, &names))
        .unwrap_or_default();
    Some(
        format!("{done}/{} {now}", tasks.len())
            .trim_end()
            .to_owned(),
    )
}

/// The headline from fields that any tool may have.
fn any_field(input: &Json<'_>) -> Option<String> {
    if let Some(raw) = input.filled() {
        return Some(raw.to_owned());
    }
    if let Some(asked) = input
        .get("questions")
        .items()
        .first()
        .and_then(|one| first(one, &["question", "header"]))
    {
        return Some(asked);
    }
    let action = first(input, &["action", "operation", "method"]);
    let object = command(input).or_else(|| path(input)).or_else(|| {
        let names = [
            "pattern",
            "query",
            "url",
            "prompt",
            "description",
            "question",
            "message",
            "text",
            "title",
            "name",
            "task",
            "summary",
            "content",
            "reason",
            "sessionKey",
            "sessionId",
            "session_id",
            "id",
        ];
        first(input, &names)
    });
    match (action, object) {
        (Some(action), Some(object)) => Some(format!("{action} {object}")),
        (action, object) => object.or(action),
    }
}

/// The first short string of the input, else the input itself.
fn first_string(input: &Json<'_>) -> String {
    let short = |value: &Json<'_>| {
        value
            .filled()
            .filter(|text| text.len() <= SHORT_BYTES)
            .map(str::to_owned)
    };
    let found = input.members().iter().find_map(|(_, value)| short(value));
    found.unwrap_or_else(|| match input {
        Json::Null => String::new(),
        Json::Object(members) if members.is_empty() => String::new(),
        other => other.to_source(),
    })
}

#[cfg(test)]
mod tests {
    use super::{headline, is_step_of, kind_of, kind_of_call};
    use crate::formats::json::parse;
    use crate::model::tool::ToolKind;

    #[test]
    fn names_of_all_spellings_are_known() {
        for (name, kind) in [
            ("bash", ToolKind::Run),
            ("Bash", ToolKind::Run),
            ("mcp__files__read_file", ToolKind::Read),
            ("functions.apply_patch", ToolKind::Edit),
            ("TodoWrite", ToolKind::Plan),
            ("web_search", ToolKind::Fetch),
            ("sessions_spawn", ToolKind::Delegate),
            ("StrReplaceFile", ToolKind::Edit),
            ("multi_replace_file_content", ToolKind::Edit),
            ("builtin_read_file", ToolKind::Read),
            ("builtin_run_terminal_command", ToolKind::Run),
            ("edit_file_v2", ToolKind::Edit),
            ("developer__text_editor", ToolKind::Edit),
            ("frobnicate", ToolKind::Other),
            ("", ToolKind::Other),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }

    #[test]
    fn the_command_of_an_editor_says_what_it_does() {
        for (input, kind, about) in [
            (
                r#"{"command":"view","path":"a.py","view_range":[1,20]}"#,
                ToolKind::Read,
                "a.py:1-20",
            ),
            (
                r#"{"command":"view","path":"a.py","view_range":[5,-1]}"#,
                ToolKind::Read,
                "a.py:5",
            ),
            (
                r#"{"command":"create","path":"a.py","file_text":"x"}"#,
                ToolKind::Write,
                "a.py",
            ),
            (
                r#"{"command":"str_replace","path":"a.py","old_str":"x"}"#,
                ToolKind::Edit,
                "a.py",
            ),
        ] {
            let input = parse(input).unwrap();
            let kind_of = kind_of_call("str_replace_editor", &input);
            assert_eq!((kind_of, headline(kind_of, &input).as_str()), (kind, about));
        }
        assert_eq!(
            kind_of_call("bash", &parse(r#"{"command":"view"}"#).unwrap()),
            ToolKind::Run
        );
    }

    #[test]
    fn steps_are_those_of_their_tools() {
        for (step, tool) in [
            ("VIEW_FILE", "view_file"),
            ("LIST_DIRECTORY", "list_dir"),
            ("CODE_ACTION", "replace_file_content"),
        ] {
            assert!(is_step_of(step, tool), "{step}");
        }
        assert!(!is_step_of("CODE_ACTION", "run_command"));
    }

    #[test]
    fn headlines_say_what_was_asked() {
        for (kind, input, expected) in [
            (
                ToolKind::Run,
                r#"{"command":"cargo test\n--all"}"#,
                "cargo test…",
            ),
            (
                ToolKind::Run,
                r#"{"command":["bash","-lc","ls -l"]}"#,
                "ls -l",
            ),
            (
                ToolKind::Run,
                r#"{"action":"poll","sessionId":"x1"}"#,
                "poll x1",
            ),
            (
                ToolKind::Read,
                r#"{"path":"a.rs","offset":40,"limit":41}"#,
                "a.rs:40-80",
            ),
            (ToolKind::Read, r#"{"file_path":"a.rs"}"#, "a.rs"),
            (
                ToolKind::Edit,
                r#"{"input":"*** Begin Patch\n*** Update File: b.rs\n@@"}"#,
                "b.rs",
            ),
            (
                ToolKind::Edit,
                r#"[{"path":"a.rs","kind":"add"},{"path":"b.rs","kind":"update"}]"#,
                "a.rs ; b.rs",
            ),
            (
                ToolKind::Search,
                r#"{"pattern":"fn main","path":"src"}"#,
                "fn main in src",
            ),
            (
                ToolKind::Edit,
                r#"{"search":"    return None","replace":"    return 0"}"#,
                "",
            ),
            (ToolKind::Search, r#"{"path":"."}"#, "."),
            (
                ToolKind::Search,
                r#"{"Query":"fn","SearchPath":"/w"}"#,
                "fn in /w",
            ),
            (
                ToolKind::Fetch,
                r#"{"action":"open","targetUrl":"https://a.b"}"#,
                "open https://a.b",
            ),
            (
                ToolKind::Delegate,
                r#"{"task":"count the files","agentId":"scout"}"#,
                "scout: count the files",
            ),
            (
                ToolKind::Plan,
                r#"{"todos":[{"status":"completed"},{"status":"in_progress","content":"b"}]}"#,
                "1/2 b",
            ),
            (ToolKind::Other, r#"{"n":3,"flag":true,"tag":"x"}"#, "x"),
            (ToolKind::Other, r#"{"n":3}"#, r#"{"n":3}"#),
            (ToolKind::Other, "{}", ""),
            (ToolKind::Run, "null", ""),
        ] {
            assert_eq!(
                headline(kind, &parse(input).unwrap()).as_str(),
                expected,
                "{input}"
            );
        }
    }
}
