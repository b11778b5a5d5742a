//! Open calls in order: a queue from which any call is removed in logarithmic time.

use std::collections::{BTreeMap, HashMap};

use crate::model::body::Key;

/// Calls without a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnansweredCalls {
    order: BTreeMap<u64, Key>,
    places: HashMap<Key, u64>,
    next: u64,
}

impl UnansweredCalls {
    /// Adds a call. One that is in the queue keeps its position.
    pub(crate) fn push(&mut self, call: Key) {
        if !self.places.contains_key(&call) {
            self.order.insert(self.next, call.clone());
            self.places.insert(call, self.next);
            self.next += 1;
        }
    }

    pub(crate) fn remove(&mut self, call: &str) {
        if let Some(place) = self.places.remove(call) {
            self.order.remove(&place);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }
}

impl IntoIterator for UnansweredCalls {
    type Item = Key;
    type IntoIter = std::collections::btree_map::IntoValues<u64, Key>;

    fn into_iter(self) -> Self::IntoIter {
        self.order.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::UnansweredCalls;

    #[test]
    fn what_is_left_comes_in_its_order() {
        let mut waiting = UnansweredCalls::default();
        for call in ["a", "b", "c", "b", "d"] {
            waiting.push(call.into());
        }
        for call in ["c", "x", "a"] {
            waiting.remove(call);
        }
        waiting.push("a".into());
        assert_eq!(waiting.len(), 3);
        let left: Vec<String> = waiting.into_iter().map(|call| call.to_string()).collect();
        assert_eq!(left, ["b", "d", "a"]);
    }
}
