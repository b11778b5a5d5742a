//! Arguments of `tv formats`, and loading of the user's format definitions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::naming::target_of;
use super::surroundings::Surroundings;
use crate::ingest::{OpenError, Target, defined, find};
use crate::model::text::likeness::near_words;
use crate::report::formats::FormatsOptions;
use crate::runtime::config::settings_file;

/// The subcommands of `tv formats`.
#[derive(Debug, Subcommand)]
pub(super) enum FormatsCommand {
    /// Tell what is wrong with a definition, and what it makes of samples: 1 if something is
    Check {
        /// The definition
        definition: PathBuf,
        /// Files to read by it
        #[arg(value_name = "SAMPLE")]
        samples: Vec<OsString>,
    },
    /// Write the definition of a format of tv, or its head if it is read by code
    Show {
        /// Its name
        name: String,
    },
}

/// Loads the user's definitions: those in the settings folder, and the one given by `--format`.
/// Called before arguments are parsed, because it decides which formats exist. Returns the errors
/// in the folder's definitions.
pub fn define(
    arguments: impl IntoIterator<Item = OsString>,
    mut own: Vec<(PathBuf, String)>,
) -> Result<Vec<String>, String> {
    let asked = requested(arguments);
    let mut only = None;
    if let Some((typed, is_checked)) = asked {
        let is_file = Path::new(&typed)
            .extension()
            .is_some_and(|extension| extension == "toml");
        only = Some(typed.clone());
        if is_file || is_checked {
            let path = PathBuf::from(&typed);
            let text = read(&path)?;
            match defined::name_of(&path, &text, &own) {
                Ok(name) => only = Some(name.to_owned()),
                // Errors of a definition that is checked are part of the report.
                Err(_) if is_checked => only = None,
                Err(mistakes) => return Err(mistakes.join("\n")),
            }
            if only.is_some() {
                own.insert(0, (path, text));
            }
        }
    }
    let complaints = defined::register(own, only.clone());
    match only.filter(|only| !defined::exists(only)) {
        Some(only) => Err(format!(
            "there is no format {only}; `tv formats` lists them, and FILE.toml is a definition"
        )),
        None => Ok(complaints),
    }
}

/// The value of `--format`, or the definition to check; `true` for the latter.
fn requested(arguments: impl IntoIterator<Item = OsString>) -> Option<(String, bool)> {
    let typed: Vec<String> = arguments
        .into_iter()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .take_while(|argument| argument != "--")
        .collect();
    if let [formats, check, rest @ ..] = typed.as_slice()
        && formats == "formats"
        && check == "check"
    {
        return rest
            .iter()
            .find(|argument| !argument.starts_with('-'))
            .map(|file| (file.clone(), true));
    }
    let next = typed.iter().skip(1).map(Some).chain([None]);
    typed
        .iter()
        .zip(next)
        .find_map(|(argument, next)| match argument.strip_prefix("--format") {
            Some("") => next.map(|name| (name.clone(), false)),
            Some(rest) => rest.strip_prefix('=').map(|name| (name.to_owned(), false)),
            None => None,
        })
}

fn read(path: &Path) -> Result<String, String> {
    settings_file::text(path)?.ok_or_else(|| format!("{}: there is no such file", path.display()))
}

/// The options of `tv formats`.
pub(super) fn options(
    command: Option<FormatsCommand>,
    surroundings: Surroundings,
) -> Result<FormatsOptions, OpenError> {
    Ok(match command {
        None => FormatsOptions::List(surroundings.environment),
        Some(FormatsCommand::Show { name }) => {
            let none = || {
                let near = near_words(&name, find::formats());
                format!("no format is called {name}{near}; `tv formats` lists all")
            };
            let text = defined::text_of(&name).unwrap_or_else(|| Err(none()));
            FormatsOptions::Show(text.map_err(OpenError)?)
        }
        Some(FormatsCommand::Check {
            definition,
            samples,
        }) => {
            let text = read(&definition).map_err(OpenError)?;
            let samples: Result<Vec<Target>, OpenError> = samples
                .iter()
                .map(|sample| target_of(sample, &surroundings))
                .collect();
            let folder = surroundings
                .settings_folder
                .map(|folder| folder.join("formats"));
            FormatsOptions::Check {
                folder: folder.filter(|folder| !definition.starts_with(folder)),
                definition: defined::judge(&definition, &text),
                samples: samples?,
            }
        }
    })
}
