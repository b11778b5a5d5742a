use super::{Environment, Told, canvas, questions};
use crate::cli::test_view;
