//! cline (to be filled).

use super::decoder::{Decoder, Format, Input, Probe, Verdict, show_raw};
use crate::model::edit::Batch;
use crate::model::tally::Fate;

/// The format.
pub struct Cline;

impl Format for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn sniff(&self, _probe: &Probe<'_>) -> Verdict {
        Verdict::no("not written yet")
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ClineDecoder)
    }
}

struct ClineDecoder;

impl Decoder for ClineDecoder {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        show_raw(input, "record", out)
    }
}
