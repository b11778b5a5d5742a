//! Tests of child processes: their arguments and input, the state in which they leave the terminal,
//! and signals while they run.

use std::fs;
use std::path::Path;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use vt100::MouseProtocolMode;

use super::{Console, PATIENCE, session};

const TV: &str = env!("CARGO_BIN_EXE_tv");

/// Names of files that a shell, an editor or the reader of its options would carry out.
const HOSTILE: [&str; 7] = [
    "+!touch X;:.jsonl",
    "-c!touch X.jsonl",
    "--help",
    "$(touch X).jsonl",
    "a`touch X`;touch X\"'.jsonl",
    "line\n+!touch X\n-x.jsonl",
    "a|touch X &#1.jsonl",
];

/// The viewer on a file of its own folder, named as it stands there.
fn within(folder: &Path, name: &str, environment: &[(&str, &str)]) -> Console {
    fs::rename(session(folder), folder.join(name)).expect("any name");
    let script = "cd \"$1\" && exec \"$0\" -- \"$2\"";
    let folder = folder.to_str().expect("a plain path");
    let mut console = Console::run("sh", &["-c", script, TV, folder, name], environment);
    console.wait_for("FIRST ANSWER");
    console
}

/// What a program wrote, once it ends so.
fn written(path: &Path, end: &str) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.ends_with(end) && !text.is_empty() {
            return text;
        }
        assert!(begun.elapsed() < PATIENCE, "{text:?} in {}", path.display());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn no_name_of_a_session_is_an_order_to_an_editor_or_a_command() {
    for name in HOSTILE {
        let folder = tempfile::tempdir().expect("a folder");
        let told = folder.path().join("told");
        let editor = format!(
            "sh -c 'printf \"%s\\0\" \"$@\" > {0}; printf END >> {0}' editor",
            told.display()
        );
        let mut console = within(folder.path(), name, &[("VISUAL", &editor)]);
        console.send("v");
        let whole = folder
            .path()
            .canonicalize()
            .expect("it is there")
            .join(name);
        let text = written(&told, "END");
        let arguments: Vec<&str> = text.split('\0').collect();
        let path = Path::new(arguments[1]);
        assert!(
            arguments[0].starts_with('+') && arguments.len() == 3,
            "{arguments:?}"
        );
        assert!(
            path.is_absolute() && path.canonicalize().expect("the file") == whole,
            "{arguments:?}"
        );
        console.wait("the viewer is back", |console| {
            console.screen.screen().alternate_screen()
        });
        // A command of the reader's gets the record on its input, an alarm's the path in its environment.
        fs::remove_file(&told).expect("it was there");
        let command = format!(
            "|printf '%s.' \"$#\" \"$0\" > {0}; printf END >> {0}\r",
            told.display()
        );
        console.send(&command);
        console.wait_for("press a key");
        assert_eq!(written(&told, "END"), "0.sh.END");
        console.send(" ");
        console.wait("the viewer is back", |console| {
            console.screen.screen().alternate_screen()
        });
        fs::remove_file(&told).expect("it was there");
        console.send(&format!(
            ":watch \"WORD\" | printf '%s' \"$TV_SESSION\" > {0}; printf END >> {0}\r",
            told.display()
        ));
        console.wait_for("watching");
        super::append(
            &folder.path().join(name),
            &super::line("user", "$(touch X) WORD `touch X`", 3),
        );
        let text = written(&told, "END");
        let path = Path::new(text.strip_suffix("END").expect("its end"));
        assert!(
            path.is_absolute() && path.canonicalize().expect("the file") == whole,
            "{text:?}"
        );
        console.send("Q");
        assert_eq!(console.wait_for_exit(), 0, "{name:?}");
        console.assert_restored();
        assert!(!folder.path().join("X").exists(), "{name:?}");
    }
}

/// Leaves everything on that a program can.
const SLOVEN: &str = "stty raw -echo; printf '\\033[?1049h\\033[?1000h\\033[?1002h\\033[?1003h\\033[?1006h\\033[?2004h\
    \\033[?1h\\033=\\033[?25l\\033[2;5r\\033[7m'";

#[test]
fn whatever_a_program_leaves_the_terminal_is_as_it_was_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let modes = |name: &str| fs::read_to_string(folder.path().join(name)).expect("modes");
    // Not as terminals usually are, so that nothing but what was found is right.
    let script = "stty -ixon tostop erase ^H; stty -g > \"$2/before\"; \"$0\" \"$1\"; stty -g > \"$2/after\"; echo DONE";
    let arguments = [
        "-c",
        script,
        TV,
        path.to_str().expect("plain"),
        folder.path().to_str().expect("plain"),
    ];
    let editor = format!("sh -c '{}' x", SLOVEN.replace('\'', "'\\''"));
    for keys in ["v", "|cat >/dev/null; "] {
        let mut console = Console::run("sh", &arguments, &[("VISUAL", &editor)]);
        console.wait_for("FIRST ANSWER");
        let frames = console.written("\u{1b}[?1049h");
        if keys == "v" {
            console.send(keys);
        } else {
            console.send(&format!("{keys}{SLOVEN}\r"));
            console.wait_for("press a key");
            let screen = console.screen.screen();
            assert!(
                !screen.alternate_screen() && !screen.hide_cursor(),
                "the words are on the plain screen"
            );
            console.send(" ");
        }
        console.wait("the viewer is back", |console| {
            console.written("\u{1b}[?1049h") > frames + 1
        });
        console.wait_for("FIRST ANSWER");
        assert_eq!(
            console.screen.screen().mouse_protocol_mode(),
            MouseProtocolMode::None
        );
        console.send("Q");
        console.wait_for("DONE");
        console.wait_for_exit();
        console.assert_restored();
        let screen = console.screen.screen();
        assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
        assert!(!screen.application_cursor() && !screen.application_keypad() && !screen.inverse());
        assert_eq!(modes("after"), modes("before"), "{keys}");
    }
}

