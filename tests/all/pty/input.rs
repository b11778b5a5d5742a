//! Tests of terminal input besides single keys: long pastes, many events at once, late replies, and
//! end of input.

use std::fs;
use std::time::{Duration, Instant};

use super::{Console, PATIENCE, append, line, session, start};

/// By then all that was asked at the beginning is long past.
const LATE: Duration = Duration::from_secs(1);

impl Console {
    /// How many frames were written.
    fn frames(&self) -> usize {
        self.written("\u{1b}[?2026h")
    }
}

#[test]
fn a_paste_of_a_megabyte_is_cut_reported_and_left_by_escape() {
    let (mut console, _path, _folder) = start();
    for opens in ["/", "&", ":", "|"] {
        console.send(opens);
        let is_open =
            |console: &Console| console.text().lines().any(|line| line.starts_with(opens));
        console.wait("the line is open", is_open);
        let before = console.frames();
        console.send(&format!(
            "\u{1b}[200~{}\u{1b}[201~",
            "FIRST \u{1b}[31mé\n".repeat(80_000)
        ));
        console.wait_for("cut after 1000 characters");
        assert!(
            console.frames() - before < 200,
            "{} frames",
            console.frames() - before
        );
        console.send("\u{1b}");
        console.wait("the line is left", |console| !is_open(console));
    }
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn a_paste_where_nothing_is_typed_does_nothing() {
    let (mut console, _path, _folder) = start();
    console.send(&format!("\u{1b}[200~{}\u{1b}[201~?", "q".repeat(100_000)));
    console.wait_for("Keys and signs");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn a_flood_of_the_mouse_hides_no_key_and_costs_few_frames() {
    let (mut console, path, _folder) = start();
    let many: String = (200..400)
        .map(|number| line("assistant", "one of many", number))
        .collect();
    append(&path, &(many + &line("assistant", "THE LAST", 400)));
    console.wait_for("THE LAST");
    console.send("\u{1b}[24~");
    console.wait_for("mouse on");
    let before = console.frames();
    let flood: String = (0..20_000)
        .map(|n| match n % 4 {
            0 => format!("\u{1b}[<35;{};{}M", 1 + n % 80, 1 + n % 24),
            1 => format!("\u{1b}[<32;{};{}M", 1 + n % 80, 1 + n % 20),
            2 => "\u{1b}[<65;20;10M".to_owned(),
            _ => "\u{1b}[<64;20;10M".to_owned(),
        })
        .collect();
    console.send(&flood);
    console.send("?");
    console.wait_for("Keys and signs");
    assert!(
        console.frames() - before < 4_000,
        "{} frames",
        console.frames() - before
    );
    console.send("\u{1b}");
    console.wait("the help closes", |console| {
        !console.text().contains("Keys and signs")
    });
    // In one direction, and never more than what is there.
    console.send(&"\u{1b}[<64;20;10M".repeat(5_000));
    console.wait_for("FIRST PROMPT");
    console.send(&("\u{1b}[<65;20;10M".repeat(5_000) + "Q"));
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn keys_that_repeat_faster_than_frames_are_all_heard() {
    let (mut console, path, _folder) = start();
    let many: String = (200..800)
        .map(|number| line("assistant", &format!("message {number}"), number))
        .collect();
    append(&path, &many);
    console.wait_for("message 799");
    let before = console.frames();
    console.send(
        &("g".to_owned() + &"j".repeat(500) + &"k".repeat(500) + "/m\u{1b}\u{1b}[A\u{1b}[B?"),
    );
    console.wait_for("Keys and signs");
    assert!(
        console.frames() - before < 500,
        "{} frames",
        console.frames() - before
    );
    console.send("q");
    console.wait("the help closes", |console| {
        !console.text().contains("Keys and signs")
    });
    console.wait_for("FIRST PROMPT");
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}

/// All that a terminal may say when it is asked.
const ANSWERS: [&str; 8] = [
    "\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\",
    "\u{1b}]11;rgb:1e1e/1e1e/2e2e\u{7}",
    "\u{1b}]10;rgb:ffff/ffff/ffff\u{1b}\\",
    "\u{1b}P>|someterm(1.2.3 g/q?)\u{1b}\\",
    "\u{1b}_Gi=31;OK\u{1b}\\",
    "\u{1b}_Gi=31;ENOENT:g?/q\u{1b}\\",
    "\u{1b}[6;20;9t",
    "\u{1b}[?62;4;22c",
];

#[test]
fn late_answers_are_no_keys_and_hide_none() {
    let (mut console, _path, _folder) = start();
    std::thread::sleep(LATE);
    for answer in ANSWERS {
        // A key right before it, and one right behind it.
        console.send(&format!("/{answer}boats"));
        console.wait_for("/boats");
        console.send(&format!("{answer}\u{1b}"));
        console.wait("the search is left", |console| {
            !console.text().contains("/boats")
        });
        console.send(&format!("{answer}?"));
        console.wait_for("Keys and signs");
        console.send("q");
        console.wait("the help closes", |console| {
            !console.text().contains("Keys and signs")
        });
    }
    // In pieces, with time between them.
    console.send("/");
    for answer in ANSWERS {
        for piece in [&answer[..4], &answer[4..]] {
            console.send(piece);
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    console.send("boats");
    console.wait_for("/boats");
    console.send(&(ANSWERS.concat() + "\u{3}"));
    console.wait("the search is left", |console| {
        !console.text().contains("/boats")
    });
    console.send(&(ANSWERS.concat() + "q"));
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn a_late_answer_still_sets_the_background() {
    let (mut console, _path, _folder) = start();
    std::thread::sleep(LATE);
    let before = console.frames();
    console.send("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\");
    console.wait("the frame is painted anew", |console| {
        console.frames() > before
    });
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

/// Whether a process has ended; its parent may not have asked for it.
fn has_ended(process: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else {
        return true;
    };
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('Z'))
}

#[cfg(target_os = "linux")]
#[test]
fn without_its_terminal_the_program_ends_though_no_signal_says_so() {
    let program = env!("CARGO_BIN_EXE_tv");
    // Another session than that of the terminal gets no signal; in the second case it is to be ignored.
    for wrapper in ["setsid sh -c", "trap '' HUP; sh -c"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = session(folder.path());
        let script = format!(
            "{wrapper} 'echo PID $$ END; exec \"$0\" \"$1\"' '{program}' '{}'",
            path.display()
        );
        let mut console = Console::run("sh", &["-c", &script], &[]);
        console.wait_for("FIRST ANSWER");
        let raw = console.raw_text();
        let process = raw
            .split("PID ")
            .nth(1)
            .and_then(|rest| rest.split(" END").next())
            .expect("its number is written");
        assert!(!has_ended(process));
        drop(console);
        // What still reads from the terminal ends with the next output.
        append(&path, &line("assistant", "NOBODY SEES IT", 3));
        let begun = Instant::now();
        while !has_ended(process) {
            assert!(
                begun.elapsed() < PATIENCE,
                "{wrapper}: it goes on without a terminal"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
