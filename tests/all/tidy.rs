//! Rules that the compiler does not check: which layer may import which, the words in names, the
//! files that each format must have, the topics that README and manual must cover.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tv::app::input::bindings::{BINDINGS, GROUPS};
use tv::formats::registry;
use tv::render::manual::PAGES;

/// A folder or a file of `src`, the layers that it may import, and the words that must not occur in it.
struct Layer {
    name: &'static str,
    imports: &'static [&'static str],
    never: &'static [&'static str],
}

const CLOCKS: [&str; 4] = [
    "Instant::now",
    "SystemTime::now",
    "Timestamp::now",
    "Zoned::now",
];

/// What each layer may import: layers below it only.
const LAYERS: &[Layer] = &[
    Layer {
        name: "model",
        imports: &[],
        // serde is for packing entries in memory; the model knows no JSON.
        never: &[
            "serde_json",
            "std::fs",
            "ratatui",
            "crossterm",
            "notify",
            "Instant",
            "SystemTime",
        ],
    },
    Layer {
        name: "formats",
        imports: &["model"],
        never: &[
            "std::fs",
            "File::open",
            "ratatui",
            "crossterm",
            "notify",
            "rusqlite",
            "std::env",
        ],
    },
    Layer {
        name: "source",
        imports: &["model"],
        // `source::regular` opens files: what a path names may be a pipe by now.
        // serde is for messages to a far tv; the layer knows no JSON.
        never: &[
            "serde_json",
            "ratatui",
            "crossterm",
            "syntect",
            "File::open",
            "fs::read",
        ],
    },
    Layer {
        name: "analysis",
        imports: &["model"],
        // serde_json is for the price table; records are the formats'.
        never: &["serde", "std::fs", "ratatui", "crossterm", "std::env"],
    },
    Layer {
        name: "render",
        imports: &["model"],
        // serde_json is for JSON in what tools wrote; records are the formats'.
        never: &[
            "serde",
            "std::fs",
            "crossterm",
            "ratatui::Frame",
            "ratatui::Terminal",
            "std::env",
        ],
    },
    Layer {
        name: "listing",
        imports: &["analysis", "render", "model"],
        never: &[
            "serde",
            "serde_json",
            "std::fs",
            "crossterm",
            "ratatui::Frame",
            "ratatui::Terminal",
            "std::env",
        ],
    },
    Layer {
        name: "ingest",
        imports: &["formats", "source", "model"],
        never: &["ratatui", "crossterm", "syntect", "File::open", "fs::read"],
    },
    Layer {
        name: "session",
        imports: &["model", "analysis"],
        never: &[
            "serde",
            "serde_json",
            "std::fs",
            "ratatui",
            "crossterm",
            "std::env",
        ],
    },
    Layer {
        name: "app",
        imports: &["listing", "session", "model", "analysis", "render"],
        never: &[
            "serde",
            "serde_json",
            "std::fs",
            "std::env",
            "crossterm::terminal",
            "crossterm::execute",
        ],
    },
    Layer {
        name: "ui",
        imports: &["app", "listing", "session", "analysis", "render", "model"],
        never: &[
            "serde",
            "serde_json",
            "std::fs",
            "std::env",
            "crossterm",
            "RefCell",
        ],
    },
    Layer {
        name: "fleet",
        imports: &["session", "ingest", "analysis", "source", "model"],
        never: &[
            "serde",
            "serde_json",
            "std::fs",
            "ratatui",
            "crossterm",
            "std::env",
        ],
    },
    Layer {
        name: "report",
        imports: &["listing", "fleet", "ingest", "analysis", "render", "model"],
        never: &["crossterm", "ratatui::Frame", "ratatui::Terminal"],
    },
    Layer {
        name: "demo",
        imports: &["model"],
        never: &["serde", "serde_json", "ratatui", "crossterm"],
    },
    Layer {
        name: "terminal",
        imports: &["model"],
        never: &["serde", "serde_json"],
    },
    Layer {
        name: "cli",
        imports: &[
            "settings", "runtime", "ingest", "app", "report", "render", "analysis", "model",
        ],
        never: &[],
    },
    Layer {
        name: "settings",
        imports: &["app", "session", "render", "analysis", "model"],
        never: &["std::fs", "std::env"],
    },
    Layer {
        name: "runtime",
        imports: &[
            "settings", "terminal", "demo", "ui", "report", "fleet", "app", "session", "ingest",
            "render", "analysis", "source", "formats", "model",
        ],
        never: &[],
    },
];

/// Layers in which the time is a parameter.
const TIMELESS: [&str; 8] = [
    "model", "formats", "analysis", "listing", "session", "render", "app", "ui",
];

