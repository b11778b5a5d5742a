//! Recognizes keys, tokens and passwords by their shapes, and masks them where a transcript leaves
//! the machine.
//!
//! Invariant: of a masked secret only the prefix remains that all secrets of its kind share.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex};
use regex_syntax::hir::{Class, Hir, HirKind};

use super::{Text, without_sgr};
use crate::model::record::Origin;

/// Replacement of a secret.
const MASK: &str = "[masked]";

/// A kind of secret: a line of `assets/secrets.txt`.
struct SecretShape {
    sure: Sure,
    pattern: String,
    regex: OnceLock<Option<Regex>>,
}

/// Condition for a match to be a secret, besides its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sure {
    Always,
    WithDigit,
    AsValue,
}

static SHAPES: LazyLock<Vec<SecretShape>> = LazyLock::new(|| {
    let lines = include_str!("../../../assets/secrets.txt").lines();
    lines.filter_map(shape).collect()
});

/// Finds the shapes that a text may have by the literals that they need. One pass for all shapes takes
/// a tenth of the time of one for each.
struct Prefilter {
    literals: Option<AhoCorasick>,
    /// The shape of each literal.
    shapes: Vec<usize>,
    /// Shapes that need no literal.
    always: Vec<usize>,
}

static PREFILTER: LazyLock<Prefilter> = LazyLock::new(|| {
    let (mut literals, mut shapes, mut always) = (Vec::new(), Vec::new(), Vec::new());
    for (number, shape) in SHAPES.iter().enumerate() {
        let parsed = regex_syntax::parse(&shape.pattern).ok();
        match parsed.and_then(|hir| needed(&hir)) {
            Some(forms) => {
                shapes.extend(forms.iter().map(|_| number));
                literals.extend(forms);
            }
            None => always.push(number),
        }
    }
    let built = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(literals);
    Prefilter {
        literals: built.ok(),
        shapes,
        always,
    }
});

impl Prefilter {
    /// The numbers of the shapes that a text may have, in order.
    fn shapes_in(&self, text: &str) -> Vec<usize> {
        let Some(literals) = &self.literals else {
            return (0..SHAPES.len()).collect();
        };
        let found = literals.find_overlapping_iter(text);
        let found = found.filter_map(|found| self.shapes.get(found.pattern().as_usize()));
        let all: BTreeSet<usize> = found.chain(&self.always).copied().collect();
        all.into_iter().collect()
    }
}

/// Literals, in any case, one of which is in every match; `None` if there are none.
fn needed(hir: &Hir) -> Option<Vec<String>> {
    /// Shorter ones are in every text.
    const SHORTEST: usize = 2;
    let best = match hir.kind() {
        HirKind::Alternation(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(needed).collect();
            parts?.concat()
        }
        HirKind::Capture(capture) => needed(&capture.sub)?,
        HirKind::Repetition(repetition) if repetition.min > 0 => needed(&repetition.sub)?,
        HirKind::Concat(parts) => {
            let (mut all, mut literal) = (Vec::new(), String::new());
            for part in parts {
                if let Some(text) = exact(part) {
                    literal += &text;
                } else {
                    all.push(vec![std::mem::take(&mut literal)]);
                    all.extend(needed(part));
                }
            }
            all.push(vec![literal]);
            let shortest = |forms: &Vec<String>| forms.iter().map(String::len).min();
            all.into_iter().max_by_key(shortest)?
        }
        _ => vec![exact(hir)?],
    };
    let is_long = best.iter().all(|literal| literal.len() >= SHORTEST);
    is_long.then_some(best)
}

/// The only text that an expression matches, in lower case.
fn exact(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_ascii_lowercase()).ok(),
        // A letter in either case.
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.iter().map(|range| {
                (range.start() == range.end()).then(|| range.start().to_ascii_lowercase())
            });
            // Two letters of other scripts are `k` and `s`, too, for who ignores case.
            let mut letters = ranges.collect::<Option<Vec<char>>>()?;
            letters.retain(char::is_ascii);
            let first = *letters.first()?;
            let is_one = letters.iter().all(|letter| *letter == first);
            (is_one && first.is_ascii_alphabetic()).then(|| first.to_string())
        }
        HirKind::Capture(capture) => exact(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(exact).collect(),
        _ => None,
    }
}

