//! Tests of an agent's next release, and of the few lines in `~/.config/tv/formats/<agent>.toml`
//! with which a user adapts to it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::TV;
use crate::fixtures;

/// What the program writes with these settings.
fn run(config: &Path, arguments: &[&str]) -> String {
    let output = Command::new(TV)
        .args(arguments)
        .env("XDG_CONFIG_HOME", config)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A session in which five kinds have other names, and with three attachments that nobody knows.
fn next_release() -> String {
    let fixture = fixtures::root().join("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl");
    let renamed = fs::read_to_string(fixture)
        .unwrap()
        .replace(r#""type":"pr-link""#, r#""type":"pull-link""#)
        .replace(r#""type":"mode""#, r#""type":"mode-latch""#)
        .replace(r#""type":"ai-title""#, r#""type":"headline""#)
        .replace(r#""subtype":"turn_duration""#, r#""subtype":"turn_clock""#)
        .replace(r#""type":"skill_listing""#, r#""type":"skill_index""#);
    let attachment = |n: u32, attachment: Value| {
        json!({"type": "attachment", "uuid": format!("new-{n}"), "parentUuid": null, "isSidechain": false,
               "timestamp": "2026-11-30T10:00:00.000Z", "attachment": attachment})
    };
    let new = [
        attachment(
            1,
            json!({"type": "tide_reminder", "text": "The TIDE turns at noon"}),
        ),
        attachment(2, json!({"type": "reef_state", "depth": 3})),
        attachment(
            3,
            json!({"type": "crew_note", "words": "The CREW says hello"}),
        ),
    ];
    new.iter()
        .fold(renamed, |text, record| text + &record.to_string() + "\n")
}

const OVERLAY: &str = r#"extends = "claude-code"
[kinds.type]
quiet = ["mode-latch"]
note  = { pull-link = "prUrl" }
state = { headline = { title = "aiTitle" } }
[kinds]
"system.subtype"  = { quiet = ["turn_clock"] }
"attachment.type" = { quiet = ["skill_index", "tide_reminder", "reef_state"], note = { crew_note = "words" } }
"#;

#[test]
fn a_few_lines_calm_the_next_release() {
    assert!(OVERLAY.lines().count() <= 10);
    let folder = tempfile::tempdir().unwrap();
    let session = folder
        .path()
        .join("5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl");
    fs::write(&session, next_release()).unwrap();
    let session = session.to_str().unwrap();
    let config = folder.path().join("config");
    let show = || {
        run(
            &config,
            &["show", "--level", "3", "--width", "100", session],
        )
    };
    let unknown = || {
        let stats: Value =
            serde_json::from_str(&run(&config, &["stats", "--json", session])).unwrap();
        stats["records"]["unknown_judged"].clone()
    };
    let before = show();
    assert!(
        before.contains("attachment/tide_reminder") && !before.contains("The CREW says hello"),
        "{before}"
    );
    assert_eq!(
        unknown().as_object().unwrap().len(),
        9,
        "eight and the fixture's own: {}",
        unknown()
    );
    let calls = |text: &str| {
        text.lines()
            .filter(|line| line.contains(" run ") || line.contains(" read "))
            .count()
    };

    let formats = config.join("tv/formats");
    fs::create_dir_all(&formats).unwrap();
    let file = formats.join("claude-code.toml");
    fs::write(&file, OVERLAY).unwrap();
    let after = show();
    assert!(
        !after.contains("TIDE") && after.contains("crew note  The CREW says hello"),
        "{after}"
    );
    assert_eq!(unknown(), json!({"type/hologram": "trace"}));
    assert_eq!(calls(&after), calls(&before), "{after}");
    let doctor = run(&config, &["doctor", session]);
    assert!(
        doctor.contains("with kinds and places of") && doctor.contains("claude-code.toml"),
        "{doctor}"
    );
    let check = run(
        &config,
        &["formats", "check", file.to_str().unwrap(), session],
    );
    assert!(check.contains("claude-code: no mistakes"), "{check}");
    assert!(
        run(&config, &["formats"]).contains("(with "),
        "{}",
        run(&config, &["formats"])
    );
}

/// What `tv doctor` says about the unknown can be pasted into a file, and then nothing is unknown any more.
#[test]
fn the_lines_of_the_doctor_name_what_was_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder
        .path()
        .join("5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl");
    let odd = json!({"type": "system", "subtype": "odd \"quoted\" one", "uuid": "o-1", "parentUuid": null, "content": "ODD words"});
    fs::write(&session, next_release() + &odd.to_string() + "\n").unwrap();
    let session = session.to_str().unwrap();
    let config = folder.path().join("config");
    let doctor: Value =
        serde_json::from_str(&run(&config, &["doctor", "--json", session])).unwrap();
    let kind = &doctor["unknown"][0];
    assert!(
        kind["judged"].is_string()
            && kind["version"].is_string()
            && kind["first"]["line"].is_number(),
        "{kind}"
    );
    let text = run(&config, &["doctor", session]);
    let overlay = doctor["overlay"].as_str().unwrap();
    assert!(overlay.lines().all(|line| text.contains(line)), "{text}");
    let formats = config.join("tv/formats");
    fs::create_dir_all(&formats).unwrap();
    fs::write(formats.join("claude-code.toml"), overlay).unwrap();
    let stats: Value = serde_json::from_str(&run(&config, &["stats", "--json", session])).unwrap();
    assert_eq!(stats["records"]["unknown"], json!({}), "{overlay}");
    let shown = run(
        &config,
        &["show", "--level", "3", "--width", "100", session],
    );
    assert!(
        shown.contains("ODD words") && shown.contains("The TIDE turns at noon"),
        "{shown}"
    );
}

#[test]
fn mistakes_of_an_overlay_are_told_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path();
    let formats = config.join("tv/formats");
    fs::create_dir_all(&formats).unwrap();
    let good = "extends = \"pi\"\nroots = [\"~/.other/*.jsonl\"]\n[kinds.type]\nquiet = [\"a\"]\n";
    fs::write(formats.join("good.toml"), good).unwrap();
    for (text, place, what) in [
        (
            "extends = \"claud-code\"\n",
            ":1:11:",
            "there is no format `claud-code`",
        ),
        (
            "extends = \"pi\"\n[kinds.typo]\nquiet = [\"a\"]\n",
            ":2:8:",
            "`typo` is no class of kinds",
        ),
        (
            "extends = \"pi\"\n[kinds.type]\nquiet = [\"a\"]\nnote = { a = \"b\" }\n",
            ":4:10:",
            "`a` stands in two lists",
        ),
        (
            "extends = \"pi\"\n[[record]]\n",
            ":2:3:",
            "`record` is not known here",
        ),
        (
            "extends = \"pi\"\n[kinds.type]\nnote = { a = \"\" }\n",
            ":3:14:",
            "a path is empty",
        ),
    ] {
        let file = formats.join("bad.toml");
        fs::write(&file, text).unwrap();
        let check = run(config, &["formats", "check", file.to_str().unwrap()]);
        assert!(
            check.contains(place) && check.contains(what),
            "{text}{check}"
        );
        let list = run(config, &["formats"]);
        assert!(
            list.contains(what),
            "it is told wherever formats are used: {list}"
        );
        assert!(
            list.contains(".other/*.jsonl") && list.contains("good.toml"),
            "the others count: {list}"
        );
    }
}

/// What changes nothing is no mistake, for the next version of tv may read what a reader named before: the check tells it.
#[test]
fn what_of_an_overlay_changes_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let formats = folder.path().join("tv/formats");
    fs::create_dir_all(&formats).unwrap();
    let mine = "name = \"mine\"\n[[record]]\nwhen = { type = \"said\" }\nentry = { role = \"user\" }\nblock = [{ text = \"text\" }]\n";
    fs::write(formats.join("mine.toml"), mine).unwrap();
    let read = "is read before any list is looked into";
    for (text, remarks) in [
        (
            "extends = \"claude-code\"\nroots = [\"~/.other/*.jsonl\"]\n[kinds.type]\nquiet = [\"latch-of-next-week\", \"user\", \"atis-latch\"]\n",
            &[
                (":4:32:", read),
                (":4:40:", "`atis-latch` is so without this file"),
            ][..],
        ),
        (
            "extends = \"codex\"\nroots = [{ at = \"~/.codex/backup\", files = \"*.jsonl\" }]\n[kinds.\"event_msg.type\"]\nnote = { token_count = \"info\", news = \"text\" }\n",
            &[(":4:10:", read)],
        ),
        (
            "extends = \"opencode\"\n[kinds.event]\nquiet = [\"session.idle\", \"new.*\"]\n",
            &[(":3:10:", read)],
        ),
        (
            "extends = \"openclaw\"\n[kinds.role]\nquiet = [\"user\", \"moderator\"]\n",
            &[(":3:10:", read)],
        ),
        // Of definitions, any member can be a class.
        (
            "extends = \"gemini\"\n[kinds.type]\nquiet = [\"info\", \"banner\"]\n[kinds.\"a.b\"]\nquiet = [\"c\"]\n",
            &[(":3:10:", read)],
        ),
        (
            "extends = \"mine\"\n[kinds.type]\nquiet = [\"said\"]\nstate = { named = { title = \"to\" } }\n",
            &[(":3:10:", read)],
        ),
    ] {
        let file = folder.path().join("checked.toml");
        fs::write(&file, text).unwrap();
        let check = run(folder.path(), &["formats", "check", file.to_str().unwrap()]);
        let told: Vec<&str> = check
            .lines()
            .skip(1)
            .take_while(|line| !line.is_empty())
            .collect();
        let warnings = if remarks.len() == 1 {
            "1 warning"
        } else {
            "2 warnings"
        };
        assert!(
            check.contains(&format!(": no mistakes, {warnings}\n")),
            "{text}{check}"
        );
        assert_eq!(told.len(), remarks.len(), "{text}{check}");
        let mut command = Command::new(TV);
        command
            .args(["formats", "check", file.to_str().unwrap()])
            .env("XDG_CONFIG_HOME", folder.path());
        let status = command.output().unwrap().status;
        assert_eq!(
            status.code(),
            Some(0),
            "a warning is no mistake: {text}{check}"
        );
        for ((place, what), told) in remarks.iter().zip(told) {
            assert!(
                told.contains(place) && told.contains("warning: ") && told.contains(what),
                "{text}{check}"
            );
        }
    }
}

/// What neither a rule nor a list of a definition names stands where its record does: in the lane and at the time of it.
#[test]
fn an_overlay_adds_to_a_definition() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session.jsonl");
    let mine = "name = \"mine\"\n[entry]\nat = \"when\"\n[[record]]\nwhen = { kind = \"said\" }\nentry = { role = \"user\" }\nblock = [{ text = \"text\" }]\n";
    let overlay = "extends = \"mine\"\n[kinds.\"data.what\"]\nnote = { \"tide.*\" = \"data.words\" }\nsetting = { moon = [\"='moon:'\", \"phase\"] }\n";
    let records = [
        json!({"kind": "said", "when": "2026-11-30T10:00:00Z", "text": "Look at the sea"}),
        json!({"when": "2026-11-30T10:01:00Z", "data": {"what": "tide.high", "words": "The TIDE is high"}}),
        json!({"when": "2026-11-30T10:02:00Z", "data": {"what": "moon", "phase": "full"}}),
    ];
    fs::write(
        &session,
        records.map(|record| record.to_string() + "\n").concat(),
    )
    .unwrap();
    let formats = folder.path().join("tv/formats");
    fs::create_dir_all(&formats).unwrap();
    fs::write(formats.join("mine.toml"), mine).unwrap();
    fs::write(formats.join("more.toml"), overlay).unwrap();
    let session = session.to_str().unwrap();
    let check = run(
        folder.path(),
        &[
            "formats",
            "check",
            formats.join("more.toml").to_str().unwrap(),
            session,
        ],
    );
    assert!(
        check.contains("mine: no mistakes") && !check.contains("taken by no rule"),
        "{check}"
    );
    let json = run(
        folder.path(),
        &["show", "--format", "mine", "--json", session],
    );
    let entries: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let at = |n: usize| entries[n]["at"].as_str().unwrap().to_owned();
    assert!(at(1).contains("10:01") && at(2).contains("10:02"), "{json}");
    let shown = run(
        folder.path(),
        &["show", "--format", "mine", "--width", "80", session],
    );
    assert!(
        shown.contains("tide.high  The TIDE is high") && shown.contains("moon: full"),
        "{shown}"
    );
}

/// A place of the reader's own is looked into as those of the agent are.
#[test]
fn an_overlay_adds_places() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let formats = config.join("tv/formats");
    fs::create_dir_all(&formats).unwrap();
    fs::write(
        formats.join("pi.toml"),
        "extends = \"pi\"\nroots = [\"~/elsewhere/*.jsonl\"]\n",
    )
    .unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::copy(
        fixtures::root().join("pi/version-3.jsonl"),
        elsewhere.join("s.jsonl"),
    )
    .unwrap();
    let list = |config: &Path| {
        let mut command = Command::new(TV);
        command
            .args(["list", "--json"])
            .env("HOME", folder.path())
            .env("XDG_CONFIG_HOME", config);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(
        list(&config).contains("elsewhere/s.jsonl"),
        "{}",
        list(&config)
    );
    assert!(!list(&folder.path().join("none")).contains("elsewhere/s.jsonl"));
}
