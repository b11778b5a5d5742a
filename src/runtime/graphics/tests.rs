use super::{TerminalEnvironment, TerminalAnswers, canvas, questions};
use crate::cli::test_view;