struct Source {
    /// Path from the root of the repository, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// The folder below `src`, or the file without its ending.
    fn layer(&self) -> &str {
        let rest = self.path.strip_prefix("src/").unwrap();
        rest.split_once('/')
            .map_or_else(|| rest.strip_suffix(".rs").unwrap(), |(folder, _)| folder)
    }

    /// Lines of code with their numbers: comments and unit tests are left out.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self
            .text
            .lines()
            .enumerate()
            .map(|(n, line)| (n + 1, line.trim()));
        lines
            .take_while(|(_, line)| !line.starts_with("mod tests {"))
            .filter(|_| !self.path.ends_with("/tests.rs"))
            .filter(|(_, line)| !line.starts_with("//"))
            .map(|(n, line)| (n, line.split_once(" // ").map_or(line, |(code, _)| code)))
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let files = walk(&repository().join("src"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs"));
    let source = |path: PathBuf| Source {
        text: fs::read_to_string(&path).unwrap(),
        path: path
            .strip_prefix(repository())
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/"),
    };
    files.map(source).collect()
}

/// All files below a folder, without hidden ones and build results.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "target" || (name.starts_with('.') && name != ".ci") {
            continue;
        }
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The names that follow a prefix such as `crate::` in a line.
fn names_after<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let name = |(at, _): (usize, &str)| {
        let rest = &line[at + prefix.len()..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        (starts_word(line, at) && end > 0).then(|| &rest[..end])
    };
    line.match_indices(prefix).filter_map(name)
}

fn starts_word(line: &str, at: usize) -> bool {
    !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
}

fn mentions(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let ends = !line[at + word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        starts_word(line, at) && ends
    })
}

fn expect_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn imports_go_down() {
    let mut complaints = Vec::new();
    for source in sources() {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == source.layer()) else {
            assert!(
                ["lib", "main"].contains(&source.layer()),
                "{} is in no layer",
                source.path
            );
            continue;
        };
        for (n, line) in source.code() {
            let up = names_after(line, "crate::")
                .filter(|name| *name != layer.name && !layer.imports.contains(name))
                .map(|name| format!("imports {name}"));
            let forbidden = layer
                .never
                .iter()
                .filter(|word| mentions(line, word))
                .map(|word| format!("knows {word}"));
            let clocks = CLOCKS
                .iter()
                .filter(|word| TIMELESS.contains(&layer.name) && mentions(line, word));
            let timed = clocks.map(|word| format!("reads the clock ({word})"));
            complaints.extend(
                up.chain(forbidden)
                    .chain(timed)
                    .map(|what| format!("{}:{n}: {} {what}", source.path, layer.name)),
            );
        }
    }
    expect_none(complaints);
}

#[test]
fn files_of_a_layer_do_not_import_its_top() {
    let mut complaints = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.matches('/').count() == 2)
    {
        if source.path.ends_with("/mod.rs") {
            continue;
        }
        let prefix = format!("crate::{}::", source.layer());
        for (n, line) in source.code() {
            let names = names_after(line, &prefix).chain(names_after(line, "super::"));
            let is_module = |name: &str| {
                let folder = repository().join("src").join(source.layer());
                folder.join(format!("{name}.rs")).exists()
                    || folder.join(name).join("mod.rs").exists()
            };
            complaints.extend(
                names
                    .filter(|name| !is_module(name))
                    .map(|name| format!("{}:{n}: {name} of mod.rs", source.path)),
            );
        }
    }
    expect_none(complaints);
}

/// The module of a file, by the names from the root of the crate.
fn module_of(path: &str) -> Vec<String> {
    let names = path.strip_prefix("src/").unwrap();
    let names = names.strip_suffix(".rs").unwrap().split('/');
    names
        .filter(|name| !["mod", "lib", "main"].contains(name))
        .map(str::to_owned)
        .collect()
}

/// The paths of a tree of imports: `a::{b, c::d}` has two.
fn paths_of(tree: &str, before: &[String], paths: &mut Vec<Vec<String>>) {
    let (head, rest) = tree.split_once('{').unwrap_or((tree, ""));
    let head = head.split(" as ").next().unwrap();
    let names = head.split("::").map(str::trim);
    let names = names.filter(|name| !name.is_empty()).map(str::to_owned);
    let path: Vec<String> = before.iter().cloned().chain(names).collect();
    let Some((body, _)) = rest.rsplit_once('}') else {
        return paths.push(path);
    };
    let mut depth = 0;
    let parts = body.split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    for part in parts.filter(|part| !part.trim().is_empty()) {
        paths_of(part, &path, paths);
    }
}

