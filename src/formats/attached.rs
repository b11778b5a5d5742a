//! Attachments in content: documents, audio, resources, and results of tools that the provider
//! runs, described by title, kind and size. Also the text of content that may contain some.
//!
//! Invariant: binary data is never kept in memory.

use std::borrow::Cow;

use itertools::Itertools as _;

use super::inline::decoded_size;
use super::json::Json;
use crate::model::figures;

/// A description of an attachment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// The title: `document plan.pdf · application/pdf · 720 B`.
    pub(crate) title: String,
    /// The text; empty if there is none.
    pub(crate) text: String,
}

impl Attachment {
    /// Title and text as one text.
    pub(crate) fn words(self) -> String {
        match (self.title.is_empty(), self.text.is_empty()) {
            (_, true) => self.title,
            (true, false) => self.text,
            (false, false) => format!("{}\n{}", self.title, self.text),
        }
    }
}

/// The type of a content block: a bare string is text.
pub(crate) fn block_type<'j>(block: &'j Json<'_>) -> &'j str {
    if block.str().is_some() {
        "text"
    } else {
        block.kind()
    }
}

/// The text of a result: its text blocks joined by line breaks, other values as source text.
pub(crate) fn output_text<'j>(content: &'j Json<'_>) -> Cow<'j, str> {
    match content {
        Json::Null => "".into(),
        Json::Str(text) => Cow::Borrowed(text),
        Json::Array(items) => joined(items.iter().filter(|item| block_type(item) != "image").map(
            |item| {
                let text = item.part_text();
                text.map_or_else(|| described(item).into(), Cow::Borrowed)
            },
        )),
        other => described(other).into(),
    }
}

/// Joins texts by line breaks. A single one is not copied.
pub(crate) fn joined<'j>(texts: impl IntoIterator<Item = Cow<'j, str>>) -> Cow<'j, str> {
    let mut texts = texts.into_iter();
    let mut all = texts.next().unwrap_or_default();
    for text in texts {
        let all = all.to_mut();
        all.push('\n');
        all.push_str(&text);
    }
    all
}

/// Describes an attachment; any other value is its source text.
fn described(value: &Json<'_>) -> String {
    describe_known(value).map_or_else(|| value.to_source(), Attachment::words)
}

/// An attachment of a known kind; `None` for text, images and other kinds.
pub(crate) fn describe_known(part: &Json<'_>) -> Option<Attachment> {
    let kind = block_type(part);
    let source = part.get("source");
    let titled = |title: String, text: String| Some(Attachment { title, text });
    let word = |name: &'static str| part.get(name).filled();
    Some(match kind {
        "document" => document(part),
        "file" | "input_file" => {
            let file = if part.get("file").members().is_empty() {
                part
            } else {
                part.get("file")
            };
            let data = file.first(&["file_data", "data"], Json::str);
            let name = file.first(&["filename", "name", "file_id", "file_url"], Json::filled);
            data.map(size_of).or_else(|| name.map(|_| String::new()))?;
            Attachment {
                title: titled_with("file", name, None, data.map(size_of)),
                text: String::new(),
            }
        }
        "audio" | "input_audio" | "video" => {
            let inner = if part.get("input_audio").members().is_empty() {
                part
            } else {
                part.get("input_audio")
            };
            let data = [inner.get("data"), source.get("data")]
                .into_iter()
                .find_map(Json::str);
            let names = [
                inner.get("mimeType"),
                source.get("media_type"),
                inner.get("format"),
            ];
            let mime = names.into_iter().find_map(Json::filled);
            let kind = if kind == "video" { "video" } else { "audio" };
            let address = source.get("url").filled();
            Attachment {
                title: titled_with(kind, address, mime, data.map(size_of)),
                text: String::new(),
            }
        }
        "resource_link" => {
            let size = part.get("size").count().map(figures::bytes);
            let name = word("title").or_else(|| word("name"));
            let texts = [word("uri"), word("description")];
            Attachment {
                title: titled_with("link", name, word("mimeType"), size),
                text: texts.into_iter().flatten().join("\n"),
            }
        }
        "resource" if part.get("resource").has("uri") => {
            let inner = part.get("resource");
            let size = inner.get("blob").str().map(size_of);
            let title = titled_with(
                "resource",
                inner.get("uri").filled(),
                inner.get("mimeType").filled(),
                size,
            );
            Attachment {
                title,
                text: inner.get("text").str_or_empty().to_owned(),
            }
        }
        "container_upload" => Attachment {
            title: titled_with("file in the container", word("file_id"), None, None),
            text: String::new(),
        },
        "search_result" | "web_search_result" => {
            let address = word("url").or_else(|| source.filled());
            let words = output_text(part.get("content"));
            let texts = [address, Some(&*words).filter(|words| !words.is_empty())];
            return titled(
                word("title").unwrap_or_default().to_owned(),
                texts.into_iter().flatten().join("\n"),
            );
        }
        "tool_reference" => return titled(String::new(), word("tool_name")?.to_owned()),
        _ => return provider_result(part, kind),
    })
}

