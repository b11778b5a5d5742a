//! The names that most programs use.

/// Fields that tell kinds of records apart.
pub(super) const KIND: [&str; 18] = [
    "type",
    "kind",
    "event",
    "ev",
    "role",
    "payload.type",
    "data.type",
    "item.type",
    "event.type",
    "message.role",
    "message.type",
    "payload.role",
    "from",
    "who",
    "source",
    "action",
    "op",
    "observation",
];
pub(super) const ROLE: [&str; 9] =
    ["role", "message.role", "payload.role", "from", "author", "sender", "who", "source", "type"];
pub(super) const USERS: [&str; 9] =
    ["user", "human", "prompt", "ask", "customer", "question", "input", "me", "userpromptsubmitted"];
pub(super) const ASSISTANTS: [&str; 11] = [
    "assistant",
    "model",
    "ai",
    "agent",
    "gpt",
    "gemini",
    "bot",
    "answer",
    "response",
    "llm",
    "assistantresponse",
];
pub(super) const SYSTEMS: [&str; 2] = ["system", "developer"];
pub(super) const THINKING: [&str; 8] = [
    "thinking",
    "reasoning",
    "reasoning_content",
    "reasoning_text",
    "reasoningtext",
    "thought",
    "thoughts",
    "think",
];
pub(super) const TEXT: [&str; 13] = [
    "text", "content", "say", "message", "msg", "output", "result", "response", "body", "value", "prompt",
    "summary", "delta",
];
/// Lists of parts of a message, besides those that are named like a text.
pub(super) const PARTS: [&str; 5] = ["parts", "blocks", "thoughts", "rounds", "messages"];
/// Lists of what could be called.
pub(super) const OFFERS: [&str; 6] =
    ["tools", "tool_definitions", "functions", "models", "variables", "attachments"];
pub(super) const NAME: [&str; 8] =
    ["name", "tool", "toolname", "tool_name", "function_name", "fn", "function", "action"];
pub(super) const INPUT: [&str; 10] = [
    "input",
    "arguments",
    "args",
    "parameters",
    "params",
    "tool_input",
    "with",
    "rawinput",
    "command",
    "action",
];
pub(super) const ID: [&str; 11] = [
    "call_id",
    "callid",
    "tool_call_id",
    "toolcallid",
    "tool_use_id",
    "tooluseid",
    "toolid",
    "source_call_id",
    "id",
    "n",
    "uuid",
];
pub(super) const RESULT: [&str; 9] = [
    "result",
    "output",
    "response",
    "observation",
    "content",
    "aggregated_output",
    "resultdisplay",
    "run",
    "error",
];
/// Kinds and roles of what came of a call.
pub(super) const RESULTS: [&str; 8] = [
    "tool",
    "tool_result",
    "tool-result",
    "toolresult",
    "observation",
    "function",
    "function_response",
    "function_call_output",
];
/// Words of a kind that is the call of one tool.
pub(super) const DEEDS: [&str; 6] = ["command", "tool", "exec", "search", "change", "call"];
/// Words of a kind that is not yet the end of something.
pub(super) const BEGINNINGS: [&str; 4] = ["start", "begin", "updat", "progress"];
pub(super) const TIME: [&str; 11] = [
    "timestamp",
    "ts",
    "time",
    "at",
    "t",
    "created_at",
    "createdat",
    "created",
    "date",
    "datetime",
    "start_time",
];
pub(super) const FACTS: [(&str, &[&str]); 4] = [
    ("id", &["sessionid", "session_id", "session", "run", "conversation_id", "thread_id"]),
    ("cwd", &["cwd", "dir", "working_dir", "directory", "workspace"]),
    ("model", &["model", "modelid", "model_id", "llm", "model_name"]),
    ("version", &["version", "cliversion", "cli_version"]),
];
pub(super) const USAGE: [(&str, &[&str]); 5] = [
    (
        "input",
        &["input_tokens", "inputtokens", "prompt_tokens", "prompttokens", "prompttokencount", "input", "in"],
    ),
    (
        "output",
        &[
            "output_tokens",
            "outputtokens",
            "completion_tokens",
            "completiontokens",
            "candidatestokencount",
            "output",
            "out",
        ],
    ),
    (
        "cache_read",
        &[
            "cache_read_input_tokens",
            "cachereadtokens",
            "cached_tokens",
            "cached",
            "cache_read",
            "cachedcontenttokencount",
            "hit",
        ],
    ),
    ("cache_write", &["cache_creation_input_tokens", "cachewritetokens", "cache_write"]),
    ("cost", &["cost_usd", "cost", "total_cost_usd"]),
];
/// What says that a call failed, and how.
pub(super) const FAILED: [(&str, &str); 7] = [
    ("is_error", ""),
    ("isError", ""),
    ("success", "=false"),
    ("ok", "=false"),
    ("status", "=error|failed|cancelled"),
    ("exit_code", ""),
    ("error", ""),
];
