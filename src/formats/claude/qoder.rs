//! qoder: the format of Claude Code in folders of its own. It counts credits; token counts are 0.

use std::path::Path;

use super::{ClaudeDecoder, places, sniff};
use crate::formats::decoder::{Decoder, Format};
use crate::formats::definition::heads::head;
use crate::formats::json::Json;
use crate::formats::probe::{Confidence, Probe, ProbeResult};
use crate::formats::roots::{FileRole, Pattern, SessionName};
use crate::model::record::Shape;

pub(crate) struct Qoder;

impl Format for Qoder {
    head!("qoder");

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(ClaudeDecoder::of(self.head()))
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        let has_head = probe.lines.iter().any(is_head);
        let has_credits = || {
            probe
                .lines
                .iter()
                .any(|line| line.at("message.usage").has("credits"))
        };
        if !(has_head || has_credits() || is_in_qoder_folder(probe.path)) {
            return ProbeResult::no("neither credits nor a configuration of Qoder");
        }
        let verdict = sniff::sniff(probe);
        if has_head && verdict.confidence < Confidence::Certain {
            return ProbeResult::yes(
                Confidence::Certain,
                Shape::Lines,
                "a configuration of Qoder",
            );
        }
        let reason = format!("{}, with credits or in Qoder's folder", verdict.reason);
        if verdict.confidence >= Confidence::Likely {
            ProbeResult { reason, ..verdict }
        } else {
            verdict
        }
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        places::files(self.head(), path, role)
    }
}

/// Whether a line is the first one of a session.
fn is_head(line: &Json<'_>) -> bool {
    line.kind() == "runtime-config" && line.has("sessionId")
}

fn is_in_qoder_folder(path: &Path) -> bool {
    path.iter()
        .any(|folder| folder == ".qoder" || folder == ".qoderwork")
}