/// The mask of `--redact`, if the option was given.
static REDACTED: OnceLock<Mutex<Mask>> = OnceLock::new();

/// Enables masking for everything that is read of sessions from now on.
pub fn redact() {
    REDACTED.get_or_init(Mutex::default);
}

/// Enables masking, and the list of where secrets are.
pub fn list() {
    redact();
    with_mask(|mask| mask.sites = Some(Vec::new()));
}

/// The secrets that were found since the last call, if they are listed.
pub(crate) fn take_sites() -> Vec<SecretPlace> {
    let sites = with_mask(|mask| mask.sites.as_mut().map(std::mem::take));
    sites.flatten().unwrap_or_default()
}

/// Summary of what was masked; `None` if masking is off, or if the secrets are listed instead.
pub fn redacted() -> Option<String> {
    with_mask(|mask| mask.sites.is_none().then(|| mask.words())).flatten()
}

/// Calls `act` with the mask; `None` if masking is off.
pub(crate) fn with_mask<T>(act: impl FnOnce(&mut Mask) -> T) -> Option<T> {
    let mask = REDACTED.get()?;
    Some(act(&mut mask
        .lock()
        .unwrap_or_else(PoisonError::into_inner)))
}

/// A text of a session, masked if masking is on.
pub(crate) fn shown(text: Text) -> Text {
    with_mask(|mask| mask.text(&text)).flatten().unwrap_or(text)
}

/// Parses a line; `None` if it is a comment. Word classes are ASCII, because Unicode classes make
/// the regex library much slower.
fn shape(line: &str) -> Option<SecretShape> {
    let (sure, short) = line.split_once(' ')?;
    let sure = match sure {
        "always" => Sure::Always,
        "digit" => Sure::WithDigit,
        "value" => Sure::AsValue,
        _ => return None,
    };
    let (begin, rest) = match short.strip_prefix('<') {
        Some(rest) => (r"(?:(?:^|[^A-Za-z0-9_-])-?|\\[nrt])", rest),
        None => ("", short),
    };
    Some(SecretShape {
        sure,
        pattern: begin.to_owned() + &rest.replace(r"\b", r"(?-u:\b)"),
        regex: OnceLock::new(),
    })
}

/// Masks secrets and counts them.
#[derive(Debug, Default)]
pub(crate) struct Mask {
    /// Secrets masked so far. One secret occurs in several texts, for example in a stub, where it
    /// may be cut off.
    found: BTreeSet<String>,
    /// The record that is being masked.
    record: Option<Origin>,
    /// Where secrets are; `None` if they are only masked.
    sites: Option<Vec<SecretPlace>>,
}

/// A secret in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretPlace {
    /// The record; `None` if the secret is spread over several.
    pub(crate) record: Option<Origin>,
    /// What all secrets of its kind begin with: `ghp_`, `password=`.
    pub(crate) kind: String,
    /// The secret, to recognize it in other records. Never shown.
    pub(crate) secret: String,
}

impl Mask {
    /// Sets the record of what is masked from now on.
    pub(crate) fn begin_record(&mut self, record: Option<Origin>) {
        self.record = record;
    }

    /// Number of distinct secrets masked so far.
    pub(crate) fn count(&self) -> usize {
        let next = self.found.iter().skip(1).map(Some).chain([None]);
        let is_begin = |(secret, next): &(&String, Option<&String>)| {
            next.is_some_and(|next| next.starts_with(secret.as_str()))
        };
        self.found
            .iter()
            .zip(next)
            .filter(|pair| !is_begin(pair))
            .count()
    }