/// The modules that a file imports from, without those that it lies in or that lie in it.
fn imported(source: &Source, modules: &BTreeSet<Vec<String>>) -> BTreeSet<Vec<String>> {
    let own = module_of(&source.path);
    let code: Vec<&str> = source.code().map(|(_, line)| line).collect();
    let code = code.join(" ");
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        if starts_word(&code, at)
            && let Some((tree, _)) = code[at + 4..].split_once(';')
        {
            paths_of(tree, &[], &mut paths);
        }
    }
    let resolve = |path: Vec<String>| {
        let up = path.iter().take_while(|name| *name == "super").count();
        let from = match path.first()?.as_str() {
            "crate" => path[1..].to_vec(),
            "self" => [&own[..], &path[1..]].concat(),
            "super" => [&own[..own.len().checked_sub(up)?], &path[up..]].concat(),
            _ => [&own[..], &path[..]].concat(),
        };
        (1..=from.len())
            .rev()
            .map(|length| from[..length].to_vec())
            .find(|path| modules.contains(path))
    };
    let found = paths.into_iter().filter_map(resolve);
    found
        .filter(|path| !path.starts_with(&own) && !own.starts_with(path))
        .collect()
}

#[test]
fn no_files_import_each_other() {
    let sources: Vec<Source> = sources()
        .into_iter()
        .filter(|source| !source.path.contains("tests"))
        .collect();
    let modules: BTreeSet<Vec<String>> = sources
        .iter()
        .map(|source| module_of(&source.path))
        .filter(|module| !module.is_empty())
        .collect();
    let mut imports: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = sources
        .iter()
        .map(|source| (module_of(&source.path), imported(source, &modules)))
        .collect();
    assert!(imports.values().map(BTreeSet::len).sum::<usize>() > 1_000);
    // What imports nothing that is left, and what nothing left imports, is in no circle.
    loop {
        let left: BTreeSet<Vec<String>> = imports.keys().cloned().collect();
        let used: BTreeSet<Vec<String>> = imports.values().flatten().cloned().collect();
        for others in imports.values_mut() {
            others.retain(|other| left.contains(other));
        }
        imports.retain(|module, others| !others.is_empty() && used.contains(module));
        if imports.len() == left.len() {
            break;
        }
    }
    let line = |(module, others): (&Vec<String>, &BTreeSet<Vec<String>>)| {
        let others: Vec<String> = others.iter().map(|other| other.join("::")).collect();
        format!("{} imports {}", module.join("::"), others.join(", "))
    };
    expect_none(imports.iter().map(line).collect());
}

#[test]
fn imports_name_what_they_take() {
    let mut complaints = Vec::new();
    for source in sources() {
        for (n, line) in source.code() {
            if line.contains("::*;") || line.contains("super::super") {
                complaints.push(format!("{}:{n}: {line}", source.path));
            }
        }
    }
    expect_none(complaints);
}

#[test]
fn files_have_a_head() {
    let mut complaints = Vec::new();
    for source in sources() {
        if !source.text.starts_with("//! ") && !source.path.ends_with("/tests.rs") {
            complaints.push(format!(
                "{}: begins without saying what it is for",
                source.path
            ));
        }
    }
    expect_none(complaints);
}

#[test]
fn every_format_brings_fixtures_and_says_whence() {
    let mut complaints = Vec::new();
    for format in registry() {
        let folder = repository().join("tests/fixtures").join(format.name());
        if !folder.join("ORIGIN.md").exists() {
            complaints.push(format!("{}: no ORIGIN.md", folder.display()));
        }
        if !crate::fixtures::all()
            .iter()
            .any(|path| path.starts_with(&folder))
        {
            complaints.push(format!("{}: no fixture", folder.display()));
        }
    }
    expect_none(complaints);
}

#[test]
fn the_readme_names_every_format() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let missing = registry().filter(|format| !readme.contains(&format!("`{}`", format.name())));
    expect_none(
        missing
            .map(|format| format!("README.md: {} is not named", format.name()))
            .collect(),
    );
}

#[test]
fn the_manual_has_a_reason_for_every_dependency() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let page = fs::read_to_string(repository().join("assets/manual/contributing.md")).unwrap();
    let (_, reasons) = page.split_once("## Dependencies").unwrap();
    let mut section = "";
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]")
            && let Some((name, _)) = line.split_once(" = ")
        {
            names.push(name);
        }
    }
    assert!(
        names.contains(&"serde") && names.contains(&"vt100"),
        "{names:?}"
    );
    let missing = names
        .iter()
        .filter(|name| !reasons.contains(&format!("`{name}`")));
    expect_none(
        missing
            .map(|name| format!("contributing.md: no reason for {name}"))
            .collect(),
    );
}

#[test]
fn the_manual_has_the_keys_of_the_program() {
    let page = fs::read_to_string(repository().join("assets/manual/reading.md")).unwrap();
    let table = keys();
    assert!(
        page.contains(&table),
        "the table of keys in reading.md must be\n\n{table}"
    );
}

