//! Snapshots of every fixture as decoded: they show each change in how a format decodes a file.

use crate::{dump, fixtures};

#[test]
fn fixtures_read_as_reviewed() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("snapshots/golden");
    settings.set_allow_empty_glob(true);
    settings.set_omit_expression(true);
    settings.bind(|| {
        let sessions = fixtures::all();
        insta::glob!("../fixtures", "**/*", |path| {
            if sessions
                .iter()
                .any(|session| session == &path.canonicalize().unwrap())
            {
                insta::assert_snapshot!("fixture", written_down(path));
            }
        });
    });
}

fn written_down(path: &std::path::Path) -> String {
    let sessions = fixtures::targets(path).into_iter().map(|target| {
        let session = fixtures::read(&target);
        let id = target
            .session
            .map(|id| format!(" session {id}"))
            .unwrap_or_default();
        let verdict = format!(
            "{} ({}){id}\n",
            session.opened.format, session.opened.confidence
        );
        verdict + &dump::transcript(&session.transcript)
    });
    sessions.collect::<Vec<_>>().join("\n")
}
