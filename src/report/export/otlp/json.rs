//! Spans as OTLP JSON: an object on a line, as collectors write files and read them.

use std::io::{self, Write};

use serde_json::json;

use super::{AttributeValue, OtlpSpan, SpanKind, SpanWriter};
use crate::model::timestamp::Timestamp;
use crate::report::json::write_line;

pub(super) struct JsonSpans<'o> {
    out: &'o mut dyn Write,
    written: usize,
}

impl<'o> JsonSpans<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self { out, written: 0 }
    }

    /// Writes a value without the end of a line.
    fn value(&mut self, value: &serde_json::Value) -> io::Result<()> {
        let mut line = Vec::new();
        write_line(&mut line, value)?;
        self.out.write_all(line.trim_ascii_end())
    }
}

impl SpanWriter for JsonSpans<'_> {
    fn begin(&mut self, resource: &[(&'static str, AttributeValue)]) -> io::Result<()> {
        write!(self.out, "{{\"resourceSpans\":[{{\"resource\":")?;
        self.value(&json!({ "attributes": attributes(resource) }))?;
        write!(self.out, ",\"scopeSpans\":[{{\"scope\":")?;
        self.value(&json!({ "name": "tv", "version": env!("CARGO_PKG_VERSION") }))?;
        write!(self.out, ",\"spans\":[")
    }

    fn span(&mut self, span: &OtlpSpan) -> io::Result<()> {
        if self.written > 0 {
            write!(self.out, ",")?;
        }
        self.written += 1;
        let nanos = |at: Timestamp| (i128::from(at.0.max(0)) * 1_000_000).to_string();
        let mut value = json!({
            "traceId": hex(&span.trace),
            "spanId": hex(&span.id),
            "parentSpanId": span.parent.as_ref().map(|id| hex(id)).unwrap_or_default(),
            "name": span.name,
            "kind": match span.kind { SpanKind::Internal => 1, SpanKind::Client => 3 },
            "startTimeUnixNano": nanos(span.start),
            "endTimeUnixNano": nanos(span.end),
            "attributes": attributes(&span.attributes),
        });
        if let serde_json::Value::Object(value) = &mut value {
            if let Some(cause) = &span.cause {
                let kind = [(
                    "gen_ai.attribution.link_type",
                    AttributeValue::Text(CAUSED.to_owned()),
                )];
                let link = json!([{ "traceId": hex(&span.trace), "spanId": hex(cause), "attributes": attributes(&kind) }]);
                value.insert("links".to_owned(), link);
            }
            if let Some(why) = &span.error {
                value.insert("status".to_owned(), json!({ "code": 2, "message": why }));
            }
        }
        self.value(&value)
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "]}}]}}]}}")
    }
}

/// What a link from a call to its answer says.
pub(super) const CAUSED: &str = "CAUSED_BY_GENERATION";

fn attributes(of: &[(&'static str, AttributeValue)]) -> serde_json::Value {
    let attribute = |(name, value): &(&'static str, AttributeValue)| {
        let value = match value {
            AttributeValue::Text(text) => json!({ "stringValue": text }),
            AttributeValue::Int(number) => json!({ "intValue": number.to_string() }),
            AttributeValue::Double(number) => json!({ "doubleValue": number }),
            AttributeValue::Bool(is_so) => json!({ "boolValue": is_so }),
            AttributeValue::Texts(texts) => {
                let values = texts.iter().map(|text| json!({ "stringValue": text }));
                json!({ "arrayValue": { "values": values.collect::<Vec<_>>() } })
            }
        };
        json!({ "key": name, "value": value })
    };
    of.iter().map(attribute).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