/// Words of the table in `src/lib.rs` that another word stands for.
fn unwanted_words() -> Vec<String> {
    let text = fs::read_to_string(repository().join("src/lib.rs")).unwrap();
    let (_, table) = text.split_once("# Words on the screen").unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("//! | "));
    let words = cells.skip(2).filter_map(|row| row.split('|').nth(1));
    let words: Vec<String> = words
        .flat_map(|not| not.split(','))
        .map(|word| word.trim().to_owned())
        .collect();
    assert!(words.len() > 5, "{words:?}");
    words
}

/// Whether a text has words one after the other.
fn has_words(text: &str, words: &str) -> bool {
    let plain = |text: &str| {
        let parts: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .map(str::to_lowercase)
            .filter(|part| !part.is_empty())
            .collect();
        format!(" {} ", parts.join(" "))
    };
    plain(text).contains(&plain(words))
}

#[test]
fn an_idea_has_one_word_in_the_help_and_in_the_manual() {
    /// Pages on what others call theirs.
    const FOREIGN: [&str; 4] = ["formats", "definitions", "json", "contributing"];
    let unwanted = unwanted_words();
    let mut complaints = Vec::new();
    let mut judge = |place: &str, text: &str| {
        let found = unwanted.iter().filter(|words| has_words(text, words));
        complaints.extend(found.map(|words| format!("{place}: {words}: {text}")));
    };
    for binding in BINDINGS {
        judge(binding.name, binding.doc);
        judge(binding.name, binding.cell);
    }
    for page in PAGES.iter().filter(|page| !FOREIGN.contains(&page.topic)) {
        let path = format!("assets/manual/{}.md", page.topic);
        let text = fs::read_to_string(repository().join(&path)).unwrap();
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= line.starts_with("```");
            // What stands between backticks is a name, and a link has that of its page.
            let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
            let mut parts = prose.split('[');
            let first = parts.next().unwrap_or_default().to_owned();
            let behind = |part: &str| part.split_once(')').map_or("", |(_, rest)| rest).to_owned();
            let prose: String = std::iter::once(first).chain(parts.map(behind)).collect();
            if !is_code {
                judge(&path, &prose);
            }
        }
    }
    expect_none(complaints);
    assert!(has_words("the sub agents, or a sub agent", "sub agent"));
    assert!(!has_words("a billing of sub-agents", "bill"));
}

/// The table of keys in Markdown.
fn keys() -> String {
    let mut table = String::from("| Keys | |\n| --- | --- |\n");
    for group in GROUPS {
        table += &format!("| **{}** | |\n", group.title());
        for binding in BINDINGS.iter().filter(|binding| binding.group == group) {
            let keys: Vec<String> = binding
                .keys
                .iter()
                .map(|keys| format!("`{}`", keys.replace('|', "\\|")))
                .collect();
            table += &format!("| {} | {} |\n", keys.join(" "), binding.doc);
        }
    }
    table
}

#[test]
fn no_path_of_this_machine_is_in_the_repository() {
    let mut complaints = Vec::new();
    let homes = [option_env!("HOME"), Some(env!("CARGO_MANIFEST_DIR"))];
    for path in walk(repository()) {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        for home in homes.iter().flatten().filter(|home| home.len() > 3) {
            if text.contains(&format!("{home}/")) {
                complaints.push(format!("{}: holds {home}", path.display()));
            }
        }
    }
    expect_none(complaints);
}

/// Names that meant a dozen things each, or nothing to a stranger.
const BANNED: [&str; 14] = [
    "teller",
    "tell",
    "told",
    "telling",
    "retold",
    "strand",
    "hunt",
    "uncover",
    "hearing",
    "retelling",
    "gathering",
    "untold",
    "oddities",
    "trouble",
];

#[test]
fn names_are_made_of_words_that_a_stranger_knows() {
    let mut complaints = Vec::new();
    for source in sources() {
        for (n, line) in source.code() {
            let outside_of_strings: String =
                line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
            let names = outside_of_strings.split(|c: char| !c.is_alphanumeric() && c != '_');
            let banned = names.filter(|name| BANNED.iter().any(|word| is_made_of(name, word)));
            complaints.extend(banned.map(|name| format!("{}:{n}: {name}", source.path)));
        }
    }
    expect_none(complaints);
}

/// Whether a word is one of those that a name is made of, in either case.
fn is_made_of(name: &str, word: &str) -> bool {
    let mut spaced = String::from("_");
    for c in name.chars() {
        if c.is_uppercase() {
            spaced.push('_');
        }
        spaced.extend(c.to_lowercase());
    }
    spaced.push('_');
    spaced.contains(&format!("_{word}_"))
}
