//! Calls that ask the user a question.

use crate::model::tool::ToolCall;

/// Names of tools that ask the user, in lower case without punctuation.
const ASKING: &[&str] = &[
    "askuserquestion",
    "askfollowupquestion",
    "askuser",
    "question",
    "requestuserinput",
    "exitplanmode",
    "planmoderespond",
    "askquestion",
    "attemptcompletion",
];

/// Whether a call asks the user, so that its duration is the user's time.
pub(crate) fn asks_user(call: &ToolCall) -> bool {
    let letters = call.name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    ASKING.contains(&name.as_str())
}
