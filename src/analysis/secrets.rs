//! Keys, tokens and passwords by their known shapes, to be masked where a transcript leaves the machine.
//!
//! Invariant: of what is masked only the beginning stays that all of its kind share.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::model::text::{Text, without_sgr};

/// What stands for a secret.
const MASK: &str = "[masked]";

/// A kind of secret. What the first group matches stays.
struct Shape {
    pattern: &'static str,
    /// Words could have this shape, too; they have no digits.
    has_digits: bool,
}

const fn certain(pattern: &'static str) -> Shape {
    Shape { pattern, has_digits: false }
}

const fn likely(pattern: &'static str) -> Shape {
    Shape { pattern, has_digits: true }
}

const SHAPES: &[Shape] = &[
    // Private keys, also with their line ends written as `\n`, and such as break off.
    certain(
        r"(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----).*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    // Anthropic, OpenAI, OpenRouter and those that follow them.
    certain(r"\b(sk-ant-)[A-Za-z0-9_-]{8,}"),
    likely(r"\b(sk-(?:proj-|svcacct-|admin-|or-v1-|lf-)?)[A-Za-z0-9_-]{16,}"),
    // Groq, xAI, Perplexity, Hugging Face, Replicate.
    certain(r"\b(gsk_|xai-|pplx-|hf_|r8_)[A-Za-z0-9]{20,}"),
    // GitHub and GitLab.
    certain(r"\b(gh[opsur]_)[A-Za-z0-9]{16,}"),
    certain(r"\b(github_pat_)[A-Za-z0-9_]{16,}"),
    certain(r"\b(gl(?:pat|ptt|rt)-)[A-Za-z0-9_-]{16,}"),
    // Amazon.
    certain(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    certain(r#"(?i)(aws_?secret_?access_?key[\\"']{0,2}\s*[=:]\s*[\\"']{0,2})[A-Za-z0-9/+=]{40}"#),
    // Slack.
    certain(r"\b(xox[abceoprs]-|xapp-)[A-Za-z0-9-]{10,}"),
    // Google.
    certain(r"\b(AIza)[0-9A-Za-z_-]{30,}"),
    certain(r"\b(ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,}"),
    // Stripe, npm, PyPI, SendGrid.
    certain(r"\b([rs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{10,}"),
    certain(r"\b(npm_|pypi-|SG\.)[A-Za-z0-9_.-]{30,}"),
    // Bots of Telegram.
    certain(r"\b(\d{8,10}:)AA[A-Za-z0-9_-]{32,}"),
    // JSON Web Tokens.
    certain(r"\b(eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    // What is sent in a header.
    likely(r"(?i)\b((?:bearer|basic)[ \t]+)[A-Za-z0-9._~+/=-]{16,}"),
    // Passwords in addresses.
    certain(r"([a-z][a-z0-9+.-]*://[^/\s:@\\]*:)[^/\s@\\]{3,}@"),
    // What the viewer, or the agent, cut off in the middle.
    certain(
        r"\b(sk-|gh[opsur]_|github_pat_|glpat-|AKIA|ASIA|xox[abceoprs]-|AIza|eyJ)[A-Za-z0-9_.-]*(?:…|\.\.\.)\s*\z",
    ),
];

static PATTERNS: LazyLock<Vec<(Regex, bool)>> = LazyLock::new(|| {
    let compiled = SHAPES.iter().map(|shape| (Regex::new(shape.pattern), shape.has_digits));
    compiled.filter_map(|(pattern, has_digits)| Some((pattern.ok()?, has_digits))).collect()
});

/// Masks secrets, and counts them.
#[derive(Debug, Default)]
pub(crate) struct Mask {
    /// Those that were masked so far: one stands in several texts, such as the beginning of what it stands in, and
    /// there it may be cut off.
    found: BTreeSet<String>,
}

impl Mask {
    /// How many were masked so far, each of them once.
    pub(crate) fn count(&self) -> usize {
        let next = self.found.iter().skip(1).map(Some).chain([None]);
        let is_begin = |(secret, next): &(&String, Option<&String>)| {
            next.is_some_and(|next| next.starts_with(secret.as_str()))
        };
        self.found.iter().zip(next).filter(|pair| !is_begin(pair)).count()
    }

    /// The text without its secrets; nothing if none was found.
    pub(crate) fn apply(&mut self, text: &str) -> Option<String> {
        let mut masked = Cow::Borrowed(text);
        for (pattern, has_digits) in PATTERNS.iter() {
            let mut has_found = false;
            let replaced = pattern.replace_all(&masked, |secret: &Captures<'_>| {
                let whole = secret.get(0).map_or("", |whole| whole.as_str());
                let kept = secret.get(1).map_or("", |kept| kept.as_str());
                let hidden = whole.strip_prefix(kept).unwrap_or(whole);
                if hidden.starts_with(MASK)
                    || *has_digits && !hidden.bytes().any(|byte| byte.is_ascii_digit())
                {
                    return whole.to_owned();
                }
                has_found = true;
                self.found.insert(whole.trim_end().trim_end_matches(['…', '.']).to_owned());
                let end = if hidden.ends_with('@') { "@" } else { "" };
                format!("{kept}{MASK}{end}")
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

    /// As [`Mask::apply`] for a text of a session. Colours can stand in the midst of a secret, so a text with
    /// one loses them.
    pub(crate) fn text(&mut self, text: &Text) -> Option<Text> {
        self.apply(&without_sgr(text)).map(|masked| Text::clean(&masked))
    }

    /// What is to be said in the end.
    pub(crate) fn words(&self) -> String {
        match self.count() {
            0 => "nothing masked: no known shape of a key or token was found".to_owned(),
            1 => "1 key or token masked; only known shapes are found".to_owned(),
            count => format!("{count} keys or tokens masked; only known shapes are found"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mask, PATTERNS, SHAPES};
    use crate::model::text::Text;

    fn masked(text: &str) -> (Option<String>, usize) {
        let mut mask = Mask::default();
        (mask.apply(text), mask.count())
    }

    #[test]
    fn every_shape_is_found_and_only_its_beginning_stays() {
        assert_eq!(PATTERNS.len(), SHAPES.len(), "all patterns are well formed");
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
            ("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl".to_owned()),
            ("Authorization: Bearer ", secret.to_owned()),
            ("12345678:", format!("AA{secret}")),
            ("AWS_SECRET_ACCESS_KEY=", format!("{secret}AAAA")),
        ] {
            let text = format!("key \"{before}{secret}\" end");
            assert_eq!(masked(&text), (Some(format!("key \"{before}[masked]\" end")), 1), "{text}");
        }
        let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\nNza\n-----END OPENSSH PRIVATE KEY-----";
        assert_eq!(
            masked(&format!("a\n{pem}\nb")).0.unwrap(),
            "a\n-----BEGIN OPENSSH PRIVATE KEY-----[masked]\nb"
        );
        assert_eq!(masked(pem.split("-----END").next().unwrap()).1, 1, "one that breaks off");
        assert_eq!(
            masked("psql postgres://me:hunter2@db/x").0.as_deref(),
            Some("psql postgres://me:[masked]@db/x")
        );
        assert_eq!(masked("curl -H sk-ant-a…").0.as_deref(), Some("curl -H sk-[masked]"));
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
        ] {
            assert_eq!(masked(text), (None, 0), "{text}");
        }
        let once = masked("ghp_0123456789abcdefghij").0.unwrap();
        assert_eq!(masked(&once), (None, 0), "what is masked is no secret any more");
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
        assert_eq!((mask.text(&Text::output("\u{1b}[31mred")), mask.count()), (None, 1));
    }
}