#[test]
fn signals_end_it_while_another_program_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let told = folder.path().join("told");
    let script = format!(
        "{SLOVEN}; printf \"%s \" $$ > {}; exec sleep 1000",
        told.display()
    );
    let editor = format!("sh -c '{}' x", script.replace('\'', "'\\''"));
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)] {
        for keys in ["v".to_owned(), format!("|{script}\r"), "|true\r".to_owned()] {
            let _ = fs::remove_file(&told);
            let mut console = Console::start(
                &[path.to_str().expect("a plain path")],
                &[("VISUAL", &editor)],
            );
            console.wait_for("FIRST ANSWER");
            console.send(&keys);
            let child = if keys == "|true\r" {
                console.wait_for("press a key");
                None
            } else {
                written(&told, " ")
                    .trim()
                    .parse()
                    .ok()
                    .and_then(Pid::from_raw)
            };
            let process = i32::try_from(console.process())
                .ok()
                .and_then(Pid::from_raw)
                .expect("it runs");
            kill_process(process, signal).expect("it is ours");
            assert_eq!(console.wait_for_exit(), code, "{keys:?}");
            console.assert_restored();
            assert_eq!(
                console.screen.screen().mouse_protocol_mode(),
                MouseProtocolMode::None
            );
            if let Some(child) = child {
                let begun = Instant::now();
                while rustix::process::test_kill_process(child).is_ok() {
                    assert!(
                        begun.elapsed() < PATIENCE,
                        "the other program was told, too"
                    );
                    console.drain(std::time::Duration::from_millis(20));
                }
            }
        }
    }
}

/// A program in a folder of its own that tells what it was given, and waits for a line.
fn agent(folder: &Path, name: &str, code: u8) -> String {
    use std::os::unix::fs::PermissionsExt;
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let told = folder.join("told");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\0' \"$PWD\" \"$@\" > {0}; printf END >> {0}\necho AGENT HERE; read line; exit {code}\n",
        told.display()
    );
    fs::write(bin.join(name), script).expect("a script");
    fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("it can be run");
    bin.to_str().expect("a plain path").to_owned()
}

fn viewer_with(bin: &str, path: &Path) -> Console {
    let script = "PATH=\"$1:$PATH\" exec \"$0\" \"$2\"";
    let mut console = Console::run(
        "sh",
        &["-c", script, TV, bin, path.to_str().expect("a plain path")],
        &[],
    );
    console.wait_for("FIRST ANSWER");
    console
}

#[test]
fn the_sessions_own_agent_has_the_terminal_until_it_ends() {
    for (code, after) in [(0, "back from pi"), (3, "press a key")] {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = agent(folder.path(), "pi", code);
        let mut console = viewer_with(&bin, &session(folder.path()));
        console.send("\u{12}");
        console.wait_for("continue  pi --session s1");
        assert!(console.text().contains("in /tmp"), "{}", console.text());
        console.send("j\r");
        console.wait_for("AGENT HERE");
        assert!(
            !console.screen.screen().alternate_screen(),
            "the screen is left to it"
        );
        let told = written(&folder.path().join("told"), "END");
        assert_eq!(
            told.split('\0').collect::<Vec<_>>(),
            ["/tmp", "--fork", "s1", "END"]
        );
        console.send("\r");
        console.wait_for(after);
        if code != 0 {
            console.send("x");
        }
        console.wait_for("FIRST ANSWER");
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
        console.assert_restored();
    }
}

#[test]
fn no_id_and_no_folder_of_a_session_is_an_order_to_an_agent_or_a_shell() {
    for (id, cwd, words) in [
        ("--dangerously", "/tmp", "none that a command may be given"),
        ("$(touch X)", "/tmp", "none that a command may be given"),
        ("s1; touch X", "/tmp", "none that a command may be given"),
        ("s1", "/tmp/$(touch X)'; touch X #", "pi --session s1"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = agent(folder.path(), "pi", 0);
        let path = session(folder.path());
        let text = fs::read_to_string(&path).expect("it is there");
        let text = text.replacen("\"id\":\"s1\"", &format!("\"id\":\"{id}\""), 1);
        fs::write(&path, text.replacen("\"/tmp\"", &format!("\"{cwd}\""), 1)).expect("a file");
        let mut console = viewer_with(&bin, &path);
        console.send("\u{12}");
        console.wait_for(words);
        if id == "s1" {
            console.send("\r");
            console.wait_for("the folder of the session is not here");
        }
        console.send("q");
        assert_eq!(console.wait_for_exit(), 0);
        assert!(!folder.path().join("told").exists(), "nothing was run");
        assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("X").exists());
    }
}
