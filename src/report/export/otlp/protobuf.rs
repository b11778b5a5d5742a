//! Spans as OTLP protobuf: the message `ExportTraceServiceRequest`.
//!
//! A repeated field may be split, so each batch of spans is written with its resource, and memory
//! does not depend on the length of the session.

use std::io::{self, Write};

use super::json::CAUSED;
use super::{AttributeValue, OtlpSpan, SpanKind, SpanWriter};
use crate::model::timestamp::Timestamp;

/// Bytes of spans that are written together.
const BATCH: usize = 256 << 10;

pub(super) struct ProtobufSpans<'o> {
    out: &'o mut dyn Write,
    resource: Vec<u8>,
    spans: Vec<u8>,
}

impl<'o> ProtobufSpans<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self {
            out,
            resource: Vec::new(),
            spans: Vec::new(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut scope = Vec::new();
        message(1, &mut scope, |scope| {
            bytes(1, b"tv", scope);
            bytes(2, env!("CARGO_PKG_VERSION").as_bytes(), scope);
        });
        scope.append(&mut self.spans);
        let mut resource_spans = Vec::new();
        bytes(1, &self.resource, &mut resource_spans);
        bytes(2, &scope, &mut resource_spans);
        let mut request = Vec::new();
        bytes(1, &resource_spans, &mut request);
        self.out.write_all(&request)
    }
}

impl SpanWriter for ProtobufSpans<'_> {
    fn begin(&mut self, resource: &[(&'static str, AttributeValue)]) -> io::Result<()> {
        self.resource.clear();
        attributes(1, resource, &mut self.resource);
        Ok(())
    }

    fn span(&mut self, span: &OtlpSpan) -> io::Result<()> {
        message(2, &mut self.spans, |out| {
            bytes(1, &span.trace, out);
            bytes(2, &span.id, out);
            if let Some(parent) = &span.parent {
                bytes(4, parent, out);
            }
            bytes(5, span.name.as_bytes(), out);
            number(
                6,
                match span.kind {
                    SpanKind::Internal => 1,
                    SpanKind::Client => 3,
                },
                out,
            );
            time(7, span.start, out);
            time(8, span.end, out);
            attributes(9, &span.attributes, out);
            if let Some(cause) = &span.cause {
                message(13, out, |out| {
                    bytes(1, &span.trace, out);
                    bytes(2, cause, out);
                    let kind = AttributeValue::Text(CAUSED.to_owned());
                    attributes(4, &[("gen_ai.attribution.link_type", kind)], out);
                });
            }
            if let Some(why) = &span.error {
                message(15, out, |out| {
                    bytes(2, why.as_bytes(), out);
                    number(3, 2, out);
                });
            }
        });
        if self.spans.len() > BATCH {
            self.flush()?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.flush()
    }
}

fn attributes(field: u64, of: &[(&'static str, AttributeValue)], out: &mut Vec<u8>) {
    for (name, value) in of {
        message(field, out, |out| {
            bytes(1, name.as_bytes(), out);
            message(2, out, |out| any_value(value, out));
        });
    }
}

fn any_value(value: &AttributeValue, out: &mut Vec<u8>) {
    match value {
        AttributeValue::Text(text) => bytes(1, text.as_bytes(), out),
        AttributeValue::Bool(is_so) => number(2, u64::from(*is_so), out),
        AttributeValue::Int(value) => number(3, value.cast_unsigned(), out),
        AttributeValue::Double(value) => {
            varint((4 << 3) | 1, out);
            out.extend_from_slice(&value.to_le_bytes());
        }
        AttributeValue::Texts(texts) => message(5, out, |out| {
            for text in texts {
                message(1, out, |out| bytes(1, text.as_bytes(), out));
            }
        }),
    }
}

/// A message whose length is known when it is written.
fn message(field: u64, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    bytes(field, &inner, out);
}

fn bytes(field: u64, content: &[u8], out: &mut Vec<u8>) {
    varint((field << 3) | 2, out);
    varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

fn number(field: u64, value: u64, out: &mut Vec<u8>) {
    varint(field << 3, out);
    varint(value, out);
}

/// A time in ns, as eight bytes.
fn time(field: u64, at: Timestamp, out: &mut Vec<u8>) {
    varint((field << 3) | 1, out);
    let nanos = u64::try_from(at.0).unwrap_or(0).saturating_mul(1_000_000);
    out.extend_from_slice(&nanos.to_le_bytes());
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, number, varint};

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        let mut out = Vec::new();
        for value in [0, 1, 127, 128, 300, u64::MAX] {
            varint(value, &mut out);
        }
        let greatest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(
            out,
            [&[0, 1, 0x7f, 0x80, 1, 0xac, 2][..], &greatest].concat()
        );
        out.clear();
        number(6, 3, &mut out);
        bytes(15, b"ab", &mut out);
        assert_eq!(out, [0x30, 3, 0x7a, 2, b'a', b'b']);
    }
}
