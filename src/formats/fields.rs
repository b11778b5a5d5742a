//! Which fields the records of a format are known to have at their top level, read here or not. What is
//! not among them is new, or misspelt: the doctor lists it.

use super::json::Json;
use crate::model::edit::Batch;

/// Fields that every record may have, and those of each type besides. Records of other types are not
/// looked at: a decoder notes them as unknown.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// Of all types.
    pub(crate) common: &'static [&'static str],
    /// By type.
    pub(crate) types: &'static [(&'static str, &'static [&'static str])],
}

/// Nothing is known, so nothing is unknown.
pub(crate) const NONE: Fields = Fields {
    common: &[],
    types: &[],
};

/// pi's container, with what OpenClaw adds to it.
pub(crate) const PI: Fields = Fields {
    common: &["type", "id", "parentId", "timestamp"],
    types: &[
        (
            "session",
            &[
                "version",
                "cwd",
                "parentSession",
                "branchedFrom",
                "provider",
                "modelId",
                "thinkingLevel",
            ],
        ),
        ("message", &["message"]),
        ("model_change", &["provider", "modelId", "model", "role"]),
        ("thinking_level_change", &["thinkingLevel"]),
        (
            "compaction",
            &[
                "summary",
                "firstKeptEntryId",
                "firstKeptEntryIndex",
                "tokensBefore",
                "tokensAfter",
                "details",
                "fromHook",
                "usage",
                "retainedTail",
            ],
        ),
        (
            "branch_summary",
            &["fromId", "summary", "details", "fromHook", "usage"],
        ),
        ("custom", &["customType", "data"]),
        (
            "custom_message",
            &["customType", "content", "display", "details"],
        ),
        ("label", &["targetId", "label"]),
        ("session_info", &["name"]),
    ],
};

/// Claude Code's session files.
pub(crate) const CLAUDE: Fields = Fields {
    common: &[
        "parentUuid",
        "logicalParentUuid",
        "isSidechain",
        "userType",
        "entrypoint",
        "cwd",
        "sessionId",
        "version",
        "gitBranch",
        "agentId",
        "slug",
        "type",
        "uuid",
        "timestamp",
        "teamName",
        "agentName",
        "isMeta",
        "session_id",
        "forkedFrom",
    ],
    types: &[
        (
            "assistant",
            &[
                "message",
                "requestId",
                "isApiErrorMessage",
                "error",
                "costUSD",
                "durationMs",
                "apiBlockIndex",
                "effort",
                "perTurnEffort",
                "advisorModel",
                "attributionAgent",
                "attributionSkill",
                "attributionMcpServer",
                "attributionMcpTool",
                "thinkingDurationMs",
                "truncatedAfterOutput",
                "isAbortedMidStream",
                "wireToolInputs",
                "wireIngestContext",
                "serverClassifierRequest",
                "quotaLimits",
                "apiErrorStatus",
                "apiErrorIsTransient",
            ],
        ),
        (
            "user",
            &[
                "message",
                "toolUseResult",
                "isCompactSummary",
                "isVisibleInTranscriptOnly",
                "permissionMode",
                "todos",
                "thinkingMetadata",
                "planContent",
                "imagePasteIds",
                "sourceToolAssistantUUID",
                "sourceToolUseID",
                "promptId",
                "promptSource",
                "origin",
                "turnOrigin",
                "turnPosition",
                "toolDenialKind",
                "toolEndsTurn",
                "userFeedback",
                "interruptedMessageId",
                "interruptedByShutdown",
                "queuePriority",
                "queueSkipAttachments",
                "queueTranscriptOnly",
                "turnCompanion",
                "scheduledFireId",
                "scheduledTaskId",
                "summarizeMetadata",
                "classifierMetaLines",
                "classifierBoundary",
                "hostClassifierContext",
                "serverClassifierContext",
                "mcpMeta",
            ],
        ),
        ("progress", &["data", "toolUseID", "parentToolUseID"]),
        (
            "file-history-snapshot",
            &["messageId", "snapshot", "isSnapshotUpdate"],
        ),
        (
            "attachment",
            &[
                "attachment",
                "rendered",
                "renderedRole",
                "renderedInHumanTurn",
                "renderedBesideToolResult",
            ],
        ),
        (
            "system",
            &[
                "subtype",
                "content",
                "message",
                "level",
                "toolUseID",
                "durationMs",
                "messageCount",
                "pendingBackgroundAgentCount",
                "pendingWorkflowCount",
                "compactMetadata",
                "microcompactMetadata",
                "error",
                "cause",
                "source",
                "retryInMs",
                "retryAttempt",
                "maxRetries",
                "hookCount",
                "hookInfos",
                "hookErrors",
                "hookAdditionalContext",
                "preventedContinuation",
                "stopReason",
                "hasOutput",
                "commandRun",
                "usageReport",
                "url",
                "cron",
                "cronKind",
                "taskKind",
                "taskId",
                "prompt",
                "foldedUuids",
                "noOpStreak",
                "streakStartedAt",
                "originalModel",
                "fallbackModel",
                "trigger",
                "direction",
                "scope",
                "apiRefusalCategory",
                "apiRefusalExplanation",
                "refusedUserMessageUuid",
                "requestId",
                "retractedMessageUuids",
                "writtenPaths",
                "snapshotFiles",
            ],
        ),
        ("summary", &["summary", "leafUuid", "message"]),
        (
            "queue-operation",
            &[
                "operation",
                "content",
                "commandUuid",
                "deliveryId",
                "reason",
            ],
        ),
        ("last-prompt", &["lastPrompt", "leafUuid"]),
        ("ai-title", &["aiTitle"]),
        ("custom-title", &["customTitle"]),
        ("mode", &["mode"]),
        ("permission-mode", &["permissionMode"]),
        ("pr-link", &["prNumber", "prUrl", "prRepository"]),
    ],
};

