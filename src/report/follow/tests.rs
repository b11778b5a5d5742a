//! When an entry is complete.

use super::is_complete;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, EntryId, Piece, Role};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::transcript::Transcript;

fn say(out: &mut Batch, key: &str, role: Role) {
    let mut entry = out.new_entry(Text::clean(key), role, None);
    let body = out.prose("text");
    entry.blocks.push(Batch::block(Piece(0), BlockKind::Text(body)));
    out.entry(entry);
}

fn call(out: &mut Batch) {
    let mut entry = out.new_entry(Text::clean("calling"), Role::Assistant, None);
    let call = samples::call(out, "c1");
    entry.blocks.push(Batch::block(Piece(0), BlockKind::Call(Box::new(call))));
    out.entry(entry);
}

fn first_is_complete(is_quiet: bool, fill: impl FnOnce(&mut Batch)) -> bool {
    let mut batch = Batch::default();
    fill(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    is_complete(EntryId(0), is_quiet, &transcript)
}

#[test]
fn the_last_message_may_grow_until_a_pause() {
    let fill = |out: &mut Batch| say(out, "a", Role::Assistant);
    assert!(!first_is_complete(false, fill));
    assert!(first_is_complete(true, fill));
}

#[test]
fn a_call_waits_for_its_result_until_the_model_goes_on() {
    assert!(!first_is_complete(true, call));
    let prompted = |out: &mut Batch| {
        call(out);
        say(out, "typed meanwhile", Role::User);
    };
    assert!(!first_is_complete(true, prompted));
    let answered = |out: &mut Batch| {
        call(out);
        say(out, "answer", Role::Assistant);
    };
    assert!(first_is_complete(false, answered));
}
