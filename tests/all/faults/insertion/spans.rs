//! Represents OpenTelemetry spans as values: attributes, which are a list of keys and values,
//! become members, and JSON in an attribute is parsed.

use serde_json::{Map, Value, json};

/// What an attribute is that is no text.
const OTHER: &str = "number";

/// Attributes as members; the dots in their names are colons, as a dot leads to a member of a member.
pub(super) fn open(value: &mut Value) {
    for_each_list(value, &mut |attributes| {
        let Value::Array(items) = &*attributes else {
            return;
        };
        let members = items.iter().map(|item| {
            let key = item["key"].as_str().unwrap().replace('.', ":");
            let said = item["value"]["stringValue"].as_str();
            let value = said.map_or_else(
                || json!({ OTHER: item["value"] }),
                |text| {
                    let inner = serde_json::from_str::<Value>(text)
                        .ok()
                        .filter(Value::is_array);
                    inner.unwrap_or_else(|| json!(text))
                },
            );
            (key, value)
        });
        *attributes = Value::Object(members.collect::<Map<_, _>>());
    });
}

/// The same as they are written.
pub(super) fn close(value: &mut Value) {
    for_each_list(value, &mut |attributes| {
        let Value::Object(members) = &*attributes else {
            return;
        };
        let items = members.iter().map(|(key, value)| {
            let value = match value {
                Value::String(text) => json!({"stringValue": text}),
                Value::Object(other) if other.contains_key(OTHER) => other[OTHER].clone(),
                other => json!({"stringValue": other.to_string()}),
            };
            json!({"key": key.replace(':', "."), "value": value})
        });
        *attributes = Value::Array(items.collect());
    });
}

/// Goes over the attributes of all spans.
fn for_each_list(value: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    let spans = |value: &mut Value, change: &mut dyn FnMut(&mut Value)| {
        let resources = value.get_mut("resourceSpans").and_then(Value::as_array_mut);
        for resource in resources.into_iter().flatten() {
            for scope in resource["scopeSpans"].as_array_mut().into_iter().flatten() {
                for span in scope["spans"].as_array_mut().into_iter().flatten() {
                    change(&mut span["attributes"]);
                }
            }
        }
    };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| spans(item, change)),
        value => spans(value, change),
    }
}