/// What Claude Code writes to its standard output.
pub(crate) const CLAUDE_STREAM: Fields = Fields {
    common: &[
        "type",
        "uuid",
        "session_id",
        "parent_tool_use_id",
        "timestamp",
    ],
    types: &[
        (
            "assistant",
            &["message", "duration_ms", "error", "request_id"],
        ),
        (
            "user",
            &["message", "isSynthetic", "isReplay", "tool_use_result"],
        ),
        ("stream_event", &["event"]),
        (
            "result",
            &[
                "subtype",
                "is_error",
                "api_error_status",
                "duration_ms",
                "duration_api_ms",
                "ttft_ms",
                "num_turns",
                "result",
                "stop_reason",
                "total_cost_usd",
                "usage",
                "modelUsage",
                "permission_denials",
                "terminal_reason",
                "errors",
                "error",
                "error_code",
                "exit_code",
                "structured_output",
                "fast_mode_state",
            ],
        ),
        ("rate_limit_event", &["rate_limit_info"]),
    ],
};

/// Codex's rollouts. What the payloads have differs by their own types.
pub(crate) const CODEX: Fields = Fields {
    common: &["timestamp", "ordinal", "type"],
    types: &[
        ("session_meta", CODEX_ENVELOPE),
        ("response_item", CODEX_ENVELOPE),
        ("event_msg", CODEX_ENVELOPE),
        ("turn_context", CODEX_ENVELOPE),
        ("compacted", CODEX_ENVELOPE),
        ("token_usage_record", CODEX_ENVELOPE),
    ],
};

const CODEX_ENVELOPE: &[&str] = &["payload", "metadata"];

impl Fields {
    /// Notes fields of a record that its type is not known to have.
    pub(crate) fn check(&self, record: &Json<'_>, out: &mut Batch) {
        let Some(kind) = record.get("type").str() else {
            return;
        };
        let Some((kind, own)) = self.types.iter().find(|(known, _)| *known == kind) else {
            return;
        };
        // Records are written in an order of their own, but mostly in the same: the search for a field
        // begins where the one before it was found.
        let known = || self.common.iter().chain(*own);
        let mut rest = known();
        for (field, _) in record.members() {
            if rest.any(|known| known == field) {
                continue;
            }
            rest = known();
            if !rest.any(|known| known == field) {
                out.unknown_field(kind, field);
                rest = known();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CLAUDE;
    use crate::formats::json;
    use crate::model::edit::Batch;
    use crate::model::text::Text;

    #[test]
    fn only_new_fields_of_known_records_are_listed() {
        let mut out = Batch::default();
        for record in [
            r#"{"type":"user","uuid":"u1","timesstamp":"2026","message":{"mood":"new"}}"#,
            r#"{"type":"user","timesstamp":"2026"}"#,
            r#"{"type":"hologram","depth":3}"#,
            r#"{"depth":3}"#,
        ] {
            CLAUDE.check(&json::parse(record).unwrap(), &mut out);
        }
        let listed: Vec<(&str, u64)> = out
            .tally
            .unknown_fields
            .iter()
            .map(|(what, (n, _))| (Text::as_str(what), *n))
            .collect();
        assert_eq!(listed, [("user.timesstamp", 2)]);
    }
}
