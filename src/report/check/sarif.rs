//! Findings as a SARIF 2.1.0 document, for services and editors that read SARIF.

use std::io::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::FindingJson;
use crate::analysis::lint;
use crate::report::json::write_line;
use crate::report::outcome::ReportError;

#[derive(Serialize)]
struct Document {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Value; 1],
}

/// Writes one document with one run.
pub(super) fn write(lines: &[FindingJson], out: &mut dyn Write) -> Result<(), ReportError> {
    let rules: Vec<Value> = lint::rules()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.what },
                "defaultConfiguration": { "level": lint::word(rule.severity) },
            })
        })
        .collect();
    let driver = json!({ "name": "tv", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let results: Vec<Value> = lines.iter().map(result).collect();
    let document = Document {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        // Other outputs count columns in bytes. Ids are ASCII, so the numbers are the same.
        runs: [
            json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }),
        ],
    };
    write_line(out, &document)?;
    Ok(())
}

fn result(line: &FindingJson) -> Value {
    let found = &line.finding;
    let mut region = serde_json::Map::new();
    if let Some(row) = found.number.filter(|_| line.has_lines) {
        region.insert("startLine".to_owned(), json!(row));
        region.extend(
            found
                .column
                .map(|column| ("startColumn".to_owned(), json!(column))),
        );
    }
    region.insert("byteOffset".to_owned(), json!(found.byte));
    region.insert("byteLength".to_owned(), json!(line.len));
    json!({
        "ruleId": found.rule,
        "ruleIndex": lint::rules().position(|rule| rule.id == found.rule),
        "level": found.severity,
        "message": { "text": format!("{}; {}", found.message, found.consequence) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&line.path) },
            "region": region,
        } }],
        "properties": { "entry": found.entry, "record": found.number, "callId": found.call_id, "others": found.others },
    })
}

/// A path as a URI: percent-encodes everything but letters, digits and a few punctuation marks.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') {
        "file://".to_owned()
    } else {
        String::new()
    };
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("a b/ü.jsonl"), "a%20b/%C3%BC.jsonl");
        assert_eq!(uri("/home/me/x#1.jsonl"), "file:///home/me/x%231.jsonl");
    }
}
