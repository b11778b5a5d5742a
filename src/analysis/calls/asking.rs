//! Calls that ask the user.

use crate::model::tool::ToolCall;

/// Tools that ask the user, without case and punctuation.
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

/// Whether a call asks the user, so that its time is the user's.
pub(crate) fn asks(call: &ToolCall) -> bool {
    let letters = call.name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    ASKING.contains(&name.as_str())
}
