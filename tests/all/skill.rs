//! Every command of the skill file runs, on a fixture, and does what the skill says.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn every_command_of_the_skill_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let skill = fs::read_to_string(root.join("assets/skill/SKILL.md")).unwrap();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let id = "0b7d4f52-1111-4222-8333-444455556666";
    let session = fs::read_to_string(root.join("tests/fixtures/claude-code/busy.jsonl")).unwrap();
    fs::write(folder.join(format!("{id}.jsonl")), &session).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_tv")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let mut commands = 0;
    let (mut is_code, mut names) = (false, Vec::new());
    for line in skill.lines() {
        if line.starts_with("```") {
            is_code = line == "```sh";
            continue;
        }
        let Some(command) = Some(line).filter(|line| is_code && line.starts_with("tv ")) else {
            continue;
        };
        commands += 1;
        let command = command.split("  #").next().unwrap();
        names.extend(command.split_whitespace().nth(1));
        let command = command
            .replace("WORD", "e")
            .replace("SESSION", id)
            .replace("--since 30d", "--since 2000-01-01");
        let output = Command::new("sh")
            .args(["-c", &command])
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", &path)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let is_check = command.starts_with("tv check");
        let code = output.status.code().unwrap();
        assert!(
            code == 0 || (is_check && code == 1),
            "{command}: {code} {error}"
        );
        assert!(
            !output.stdout.is_empty()
                || command.contains("tv status")
                || command.contains("tv top"),
            "{command} says nothing"
        );
    }
    assert!(commands >= 8, "{commands}");
    for name in ["grep", "brief", "show", "status", "list", "usage"] {
        assert!(names.contains(&name), "the skill lacks {name}");
    }
    assert!(skill.lines().count() < 80, "a skill is short");
}
