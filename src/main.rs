//! The program: from arguments to a report or the viewer, and the exit code.
//!
//! A closed pipe is success, an interrupt is 130, and any other error is one sentence on stderr
//! and 2.
//!
//! **The allocator is mimalloc**, because one thread allocates what another one packs and frees.
//! With glibc's a session of a gigabyte takes a quarter more time, and its arena per thread keeps
//! memory in a session that grows for hours; one arena for all threads keeps less, but takes half
//! as much time again.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tv::cli::{Config, Output, Surroundings, apply_settings, charset, define, redacts};
use tv::ingest::far::serve;
use tv::ingest::remote;
use tv::model::memory;
use tv::model::text::Text;
use tv::model::text::outlet::{Charset, Outlet};
use tv::model::text::secrets;
use tv::model::timestamp::Timestamp;
use tv::report::outcome::{ReportError, ReportOutcome};
use tv::report::reading::on_one_line;
use tv::runtime;

/// The answer is no: something is wrong, was not found, or did not come about.
const FOUND: u8 = 1;
/// It could not be done.
const FAILED: u8 = 2;
/// The user interrupted it.
const INTERRUPTED: u8 = 130;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    memory::release_early();
    if redacts(std::env::args_os()) {
        secrets::redact();
    }
    let mut surroundings = Surroundings::read();
    let charset = charset(std::env::args_os(), &surroundings);
    let defined = define(
        std::env::args_os(),
        std::mem::take(&mut surroundings.definitions),
    );
    surroundings.zone.clone().install();
    remote::install(surroundings.transport.clone());
    surroundings
        .passed_over
        .extend(apply_settings(&surroundings));
    surroundings
        .passed_over
        .extend(defined.as_ref().ok().into_iter().flatten().cloned());
    for sentence in &surroundings.passed_over {
        say(sentence, charset);
    }
    if let Err(mistakes) = defined {
        say(&mistakes, charset);
        return ExitCode::from(FAILED);
    }
    match Config::resolve(std::env::args_os(), surroundings) {
        Ok(config) => {
            let code = run(config, charset).unwrap_or_else(|error| end(&error, charset));
            for words in remote::news().try_iter() {
                say(&words, charset);
            }
            code
        }
        Err(wrong) => {
            // If even this cannot be printed, the exit code still says so.
            let _ = if wrong.use_stderr() {
                refuse(&wrong, charset)
            } else {
                wrong.print()
            };
            ExitCode::from(u8::try_from(wrong.exit_code()).unwrap_or(FAILED))
        }
    }
}

fn run(config: Config, charset: Charset) -> anyhow::Result<ExitCode> {
    let report = match config {
        Config::View(view) => return runtime::view(&view),
        Config::Serve(environment) => {
            serve(&environment, io::stdin().lock(), Box::new(io::stdout()))?;
            return Ok(ExitCode::SUCCESS);
        }
        Config::Report(report) => report,
    };
    let mut out = Outlet::new(BufWriter::new(io::stdout().lock()), charset, report.form);
    let outcome = report.write(Output {
        now,
        progress: &mut progress(),
        out: &mut out,
    })?;
    out.flush()?;
    if let Some(words) = secrets::redacted() {
        say(&words, charset);
    }
    Ok(code_of(outcome, charset))
}

/// Writes on a terminal how far a report is; nothing of that is left when all is done.
fn progress() -> impl FnMut(usize, usize) {
    /// How often at most.
    const PAUSE: Duration = Duration::from_millis(100);
    let is_terminal = io::stderr().is_terminal();
    let mut written: Option<Instant> = None;
    move |done, all| {
        let is_due = written.is_none_or(|at| at.elapsed() >= PAUSE);
        if !is_terminal || (!is_due && done < all) {
            return;
        }
        written = Some(Instant::now());
        let words = if done < all {
            format!("reading {done} of {all} sessions")
        } else {
            String::new()
        };
        // The report itself does not depend on it.
        let _ = write!(io::stderr(), "\r{words:<40}\r");
    }
}

/// The exit code, after all is said that is to be said.
fn code_of(outcome: ReportOutcome, charset: Charset) -> ExitCode {
    match outcome {
        ReportOutcome::Complete => ExitCode::SUCCESS,
        ReportOutcome::Found | ReportOutcome::Nothing => ExitCode::from(FOUND),
        ReportOutcome::Missed(why) => {
            say(&why, charset);
            ExitCode::from(FOUND)
        }
        ReportOutcome::Interrupted => ExitCode::from(INTERRUPTED),
        ReportOutcome::Failed(failures) => {
            for failure in failures {
                say(&failure.0, charset);
            }
            ExitCode::from(FAILED)
        }
        ReportOutcome::Saying(what, outcome) => {
            say(&what, charset);
            code_of(*outcome, charset)
        }
    }
}

fn end(error: &anyhow::Error, charset: Charset) -> ExitCode {
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    say(&format!("{error:#}"), charset);
    ExitCode::from(FAILED)
}

/// Whoever read the output has enough of it: `tv show FILE | head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let written = match error.downcast_ref::<ReportError>() {
        Some(ReportError::Write(written)) => Some(written),
        Some(ReportError::Open(_)) => None,
        None => error.downcast_ref::<io::Error>(),
    };
    written.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// What is wrong with the arguments. It quotes them, and names of files are strings from outside.
fn refuse(wrong: &clap::Error, charset: Charset) -> io::Result<()> {
    write!(
        io::stderr(),
        "{}",
        charset.text(&Text::clean(&wrong.render().to_string()))
    )
}

/// Paths and messages of the system are strings from outside: they are cleaned before they are shown.
fn say(sentence: &str, charset: Charset) {
    let _ = writeln!(
        io::stderr(),
        "tv: {}",
        charset.text(&on_one_line(&Text::clean(sentence)))
    );
}

fn now() -> Timestamp {
    #[expect(
        clippy::disallowed_methods,
        reason = "the clock is read here and handed down"
    )]
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}
