//! Mutations of session files that keep them session files: lines are moved and joined, and within
//! a line values, keys and strings are exchanged. Half of all mutations are left to libFuzzer,
//! which changes bytes.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Value, json};

/// A pseudo-random generator (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides.max(1) as u64).expect("a number below sides")
    }
}

/// Mutates `data[..size]` in place to at most `max_size` bytes; returns the new size.
pub fn session(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice(u64::from(seed));
    let changed = match dice.roll(8) {
        0..=3 => structured(&data[..size], &mut dice),
        4 => lines(&data[..size], &mut dice),
        _ => None,
    };
    match changed {
        Some(changed) if changed.len() <= max_size => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

fn lines(data: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = data
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let (a, b) = (dice.roll(lines.len()), dice.roll(lines.len()));
    match dice.roll(7) {
        0 if lines.len() > 1 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a].clone()),
        2 => lines.swap(a, b),
        3 if lines.len() > 1 && a + 1 < lines.len() => {
            let next = lines.remove(a + 1);
            lines[a].extend(next);
        }
        4 => {
            let len = lines[a].len();
            lines[a].truncate(dice.roll(len));
        }
        // A mutation should take less time than reading the session.
        5 => lines = lines[a.min(b)..=a.max(b)].to_vec(),
        _ => {
            let at = dice.roll(lines[a].len()).min(lines[a].len());
            let rest = lines[a].split_off(at);
            lines.insert(a + 1, rest);
        }
    }
    Some(lines.join(&b'\n'))
}

/// Mutates values of one line, or of the file if it is one value. Values of another line may be
/// inserted.
fn structured(data: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    if let Ok(mut value) = serde_json::from_slice::<Value>(data) {
        let other = value.clone();
        change(&mut value, &other, dice);
        return serde_json::to_vec(&value).ok();
    }
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let n = dice.roll(lines.len());
    let mut value: Value = serde_json::from_slice(lines[n]).ok()?;
    let other = serde_json::from_slice(lines[dice.roll(lines.len())]).unwrap_or(Value::Null);
    change(&mut value, &other, dice);
    let changed = serde_json::to_vec(&value).ok()?;
    let mut out = lines;
    out[n] = &changed;
    Some(out.join(&b'\n'))
}

fn change(value: &mut Value, other: &Value, dice: &mut Dice) {
    for _ in 0..=dice.roll(3) {
        let count = count(value);
        let place = dice.roll(count);
        let Some(node) = nth(value, &mut place.clone()) else {
            return;
        };
        change_node(node, other, dice);
    }
}

fn change_node(node: &mut Value, other: &Value, dice: &mut Dice) {
    match dice.roll(9) {
        0 | 1 => *node = odd(dice),
        2..=4 => {
            let mut place = dice.roll(count(other));
            if let Some(found) = nth(&mut other.clone(), &mut place) {
                *node = found.take();
            }
        }
        5 => *node = json!([node.take()]),
        _ => change_within(node, dice),
    }
}

fn change_within(node: &mut Value, dice: &mut Dice) {
    match node {
        Value::Object(members) => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let (Some(a), Some(b)) = (
                keys.get(dice.roll(keys.len())),
                keys.get(dice.roll(keys.len())),
            ) else {
                return;
            };
            let value = members.remove(a).unwrap_or_default();
            match dice.roll(3) {
                0 => {}
                1 => drop(members.insert(b.clone(), value)),
                _ => drop(members.insert(format!("{a}{}", piece(dice)), value)),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let (a, b) = (dice.roll(items.len()), dice.roll(items.len()));
            match dice.roll(3) {
                0 => drop(items.remove(a)),
                1 => items.insert(b, items[a].clone()),
                _ => items.swap(a, b),
            }
        }
        Value::String(text) => {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = places.get(dice.roll(places.len())).copied().unwrap_or(0);
            match dice.roll(4) {
                0 => text.truncate(at),
                1 => *text = text.repeat(1 + dice.roll(3)),
                _ => text.insert_str(at, piece(dice)),
            }
        }
        other => *other = odd(dice),
    }
}

/// Texts that are difficult to handle.
fn piece(dice: &mut Dice) -> &'static str {
    const PIECES: [&str; 24] = [
        "\u{1b}[31m",
        "\u{1b}]0;x\u{7}",
        "\u{9b}2J",
        "\r",
        "\n",
        "\n\n",
        "\t",
        "\0",
        "\u{202e}",
        "\u{200b}",
        "👨‍👩‍👧",
        "日本",
        "e\u{301}\u{301}",
        "```\n",
        "| a | b |\n|--|--|\n",
        "@@ -1,2 +3,4 @@\n",
        "+1 x",
        "<a>",
        "#",
        "agent-",
        "toolu_",
        "0",
        ":",
        "{\"a\":1}",
    ];
    PIECES[dice.roll(PIECES.len())]
}

/// A value of an unexpected type.
fn odd(dice: &mut Dice) -> Value {
    match dice.roll(16) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(i64::MIN),
        5 => json!(1e300),
        6 => json!(0.1),
        7 => json!(""),
        8 => json!("2026-13-99T99:99:99Z"),
        9 => json!("2026-01-02T03:04:05.678Z"),
        10 => json!([]),
        11 => json!([[1, "x"], null]),
        12 => json!({}),
        13 => json!({"type": "text", "text": 7}),
        14 => (0..100).fold(json!("deep"), |inner, _| json!([inner])),
        _ => json!(piece(dice)),
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(count).sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Object(members) => members.values_mut().find_map(|value| nth(value, left)),
        Value::Array(items) => items.iter_mut().find_map(|value| nth(value, left)),
        _ => None,
    }
}
