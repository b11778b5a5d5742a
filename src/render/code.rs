//! Syntax colours, made in the background: a layout takes what is finished and asks for the rest.

/// Finished highlights and open requests.
#[derive(Debug, Default)]
pub struct Colours {}
