//! qoder: the format of Claude Code in folders of its own. It counts credits; token counts are 0.

use std::path::{Path, PathBuf};

use super::{Claude, ClaudeDecoder, sniff};
use crate::formats::counting::Counting;
use crate::formats::decoder::{Confidence, Decoder, Format, Pattern, Place, Probe, Verdict};
use crate::formats::definition::heads::head;
use crate::formats::json::Json;
use crate::formats::roots::SessionName;
use crate::model::record::Shape;

pub(crate) struct Qoder;

impl Format for Qoder {
    head!("qoder");

    fn sniff(&self, probe: &Probe<'_>) -> Verdict {
        let has_head = probe.lines.iter().any(is_head);
        let has_credits = || {
            probe
                .lines
                .iter()
                .any(|line| line.at(&["message", "usage"]).has("credits"))
        };
        if !(has_head || has_credits() || lies_with_it(probe.path)) {
            return Verdict::no("neither credits nor a configuration of Qoder");
        }
        let verdict = sniff::sniff(probe);
        if has_head && verdict.confidence < Confidence::Certain {
            return Verdict::yes(
                Confidence::Certain,
                Shape::Lines,
                "a configuration of Qoder",
            );
        }
        let reason = format!("{}, with credits or in Qoder's folder", verdict.reason);
        if verdict.confidence >= Confidence::Likely {
            Verdict { reason, ..verdict }
        } else {
            verdict
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ClaudeDecoder::of(self.name()))
    }

    fn counting(&self, place: Place<'_>) -> Option<Counting> {
        Claude.counting(place)
    }

    fn owner(&self, path: &Path) -> Option<PathBuf> {
        Claude.owner(path)
    }

    fn owner_of_id(&self, path: &Path, id: &str) -> Option<PathBuf> {
        Claude.owner_of_id(path, id)
    }

    fn home(&self, path: &Path) -> PathBuf {
        Claude.home(path)
    }

    fn follow_up(&self, path: &Path, wanted: &str) -> Vec<Pattern> {
        Claude.follow_up(path, wanted)
    }

    fn named<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        Claude.named(path)
    }
}

/// Whether a line is the first one of a session.
fn is_head(line: &Json<'_>) -> bool {
    line.get("type").is("runtime-config") && line.has("sessionId")
}

fn lies_with_it(path: &Path) -> bool {
    path.iter()
        .any(|folder| folder == ".qoder" || folder == ".qoderwork")
}