    /// The text without its secrets; `None` if it has none.
    pub(crate) fn apply(&mut self, text: &str) -> Option<String> {
        let mut masked = Cow::Borrowed(text);
        let shapes = PREFILTER.shapes_in(text);
        for shape in shapes.into_iter().filter_map(|number| SHAPES.get(number)) {
            let compiled = shape.regex.get_or_init(|| Regex::new(&shape.pattern).ok());
            let Some(one) = compiled.as_ref().filter(|one| one.is_match(text)) else {
                continue;
            };
            let mut has_found = false;
            let replaced = one.replace_all(&masked, |found: &Captures<'_>| {
                let hidden = hidden(&masked, found, shape.sure);
                let whole = found.get_match().as_str();
                let Some(hidden) = hidden else {
                    return whole.to_owned();
                };
                has_found = true;
                // A value is the same secret under any name; a token is identified by its whole
                // text.
                let before = whole.strip_suffix(hidden).unwrap_or_default();
                let own = if shape.sure == Sure::AsValue {
                    hidden
                } else {
                    whole
                };
                let stays = found.get(1).map(|stays| stays.as_str());
                self.record(own, stays.unwrap_or_default());
                let end = if hidden.ends_with('@') && before.contains("://") {
                    "@"
                } else {
                    ""
                };
                format!("{before}{MASK}{end}")
            });
            if has_found {
                masked = Cow::Owned(replaced.into_owned());
            }
        }
        match masked {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => None,
        }
    }

    /// Like [`Mask::apply`], for the value of a named field of a record.
    pub(crate) fn apply_named(&mut self, name: &str, value: &str) -> Option<String> {
        /// Suffixes of names whose values are secrets.
        const NAMES: [&str; 8] = [
            "word",
            "wd",
            "ssphrase",
            "_pass",
            "secret",
            "token",
            "key",
            "credentials",
        ];
        let end = name
            .get(name.len().saturating_sub(12)..)
            .unwrap_or(name)
            .to_ascii_lowercase();
        if !NAMES.iter().any(|name| end.ends_with(name)) || value.contains(char::is_whitespace) {
            return self.apply(value);
        }
        let joined = format!("{name}\": \"{value}");
        let masked = self.apply(&joined)?;
        masked
            .strip_prefix(name)?
            .strip_prefix("\": \"")
            .map(str::to_owned)
    }

    /// Like [`Mask::apply`] for a [`Text`]. A secret may contain colours, so a text with a secret
    /// loses its colours.
    pub(crate) fn text(&mut self, text: &Text) -> Option<Text> {
        self.apply(&without_sgr(text))
            .map(|masked| Text::clean(&masked))
    }

    /// Summary for the end of the output.
    pub(crate) fn words(&self) -> String {
        match self.count() {
            0 => "nothing masked: no known shape of a key or token was found".to_owned(),
            1 => "1 key or token masked; only known shapes are found".to_owned(),
            count => format!("{count} keys or tokens masked; only known shapes are found"),
        }
    }

    /// Records a secret. Copies may have other line ends, or be cut off.
    fn record(&mut self, secret: &str, stays: &str) {
        let plain = secret.replace("\\n", "").replace("\\r", "");
        let plain: String = plain.chars().filter(char::is_ascii_alphanumeric).collect();
        if let Some(sites) = &mut self.sites {
            sites.push(SecretPlace {
                record: self.record,
                kind: kind(stays),
                secret: plain.clone(),
            });
        }
        self.found.insert(plain);
    }
}

/// The kind of a secret, from the prefix that stays: of an address only the protocol, because a user
/// follows it.
fn kind(stays: &str) -> String {
    let kind = match stays.split_once("://") {
        Some((protocol, _)) => format!("{protocol}://"),
        None => stays.to_owned(),
    };
    let kind = kind.trim_matches([' ', '\t', '\n', '"', '\'', '\\', '-']);
    if kind.is_empty() {
        "key".to_owned()
    } else {
        kind.to_owned()
    }
}