/// A document, with its text if that is recorded.
fn document(part: &Json<'_>) -> Attachment {
    let source = part.get("source");
    let name = part
        .first(&["title", "name"], Json::filled)
        .or_else(|| source.get("filename").filled());
    let address = source.first(&["url", "file_id", "path"], Json::filled);
    let is_text = source.kind() == "text";
    let data = source.get("data").str().or_else(|| part.get("data").str());
    let text = match source.get("content") {
        Json::Null => data.filter(|_| is_text).map(str::to_owned),
        content => Some(output_text(content).into_owned()),
    };
    let size = data.filter(|_| !is_text).map(size_of);
    let mime = source
        .get("media_type")
        .filled()
        .or_else(|| part.get("mimeType").filled());
    Attachment {
        title: titled_with("document", name.or(address), mime, size),
        text: text.unwrap_or_default(),
    }
}

/// The result of a tool that the provider ran.
fn provider_result(content: &Json<'_>, kind: &str) -> Option<Attachment> {
    let word = |name: &'static str| content.get(name).filled();
    let text = |text: String| {
        Some(Attachment {
            title: String::new(),
            text,
        })
    };
    if let Some(of) = kind.strip_suffix("_error") {
        let code = word("error_code").unwrap_or(of).replace('_', " ");
        let more = word("error_message").or_else(|| word("message"));
        return text(more.map_or_else(|| code.clone(), |more| format!("{code}\n{more}")));
    }
    match kind {
        _ if kind.ends_with("code_execution_result") => {
            let hidden = content.get("encrypted_stdout").str();
            let hidden = hidden.map(|data| format!("encrypted output · {}", size_of(data)));
            let files = content
                .get("content")
                .items()
                .iter()
                .filter_map(|file| file.get("file_id").filled());
            let texts = [word("stdout"), hidden.as_deref(), word("stderr")]
                .into_iter()
                .flatten();
            text(texts.chain(files).join("\n"))
        }
        "text_editor_code_execution_view_result" => {
            text(content.get("content").str_or_empty().to_owned())
        }
        "text_editor_code_execution_create_result" => {
            let is_update = content.get("is_file_update").is_true();
            text(if is_update { "updated" } else { "created" }.to_owned())
        }
        "text_editor_code_execution_str_replace_result" => text(
            content
                .get("lines")
                .items()
                .iter()
                .filter_map(Json::str)
                .join("\n"),
        ),
        "web_fetch_result" => {
            let page = describe_known(content.get("content"));
            let title = titled_with("page", word("url"), None, None);
            Some(Attachment {
                title,
                text: page.map(Attachment::words).unwrap_or_default(),
            })
        }
        "tool_search_tool_search_result" => {
            let tools = content.get("tool_references").items().iter();
            text(
                tools
                    .filter_map(|tool| tool.get("tool_name").filled())
                    .join("\n"),
            )
        }
        "advisor_result" => text(output_text(content.get("text")).into_owned()),
        "advisor_redacted_result" => {
            let data = content.get("encrypted_content").str_or_empty();
            text(format!("encrypted advice · {}", size_of(data)))
        }
        _ => None,
    }
}

/// The reason why a tool of the provider failed: such results have no error flag.
pub(crate) fn failure(content: &Json<'_>) -> Option<String> {
    if let Some(of) = block_type(content).strip_suffix("_error") {
        return Some(
            content
                .get("error_code")
                .filled()
                .unwrap_or(of)
                .replace('_', " "),
        );
    }
    let code = content.get("return_code").int().filter(|code| *code != 0)?;
    Some(format!("exit {code}"))
}

fn size_of(data: &str) -> String {
    figures::bytes(decoded_size(data))
}

