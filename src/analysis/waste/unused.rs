//! Results that were carried and never used: nothing that the model saw there first occurs in what
//! it wrote later.
//!
//! Only results of reading, searching and fetching are judged, if they are in memory and had many
//! new words. A single word that occurs again in a later text, thought or argument of the same lane
//! counts as use, even a common one. A result may still have been of use by what it did not say.

use hashbrown::HashMap;

use super::{Waste, WasteKind, WasteSources};
use crate::analysis::calls::Place;
use crate::model::body::{Body, Held};
use crate::model::entry::{BlockKind, Role};
use crate::model::text::Name;
use crate::model::tool::{ToolKind, ToolState};

/// Least length of a word in bytes.
const WORD: usize = 5;
/// Least new words of a result that is judged.
const LEAST: usize = 20;
/// Greatest length of a result that is judged, in bytes.
const MOST: usize = 64 << 10;

/// Parameters of the FNV-1a hash, which is fast for words.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// The words of a lane so far, each with the number of the result that had it first.
type Words = HashMap<u64, Option<u32>>;

/// The results that nothing was taken from.
pub(super) fn unused(sources: &WasteSources<'_>) -> Vec<Waste> {
    let transcript = sources.transcript;
    let mut lanes: HashMap<Option<&Name>, Words> = HashMap::new();
    let mut results: Vec<Option<Place>> = Vec::new();
    for id in transcript.order() {
        let Some(entry) = transcript.get(*id).filter(|entry| !entry.marks.copy) else {
            continue;
        };
        let words = lanes.entry(transcript.lane_at(*id)).or_default();
        let mut use_up = |text: &str| {
            each_word(text, |word| {
                let owner = words.entry(word).or_insert(None).take();
                let result = owner.and_then(|number| results.get_mut(number as usize));
                if let Some(result) = result {
                    *result = None;
                }
            });
        };
        if entry.role == Role::Assistant {
            for block in &entry.blocks {
                match &block.kind {
                    BlockKind::Text(body) | BlockKind::Thinking(body) => {
                        each_text(body, &mut use_up);
                    }
                    BlockKind::Call(call) => each_text(&call.input, &mut use_up),
                    _ => {}
                }
            }
        }
        for (block, call) in entry.numbered_calls() {
            let ToolState::Done(result) = &call.state else {
                continue;
            };
            let is_read = matches!(
                call.kind,
                ToolKind::Read | ToolKind::Search | ToolKind::Fetch
            );
            let Some(text) = result
                .body
                .text()
                .filter(|text| is_read && text.len() <= MOST)
            else {
                continue;
            };
            let place = Place { entry: *id, block };
            let number = u32::try_from(results.len()).ok();
            let mut new = 0;
            each_word(text, |word| {
                words.entry(word).or_insert_with(|| {
                    new += 1;
                    number
                });
            });
            results.push((new >= LEAST).then_some(place));
        }
    }
    let left = results.into_iter().flatten();
    let waste = left.filter_map(|place| {
        let call = place.call(transcript)?;
        sources.of_call(WasteKind::Unused, place, sources.about(call))
    });
    waste.collect()
}

fn each_text(body: &Body, take: &mut impl FnMut(&str)) {
    match &body.held {
        Held::Tree(tree) => tree.each_text(&mut |text| take(text)),
        _ => take(body.text_or_stub()),
    }
}

/// Hashes of the words of a text, in lower case; parts of paths and of names with points are words.
fn each_word(text: &str, mut take: impl FnMut(u64)) {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    for word in text.split(|letter| !is_part(letter)) {
        if word.len() >= WORD {
            take(word.bytes().fold(FNV_OFFSET, |hash, byte| {
                (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(FNV_PRIME)
            }));
        }
    }
}
