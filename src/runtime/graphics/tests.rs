use super::{Environment, TerminalAnswers, canvas, questions};
use crate::cli::test_view;
