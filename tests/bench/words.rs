//! Content of generated sessions: texts of all kinds and sizes, the same for the same seed. They
//! are prepared as contents of JSON strings, so that a gigabyte is written in seconds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const WORDS: [&str; 72] = [
    "tide", "harbour", "pier", "gauge", "table", "clock", "moon", "boat", "keel", "anchor", "rope",
    "chart", "depth", "sound", "buoy", "light", "watch", "storm", "calm", "drift", "error", "test",
    "build", "parse", "the", "a", "of", "and", "is", "was", "which", "must", "never", "before",
    "after", "because", "reads", "writes", "fails", "returns", "moves", "counts", "waits", "opens",
    "closed", "late", "early", "twice", "once", "value", "index", "offset", "buffer", "queue",
    "thread", "frame", "token", "cache", "window", "result", "option", "string", "number", "unit",
    "metre", "second", "hour", "north", "south", "range", "limit", "order",
];

const STRANGE: [&str; 8] = [
    "Ebbe und Flut",
    "日本語の潮汐",
    "прилив",
    "🌊🚢",
    "é̀",
    "→ ✓ ✗",
    "👩‍👩‍👧‍👦",
    "שלום",
];

/// Xorshift: the same numbers on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % (end.max(1) as u64)).unwrap()
    }

    pub(crate) fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from)
    }

    /// Whether a thing happens that happens so many times in a thousand.
    pub(crate) fn permille(&mut self, share: usize) -> bool {
        self.below(1000) < share
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &'a [Box<T>]) -> &'a T {
        let place = self.below(from.len());
        &from[place]
    }
}

/// Texts to choose from.
pub(crate) struct Words {
    /// A sentence or a few.
    pub(crate) prose: Vec<Box<str>>,
    /// What a model thinks.
    pub(crate) thoughts: Vec<Box<str>>,
    /// Markdown with lists, tables and code.
    pub(crate) answers: Vec<Box<str>>,
    /// A few lines of code.
    pub(crate) code: Vec<Box<str>>,
    /// What tools print: mostly little, sometimes 30 KB; with colours.
    pub(crate) outputs: Vec<Box<str>>,
    /// Images in base64, 30 KB to 400 KB.
    pub(crate) images: Vec<Box<str>>,
}

impl Words {
    pub(crate) fn new(seed: u64) -> Self {
        let dice = &mut Dice::new(seed);
        let many = |count: usize,
                    dice: &mut Dice,
                    make: fn(&mut Dice) -> String|
         -> Vec<Box<str>> { (0..count).map(|_| escaped(&make(dice))).collect() };
        Self {
            prose: many(300, dice, |dice| {
                let words = dice.between(5, 60);
                sentence(dice, words)
            }),
            thoughts: many(150, dice, |dice| {
                let words = dice.between(30, 250);
                sentence(dice, words)
            }),
            answers: many(120, dice, answer),
            code: many(200, dice, |dice| {
                let lines = dice.between(2, 25);
                code(dice, lines)
            }),
            outputs: many(400, dice, output),
            images: [30_000, 120_000, 400_000]
                .iter()
                .map(|size| image(dice, *size))
                .collect(),
        }
    }
}

/// A text as the inside of a JSON string.
pub(crate) fn escaped(text: &str) -> Box<str> {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].into()
}

fn sentence(dice: &mut Dice, words: usize) -> String {
    let mut out: Vec<&str> = (0..words).map(|_| WORDS[dice.below(WORDS.len())]).collect();
    if dice.permille(200) {
        let place = dice.below(out.len());
        out.insert(place, STRANGE[dice.below(STRANGE.len())]);
    }
    out.join(" ") + "."
}

fn code(dice: &mut Dice, lines: usize) -> String {
    let line = |dice: &mut Dice| {
        let mut word = || WORDS[dice.below(24)];
        let (a, b) = (word(), word());
        let n = dice.below(9999);
        let text = match dice.below(5) {
            0 => format!("let {a} = {b}({n})?;"),
            1 => format!("fn {a}({b}: usize) -> Result<u32> {{ // {n}"),
            2 => format!("if {a}.{b}() > {n} {{"),
            3 => format!("    return Err(anyhow!(\"{a} {b} {n}\"));"),
            _ => format!("println!(\"{{{a}}} \\t {{{b}}} {n}\");"),
        };
        "    ".repeat(dice.below(4)) + &text
    };
    (0..lines)
        .map(|_| line(dice))
        .collect::<Vec<_>>()
        .join("\n")
}

fn answer(dice: &mut Dice) -> String {
    let mut parts = vec![sentence(dice, 30)];
    for _ in 0..dice.between(1, 8) {
        let part = match dice.below(10) {
            0..=3 => {
                let words = dice.between(20, 80);
                sentence(dice, words)
            }
            4 => format!("## {}", sentence(dice, 5)),
            5 | 6 => {
                let item = |_| format!("- **{}** `{}`", sentence(dice, 6), sentence(dice, 1));
                (0..4).map(item).collect::<Vec<_>>().join("\n")
            }
            7 | 8 => {
                let lines = dice.between(4, 30);
                let language = ["rust", "python", "bash", "json", "diff"][dice.below(5)];
                format!("```{language}\n{}\n```", code(dice, lines))
            }
            _ => {
                let row = |_| format!("| {} | {} |", sentence(dice, 2), dice.below(9999));
                let rows: Vec<String> = (0..5).map(row).collect();
                format!("| what | how much |\n|---|---|\n{}", rows.join("\n"))
            }
        };
        parts.push(part);
    }
    parts.join("\n\n")
}

/// Three of five outputs have a tail: twice as long is about half as frequent.
fn output(dice: &mut Dice) -> String {
    let size = if dice.permille(600) {
        let share = (dice.below(999) + 1) as f64 / 1000.0;
        let long = 2_000.0 / share.powf(1.0 / 1.1);
        (1..=30_000)
            .rev()
            .step_by(100)
            .find(|size| f64::from(*size) <= long)
            .unwrap_or(2_000)
    } else {
        i32::try_from(dice.between(20, 1_500)).unwrap()
    };
    let kind = dice.below(4);
    let mut out = String::new();
    let mut number = 0;
    while out.len() < usize::try_from(size).unwrap() {
        number += 1;
        let line = match kind {
            0 => format!("{number:6}\t{}", code(dice, 1)),
            1 => {
                let verdict = ["32mok", "31mFAILED", "33mwarning"][dice.below(3)];
                format!("test {} ... \u{1b}[{verdict}\u{1b}[0m", sentence(dice, 4))
            }
            2 => format!(
                "src/{}.rs:{}:{}",
                WORDS[dice.below(24)],
                dice.below(2000),
                code(dice, 1)
            ),
            _ => {
                let words = dice.between(5, 40);
                sentence(dice, words)
            }
        };
        out += &line;
        out.push('\n');
    }
    out
}

/// Noise behind the beginning of a PNG file: large, and nothing that can be shown.
fn image(dice: &mut Dice, size: usize) -> Box<str> {
    let noise = (0..size / 4 * 3 / 8).flat_map(|_| dice.roll().to_le_bytes());
    let bytes: Vec<u8> = b"\x89PNG\r\n\x1a\n".iter().copied().chain(noise).collect();
    STANDARD.encode(bytes).into()
}