/// The secret part of a match; `None` if it is no secret.
fn hidden<'t>(text: &'t str, found: &Captures<'t>, sure: Sure) -> Option<&'t str> {
    let whole = found.get_match();
    let stays = found.get(1)?;
    let hidden = text.get(stays.end()..whole.end())?;
    let is_secret = match sure {
        Sure::Always => true,
        Sure::WithDigit => hidden.bytes().any(|byte| byte.is_ascii_digit()),
        Sure::AsValue => {
            let before = text.get(..stays.start()).unwrap_or_default();
            is_value(before, stays.as_str(), hidden)
        }
    };
    (is_secret && !hidden.contains(MASK)).then_some(hidden)
}

/// Whether the text after a name like `token` is a secret, rather than code, a type or a
/// placeholder.
fn is_value(before: &str, stays: &str, value: &str) -> bool {
    /// Minimum length of a value whose name only ends in `_KEY`, because such names have many
    /// meanings.
    const LONG: usize = 16;
    let (name, sign) = stays.split_at(
        stays
            .find(['=', ':', '"', '\'', '\\', ' ', '\t', '\n'])
            .unwrap_or(0),
    );
    let is_quoted = stays.ends_with(['"', '\'']);
    let is_joined = sign == "=" || sign.starts_with('=') && is_quoted;
    let is_environment = !name.contains(|c: char| c.is_ascii_lowercase())
        && !before.ends_with(|c: char| c.is_ascii_lowercase());
    let lower = name.to_ascii_lowercase();
    let is_password = lower.contains("pass") || lower == "_pwd";
    let has = |of: fn(&u8) -> bool| value.as_bytes().iter().any(of);
    let has_digit = has(u8::is_ascii_digit);
    let has_letter = has(u8::is_ascii_alphabetic);
    let has_sign = value.contains(['!', '@', '#', '%', '^', '*', '+', '=', '~', '?', '$']);
    let is_code = value.starts_with(['$', '{', '[', '(', '<', '%', '/', '.', '*'])
        || value.contains(['(', '[', '{'])
        || value.contains("::")
        || [
            "process.", "os.", "env.", "secrets.", "vars.", "config.", "self.", "this.",
        ]
        .iter()
        .any(|code| value.starts_with(code));
    let plain = value
        .trim_end_matches([')', ']', '}', '.', ':'])
        .to_ascii_lowercase();
    let is_filler = plain.len() < 4
        || plain
            .bytes()
            .all(|byte| Some(&byte) == plain.as_bytes().first())
        || [
            "your",
            "example",
            "placeholder",
            "xxxx",
            "****",
            "redacted",
            "changeme",
            "dummy",
        ]
        .iter()
        .any(|filler| plain.contains(filler))
        || [
            "none",
            "null",
            "true",
            "false",
            "undefined",
            "string",
            "password",
            "secret",
            "token",
            "number",
        ]
        .contains(&plain.as_str());
    if is_code || is_filler {
        return false;
    }
    if lower == "_key" || lower == "key" {
        return is_environment && is_joined && value.len() >= LONG && has_digit && has_letter;
    }
    let is_long_and_odd =
        value.len() >= 8 && value.bytes().filter(u8::is_ascii_uppercase).count() > 2;
    match (is_joined, is_quoted) {
        (true, _) if is_environment => !value.contains('.') || has_digit,
        (true, _) if is_password => {
            (has_digit && (has_letter || lower != "_pass"))
                || has_sign
                || !value.contains([')', '.', '_', ']']) && value.len() == plain.len()
        }
        (true, _) => has_digit && has_letter,
        (false, true) => (has_digit || is_password && (has_sign || is_long_and_odd)) && has_letter,
        (false, false) => has_digit && has_letter && value.len() >= 8,
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::{Mask, PREFILTER, SHAPES};
    use crate::model::text::Text;

    /// A text with a secret has the literals that its shape needs.
    #[test]
    fn nearly_every_shape_needs_a_literal() {
        assert!(PREFILTER.literals.is_some());
        assert!(PREFILTER.always.len() < 12, "{:?}", PREFILTER.always.len());
        let fixture = include_str!("../../../tests/fixtures/claude-code/busy.jsonl");
        let may = PREFILTER.shapes_in(fixture);
        for (number, shape) in SHAPES.iter().enumerate() {
            let is_in = Regex::new(&shape.pattern).unwrap().is_match(fixture);
            assert!(!is_in || may.contains(&number), "{}", shape.pattern);
        }
    }

    fn masked(text: &str) -> (Option<String>, usize) {
        let mut mask = Mask::default();
        (mask.apply(text), mask.count())
    }

    #[test]
    fn every_shape_is_found_and_only_its_beginning_stays() {
        assert_eq!(
            SHAPES.len(),
            145,
            "each line but those about others is a shape"
        );
        for shape in &*SHAPES {
            Regex::new(&shape.pattern).unwrap();
        }
        let secret = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j";
        let upper = "ABCDEFGHIJKLMNO9";
        for (before, secret) in [
            ("sk-ant-", format!("api03-{secret}")),
            ("sk-proj-", secret.to_owned()),
            ("sk-", secret.to_owned()),
            ("ghp_", secret.to_owned()),
            ("gho_", secret.to_owned()),
            ("github_pat_", format!("11AAAA_{secret}")),
            ("glpat-", secret.to_owned()),
            ("AKIA", upper.to_owned()),
            ("xoxb-", "123456789012-abcdefghijkl".to_owned()),
            ("AIza", secret.to_owned()),
            ("hf_", secret.to_owned()),
            ("sk_live_", secret.to_owned()),
            ("npm_", secret.to_owned()),
            (
                "eyJ",
                "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl".to_owned(),
            ),
            ("Authorization: Bearer ", secret.to_owned()),
            ("12345678:", format!("AA{secret}")),
            ("AWS_SECRET_ACCESS_KEY=", format!("{secret}AAAA")),
            ("dop_v1_", "0123456789abcdef".repeat(4)),
            ("dapi", "0123456789abcdef".repeat(2)),
            ("hvs.", secret.repeat(3)),
            ("lin_api_", format!("{secret}abcd")),
            ("ntn_", format!("12345678901{secret}")),
            ("SK", "0123456789abcdef".repeat(2)),
            ("shpat_", "0123456789abcdef".repeat(2)),
            ("figd_", format!("{secret}abcd")),
            ("sbp_", "01234567".repeat(5)),
            ("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0".repeat(3)),
            (
                "https://hooks.slack.com/services/",
                format!("T0AB12CD3/B0AB12CD3/{secret}"),
            ),
            (
                "https://discord.com/api/webhooks/123456789012345678/",
                secret.repeat(2),
            ),
            (
                "M",
                format!("{}.Gabcde.{secret}", secret.get(..24).unwrap()),
            ),
            ("crsr_", "0123456789abcdef".repeat(4)),
            ("dckr_pat_", secret.to_owned()),
            ("glc_", secret.to_owned()),
            ("NRAK-", secret.to_owned()),
            ("tskey-auth-", secret.to_owned()),
            ("sk_", "0123456789abcdef".repeat(3)),
            ("NAME_TOKEN=", "abcdwxyz".to_owned()),
            ("password=", "hunter2".to_owned()),
            ("password=", "hunter".to_owned()),
            ("DATABASE_PASSWORD=", "hunter".to_owned()),
            ("MYSQL_PWD=", "hunter2".to_owned()),
            ("PGPASSWORD=", "hunter2".to_owned()),
            ("https://x/y?access_token=", secret.to_owned()),
            ("client_secret: ", secret.to_owned()),
            ("X-Api-Key: ", secret.to_owned()),
            ("curl -u me:", "hunter2".to_owned()),
            ("login --token ", secret.to_owned()),
            ("sgp_0123456789abcDEF_", "0123456789abcdefABCD".repeat(2)),
            ("sess-", secret.to_owned()),
            ("BBDC-", format!("{secret}a+b/")),
            ("_gitlab_session=", "0123456789abcdef".repeat(2)),
            ("AccountKey: ", format!("{}Ab==", "0123456789Ab".repeat(7))),
            (
                "pat.ABCDEFGHIJKLMNOPQRSTU0.",
                "0123456789abcdefABCDEF01.0123456789abcdefABCD".to_owned(),
            ),
            ("sk_live_", "0123456789abcdefABCD".repeat(2)),
            ("sk_5x3_", "0123456789abcdef".repeat(4)),
            ("pi_0123456789abcdefABCDEF01_secret_", secret.to_owned()),
            ("ramp_sec_", secret.to_owned()),
            ("live_", "0123456789abcdefABCD".repeat(2)),
            (
                "pat-na1-",
                "01234567-89ab-cdef-0123-456789abcdef".to_owned(),
            ),
            ("3MVG9", secret.repeat(3)),
            ("1000.", format!("{0}.{0}", "0123456789abcdef".repeat(2))),
            ("", format!("{}-us12", "0123456789abcdef".repeat(2))),
            ("pk_", format!("{}ab", "0123456789abcdef".repeat(2))),
            ("VF.DM.0123456789abcdef01234567.", "ABCDefgh".repeat(2)),
            ("pubkey-", "0123456789abcdef".repeat(2)),
            ("rootly_", "0123456789abcdef".repeat(4)),
            ("NRIQ-", secret.to_owned()),
            ("ZXlK", secret.repeat(2)),
            ("Authorization: ", secret.to_owned()),
            ("\"auth\": \"", "bWU6aHVudGVyMg==".to_owned()),
            ("BUNDLE_GEMS__EXAMPLE__COM=", "01234567:89abcdef".to_owned()),
            ("Server=x;Uid=me;Pwd=", "hunter".to_owned()),
        ] {
            // A secret without a common prefix is masked completely.
            let (before, secret) = if before == "M" {
                ("", format!("M{secret}"))
            } else {
                (before, secret)
            };
            let text = format!("key \"{before}{secret}\" end");
            assert_eq!(
                masked(&text),
                (Some(format!("key \"{before}[masked]\" end")), 1),
                "{text}"
            );
        }
        for (text, rest) in [
            (
                "kind: Secret\nmetadata:\n  name: a\ndata:\n  key: aHVudGVy\n  b: eA==\n---",
                "data:[masked]\n---",
            ),
            (
                "data:\n  key: aHVudGVy\nkind: Secret\n---",
                "data:[masked]\n---",
            ),
            (
                r"kind: Secret\nstringData:\n  key: hunter\n---",
                r"stringData:[masked]\n---",
            ),
        ] {
            assert!(masked(text).0.unwrap().ends_with(rest), "{text}");
        }
        assert_eq!(masked("kind: ConfigMap\ndata:\n  key: plain\n").0, None);
        let pem =
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\nNza\n-----END OPENSSH PRIVATE KEY-----";
        assert_eq!(
            masked(&format!("a\n{pem}\nb")).0.unwrap(),
            "a\n-----BEGIN OPENSSH PRIVATE KEY-----[masked]\nb"
        );
        assert_eq!(
            masked(pem.split("-----END").next().unwrap()).1,
            1,
            "one that breaks off"
        );
        assert_eq!(
            masked("psql postgres://me:hunter2@db/x").0.as_deref(),
            Some("psql postgres://me:[masked]@db/x")
        );
        assert_eq!(
            masked("curl -H sk-ant-a…").0.as_deref(),
            Some("curl -H sk-[masked]")
        );
    }

    /// A quoted text is a value; an unquoted one may be code or a short word.
    #[test]
    fn quotes_tell_a_value_from_code() {
        for (name, value) in [
            ("password= ", "hunter"),
            ("password=> ", "hunter"),
            ("password: ", "correct!horse"),
            ("token = ", "abc12"),
            ("token: ", "abc12"),
            ("\"token\": ", "abc12"),
            ("ADMIN_PASSWORD=> ", "hunter"),
            ("STORAGE_KEY= ", "0123456789abcdefX"),
        ] {
            for quote in ["\"", "'", "\\\""] {
                let expected = format!("{name}{quote}[masked]{quote}");
                assert_eq!(
                    masked(&format!("{name}{quote}{value}{quote}")).0,
                    Some(expected)
                );
            }
            assert_eq!(masked(&format!("{name}{value} ")).0, None, "{name}{value}");
        }
        let next_line = r"DATABASE_PASSWORD=\nEXT_NAME=plain";
        assert_eq!(masked(next_line).0, None, "an escaped line end is no quote");
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "sk-loading-indicator-dots and sk-learn",
            "bearer authentication-is-required",
            "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
            "https://example.com:8080/a@b",
            "eyJust.some.words",
            "AKIAshort task-force-0123456789abcdef0",
            "a word [masked]",
            "max_tokens=4096 total_tokens: 123456 token_count=12345678",
            "password: string; token: Option<String>, secret: Vec<u8>",
            "const token = await getToken(); password = getpass.getpass()",
            "connect(password=settings.password, token=tokens[0])",
            "API_KEY=$API_KEY PASSWORD=${PASSWORD} TOKEN={{ token }} PASSWORD=<your password>",
            "api_key=os.environ[\"API_KEY1\"] token=process.env.TOKEN1",
            "API_KEY=your_api_key_1 password=changeme1 secret=xxxxxxxx1",
            "type=\"password\" name=\"password\" password: \"Password\"",
            "const STORAGE_KEY = 'limits-of-2024-and-on'; l2_pass=0.95; PWD=/home/me OLDPWD=/x1",
            "private_key: ed25519::Keypair, next token: refresh-token",
            "docker run -u 1000:1000 x; git push --token-file y1234567",
            "gAAAAABo-r8_0123456789abcdefghijABCDEFGHIJ",
            "sha512-0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ==",
            "0123456789abcdef0123456789abcdef01234567 01234567-89ab-cdef-0123-456789abcdef",
            "msg_0123456789abcdefABCDEFGH toolu_01ABCDEFGHIJKLMNOPQRSTUV call_0123456789abcdefABCDEFGH",
            "claude-sonnet-4-5-20250929 gpt-5.1-codex-2025-11-13 live_update_0123 test_0123456789abcdef",
            "kind: Secret is a word; data: 7; authorization: required-by-everybody",
        ] {
            assert_eq!(masked(text), (None, 0), "{text}");
        }
        for text in [
            "ghp_0123456789abcdefghij",
            "psql postgres://me:hunter2@db/x",
            "curl -u me:hunter2 x",
        ] {
            let once = masked(text).0.unwrap();
            assert_eq!(
                masked(&once),
                (None, 0),
                "what is masked is no secret any more"
            );
        }
    }

    #[test]
    fn a_secret_counts_once_wherever_it_stands() {
        let mut mask = Mask::default();
        for text in [
            "A=ghp_a1B2c3D4e5F6g7H8…",
            "A=ghp_a1B2c3D4e5F6g7H8i9J0k1L2 B=sk-ant-api03-0123456789",
            "again ghp_a1B2c3D4e5F6g7H8i9J0k1L2, sk-ant-api0…",
        ] {
            assert!(mask.apply(text).is_some(), "{text}");
        }
        assert_eq!(mask.count(), 2);
        assert!(mask.apply("ghp_z1B2c3D4e5F6g7H8i9J0k1L2").is_some());
        assert_eq!(mask.count(), 3);
    }

    #[test]
    fn colours_hide_no_secret() {
        let mut mask = Mask::default();
        let text = Text::output("x \u{1b}[31mghp_\u{1b}[0m0123456789abcdefghij");
        assert_eq!(mask.text(&text).as_deref(), Some("x ghp_[masked]"));
        assert_eq!(
            (mask.text(&Text::output("\u{1b}[31mred")), mask.count()),
            (None, 1)
        );
    }
}
