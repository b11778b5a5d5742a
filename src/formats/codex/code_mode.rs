//! Code mode: the model calls one tool, `exec`, with JavaScript that calls the others. This module
//! extracts those calls and their arguments.
//!
//! Invariant: this is a scanner, not a parser: arguments that it cannot read are shown as source.

use std::iter::Peekable;
use std::str::Chars;

use crate::formats::json::{self, Json};
use crate::formats::tools;
use crate::model::tool::ToolKind;

/// Limit of the inner calls that are extracted.
const MOST: usize = 8;

/// A call in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InnerCall {
    /// The name of the tool.
    pub(crate) name: String,
    pub(crate) kind: ToolKind,
    /// The headline of its arguments.
    pub(crate) headline: String,
}

/// Extracts the calls in a piece of code, in order.
pub(crate) fn calls(code: &str) -> Vec<InnerCall> {
    let mut found = Vec::new();
    let mut rest = code;
    while found.len() < MOST
        && let Some((_, after)) = rest.split_once("tools.")
    {
        rest = after;
        let name: String = after
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let Some(arguments) = after
            .get(name.len()..)
            .and_then(|after| after.trim_start().strip_prefix('('))
        else {
            continue;
        };
        if name.is_empty() {
            continue;
        }
        let text = argument(arguments);
        let source = relaxed(text);
        let value = source
            .as_deref()
            .and_then(|source| json::parse(source).ok());
        let kind = tools::kind_of_call(&name, value.as_ref().unwrap_or(&Json::Null));
        let command = || command_in(text, code).filter(|_| kind == ToolKind::Run);
        let headline = match &value {
            Some(value) => tools::headline(kind, value),
            None if command().is_some() => {
                let command = command().unwrap_or_default().into();
                tools::headline(
                    kind,
                    &Json::Object(vec![("cmd".into(), Json::Str(command))]),
                )
            }
            // A patch is usually assembled before it is applied.
            None if kind == ToolKind::Edit => tools::headline(kind, &Json::Str(code.into())),
            None => tools::headline(kind, &Json::Str(text.trim().into())),
        };
        found.push(InnerCall {
            name,
            kind,
            headline: headline.as_str().to_owned(),
        });
    }
    found
}

/// The command in arguments that are not a literal as a whole: a literal member, or a variable with
/// one.
fn command_in(arguments: &str, code: &str) -> Option<String> {
    let value = ["cmd", "command"]
        .iter()
        .find_map(|name| member(arguments, name))?;
    literal(value).or_else(|| {
        let name: String = value.chars().take_while(|c| is_of_name(*c)).collect();
        declared(code, &name)
    })
}

/// The source of a member's value; for a shorthand member its name.
fn member<'t>(arguments: &'t str, name: &str) -> Option<&'t str> {
    arguments.match_indices(name).find_map(|(at, _)| {
        let before = arguments.get(..at)?.chars().next_back();
        let behind = arguments.get(at + name.len()..)?;
        if before.is_some_and(is_of_name) || behind.starts_with(is_of_name) {
            return None;
        }
        let behind = behind.trim_start_matches(['"', '\'']).trim_start();
        match behind.strip_prefix(':') {
            Some(value) => Some(value.trim_start()),
            None => arguments
                .get(at..)
                .filter(|_| behind.starts_with([',', '}'])),
        }
    })
}

/// The literal of a declaration: `const name = "…"`.
fn declared(code: &str, name: &str) -> Option<String> {
    let value = |keyword: &&str| {
        let (_, behind) = code.split_once(&format!("{keyword} {name}"))?;
        literal(behind.trim_start().strip_prefix('=')?.trim_start())
    };
    ["const", "let", "var"]
        .iter()
        .filter(|_| !name.is_empty())
        .find_map(value)
}

/// Parses a string literal at the beginning of a text.
fn literal(text: &str) -> Option<String> {
    let text = text.strip_prefix("String.raw").unwrap_or(text);
    let quote = text
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let mut source = String::new();
    string(&mut text.get(1..)?.chars().peekable(), quote, &mut source)?;
    json::parse(&source).ok()?.str().map(str::to_owned)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The source of a call's arguments, up to the closing bracket.
fn argument(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' | '`' => quote = Some(c),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth == 0 => return text.get(..at).unwrap_or(text),
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            },
        }
    }
    text
}

/// Converts a JavaScript literal to JSON: quoted keys, double-quoted strings, no trailing commas.
/// `None` if it is not one.
fn relaxed(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(['{', '[', '"', '\'', '`']) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' | '`' => string(&mut chars, c, &mut out)?,
            '}' | ']' => {
                while out.ends_with(|c: char| c.is_whitespace() || c == ',') {
                    out.pop();
                }
                out.push(c);
            }
            c if c.is_alphabetic() || c == '_' => {
                let mut word = String::from(c);
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(next);
                }
                let is_key = out.trim_end().ends_with(['{', ',']);
                let is_value = matches!(word.as_str(), "true" | "false" | "null");
                match (is_key, is_value) {
                    (false, true) => out.push_str(&word),
                    _ => out.push_str(&format!("\"{word}\"")),
                }
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// Copies a string up to its closing quote, in double quotes.
fn string(chars: &mut Peekable<Chars<'_>>, quote: char, out: &mut String) -> Option<()> {
    out.push('"');
    while let Some(c) = chars.next().filter(|c| *c != quote) {
        match c {
            '\\' => match chars.next()? {
                other @ ('\'' | '`' | '$') => out.push(other),
                other => out.extend(['\\', other]),
            },
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('"');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::calls;

    fn named(code: &str) -> Vec<String> {
        calls(code)
            .into_iter()
            .map(|inner| format!("{}: {}", inner.name, inner.headline))
            .collect()
    }

    #[test]
    fn inner_calls_are_found_however_they_are_written() {
        for (code, expected) in [
            (
                r#"const r = await tools.exec_command({"cmd":"cargo test"});"#,
                vec!["exec_command: cargo test"],
            ),
            (
                "await tools.shell_command({ command: 'ls -l', workdir: \"/x\", });",
                vec!["shell_command: ls -l"],
            ),
            (
                "tools.exec_command({cmd: `echo ${x} \"(\"`})",
                vec!["exec_command: echo ${x} \"(\""],
            ),
            (
                "await Promise.all([tools.exec_command({cmd:\"a\"}), tools.exec_command({cmd:\"b\"})])",
                vec!["exec_command: a", "exec_command: b"],
            ),
            (
                "const patch = `*** Begin Patch\n*** Update File: src/a.rs\n@@\n`;\nawait tools.apply_patch(patch);",
                vec!["apply_patch: src/a.rs"],
            ),
            (
                "tools.exec_command({cmd: 'make ' + target, yield_time_ms: 10 * 1000})",
                vec!["exec_command: make "],
            ),
            (
                "const cmd = \"just test\";\nawait tools.exec_command({cmd, workdir})",
                vec!["exec_command: just test"],
            ),
            (
                "let line = `a\nb`; tools.exec_command({ \"cmd\": line, ms: f(1) })",
                vec!["exec_command: a…"],
            ),
            (
                "tools.exec_command({cmd: made(1)})",
                vec!["exec_command: {cmd: made(1)}"],
            ),
            ("await tools.wait(cell)", vec!["wait: cell"]),
            (
                "await tools.web__run({search_query: [{q: 'mill stones'}]})",
                vec!["web__run: mill stones"],
            ),
            ("text(`no tools. here`)", vec![]),
            ("tools.", vec![]),
        ] {
            assert_eq!(named(code), expected, "{code}");
        }
    }
}
