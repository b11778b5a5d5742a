//! Recorded costs of 0. In a session with other costs they mean that the model is free; if all costs are 0, the price may
//! be unknown to the agent.
//!
//! Invariant: the cost of a request does not depend on whether it comes before or after the first one with a cost.

use std::collections::HashMap;

use super::decoder::{Decoder, DecoderWrapper, Input};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::tally::Fate;
use crate::model::text::Name;
use crate::model::usage::Usage;

/// A decoder that emits costs of 0 only once the session has another cost.
#[derive(Default)]
pub(crate) struct ZeroCosts<D> {
    decoder: D,
    zeros: Zeros,
}

#[derive(Default)]
struct Zeros {
    /// Whether any request has a cost above 0.
    is_priced: bool,
    /// Usage that was emitted without its cost of 0, until a request has a cost.
    unknown: HashMap<Key, (Usage, Option<Name>)>,
}

impl<D> ZeroCosts<D> {
    pub(crate) fn new(decoder: D) -> Self {
        Self {
            decoder,
            zeros: Zeros::default(),
        }
    }
}

impl<D: Decoder> DecoderWrapper for ZeroCosts<D> {
    fn inner(&self) -> &dyn Decoder {
        &self.decoder
    }

    fn inner_mut(&mut self) -> &mut dyn Decoder {
        &mut self.decoder
    }

    fn emit(&mut self, input: Option<Input<'_>>, out: &mut Batch) -> Option<Fate> {
        let from = out.edits.len();
        let fate = self.emit_inner(input, out);
        self.zeros.judge(from, out);
        fate
    }
}

impl Zeros {
    fn judge(&mut self, from: usize, out: &mut Batch) {
        let new = out.edits.get_mut(from..).unwrap_or_default();
        self.is_priced |= new
            .iter_mut()
            .filter_map(usage_of)
            .any(|(_, usage, _)| usage.cost > Some(0.0));
        if !self.is_priced {
            for (of, usage, model) in new.iter_mut().filter_map(usage_of) {
                if usage.cost == Some(0.0) {
                    self.unknown
                        .insert(of.clone(), (usage.clone(), model.cloned()));
                    usage.cost = None;
                } else {
                    self.unknown.remove(of);
                }
            }
            return;
        }
        // The new edits replace those that were withheld.
        for (of, ..) in new.iter_mut().filter_map(usage_of) {
            self.unknown.remove(of);
        }
        let mut free: Vec<_> = self.unknown.drain().collect();
        free.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (of, (usage, model)) in free {
            out.usage(of, usage, model);
        }
    }
}

/// The usage of requests in an edit.
fn usage_of(edit: &mut Edit) -> Option<(&Key, &mut Usage, Option<&Name>)> {
    let (of, usage, model) = match edit {
        Edit::Entry(entry) => (
            &entry.key,
            entry.usage.as_deref_mut()?,
            entry.model.as_ref(),
        ),
        Edit::Usage { of, usage, model } => (&*of, &mut **usage, model.as_ref()),
        _ => return None,
    };
    usage.scope.is_of_requests().then_some((of, usage, model))
}