/// `document plan.pdf · application/pdf · 720 B`
fn titled_with(kind: &str, name: Option<&str>, mime: Option<&str>, size: Option<String>) -> String {
    let named: Cow<'_, str> = name.map_or(kind.into(), |name| format!("{kind} {name}").into());
    let facts = mime.map(str::to_owned).into_iter().chain(size);
    std::iter::once(named.into_owned()).chain(facts).join(" · ")
}

#[cfg(test)]
mod tests {
    use super::{Attachment, describe_known, failure};
    use crate::formats::json::read;

    fn words(part: &str) -> Option<String> {
        describe_known(&read(part).unwrap()).map(Attachment::words)
    }

    #[test]
    fn what_is_attached_is_described_and_its_data_is_not_kept() {
        let data = "QUJD".repeat(300);
        for (part, expected) in [
            (
                format!(r#"{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{data}"}},"title":"plan.pdf"}}"#),
                "document plan.pdf · application/pdf · 900 B",
            ),
            (
                r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Two words"}}"#.to_owned(),
                "document · text/plain\nTwo words",
            ),
            (
                r#"{"type":"document","title":"Guide","source":{"type":"content","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#.to_owned(),
                "document Guide\na\nb",
            ),
            (
                r#"{"type":"document","source":{"type":"url","url":"https://a.io/x.pdf"}}"#.to_owned(),
                "document https://a.io/x.pdf",
            ),
            (
                format!(r#"{{"type":"audio","data":"{data}","mimeType":"audio/ogg"}}"#),
                "audio · audio/ogg · 900 B",
            ),
            (
                r#"{"type":"resource_link","uri":"file:///n.md","name":"notes","mimeType":"text/markdown","size":2048}"#.to_owned(),
                "link notes · text/markdown · 2.0 KB\nfile:///n.md",
            ),
            (
                r#"{"type":"resource","resource":{"uri":"mem://7","mimeType":"text/plain","text":"Inside"}}"#.to_owned(),
                "resource mem://7 · text/plain\nInside",
            ),
            (
                format!(r#"{{"type":"resource","resource":{{"uri":"mem://8","blob":"{data}"}}}}"#),
                "resource mem://8 · 900 B",
            ),
            (
                r#"{"type":"search_result","source":"https://a.io","title":"A","content":[{"type":"text","text":"about"}]}"#.to_owned(),
                "A\nhttps://a.io\nabout",
            ),
            (
                format!(r#"{{"type":"web_search_result","title":"B","url":"https://b.io","encrypted_content":"{data}"}}"#),
                "B\nhttps://b.io",
            ),
            (r#"{"type":"container_upload","file_id":"file_7"}"#.to_owned(), "file in the container file_7"),
            (format!(r#"{{"type":"file","file":{{"filename":"a.csv","file_data":"data:text/csv;base64,{data}"}}}}"#), "file a.csv · 900 B"),
            (
                r#"{"type":"bash_code_execution_result","stdout":"out","stderr":"err","return_code":3,"content":[]}"#.to_owned(),
                "out\nerr",
            ),
            (
                r#"{"type":"web_fetch_result","url":"https://c.io","content":{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Page"},"title":"C"}}"#.to_owned(),
                "page https://c.io\ndocument C · text/plain\nPage",
            ),
            (format!(r#"{{"type":"advisor_redacted_result","encrypted_content":"{data}"}}"#), "encrypted advice · 900 B"),
            (r#"{"type":"tool_reference","tool_name":"Grep"}"#.to_owned(), "Grep"),
        ] {
            assert_eq!(words(&part).as_deref(), Some(expected), "{part}");
        }
        for other in [
            r#"{"type":"text","text":"x"}"#,
            r#"{"type":"image"}"#,
            r#"{"type":"resource"}"#,
            r#"{"a":1}"#,
        ] {
            assert_eq!(words(other), None, "{other}");
        }
    }

    #[test]
    fn a_result_says_itself_that_its_tool_failed() {
        for (content, expected) in [
            (
                r#"{"type":"advisor_tool_result_error","error_code":"too_many_requests"}"#,
                Some("too many requests"),
            ),
            (
                r#"{"type":"code_execution_result","stdout":"","stderr":"x","return_code":-1}"#,
                Some("exit -1"),
            ),
            (
                r#"{"type":"code_execution_result","stdout":"","stderr":"x","return_code":0}"#,
                None,
            ),
            (r#""Exit code 3""#, None),
            (r#"[{"type":"text","text":"x"}]"#, None),
        ] {
            assert_eq!(
                failure(&read(content).unwrap()).as_deref(),
                expected,
                "{content}"
            );
        }
    }
}
