//! Arguments of `tv check`.

use std::ffi::OsString;

use clap::ValueEnum;

use super::strict::StrictArgs;
use crate::analysis::lint::Severity;
use crate::report::check::CheckForm;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// The sessions
    #[arg(required_unless_present = "rules", value_name = "SESSION")]
    pub(super) sessions: Vec<OsString>,
    /// List where keys and tokens are that --redact would mask: kind and place, never the secret; 1 if there is any
    #[arg(long, conflicts_with_all = ["sarif", "rules"])]
    pub(super) secrets: bool,
    /// One JSON object a line (schema tv.check/1, with --secrets tv.secret/1)
    #[arg(long)]
    pub(super) json: bool,
    /// One SARIF 2.1.0 document
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
    /// Write findings from this severity on; the others are only counted
    #[arg(long, value_enum, default_value_t = SeverityArg::Warning, value_name = "SEVERITY")]
    severity: SeverityArg,
    /// Write which rules there are, and end
    #[arg(long, conflicts_with = "sessions")]
    pub(super) rules: bool,
    #[command(flatten)]
    pub(super) strict: StrictArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SeverityArg {
    Error,
    Warning,
    #[value(alias = "info")]
    Note,
}

impl CheckArgs {
    /// The output format.
    pub(super) fn form(&self) -> CheckForm {
        match (self.json, self.sarif) {
            (true, _) => CheckForm::Json,
            (_, true) => CheckForm::Sarif,
            (false, false) => CheckForm::Text,
        }
    }

    /// The least severity that is listed; others are only counted.
    pub(super) fn least(&self) -> Severity {
        match self.severity {
            SeverityArg::Error => Severity::Error,
            SeverityArg::Warning => Severity::Warning,
            SeverityArg::Note => Severity::Note,
        }
    }
}
