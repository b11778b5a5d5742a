//! Which sessions a database holds, when it was opened and the reader has to choose one.

use std::io::Write;

use super::outcome::Trouble;
use super::reading::shown;
use crate::ingest::{self, SessionHead, Target};
use crate::model::figures::{count, duration};
use crate::model::moment::Moment;
use crate::model::text::Text;
use crate::render::wrap;

/// Columns of a title.
const TITLE: usize = 48;

/// Lists the sessions of a database of several. Answers whether that was done: of one session, or when
/// one is named, there is nothing to choose.
pub fn write(target: &Target, now: Moment, out: &mut dyn Write) -> Result<bool, Trouble> {
    let heads = ingest::choices(target)?;
    if heads.len() < 2 {
        return Ok(false);
    }
    let told: Vec<[String; 4]> = heads.iter().map(|head| columns(head, now)).collect();
    let widest = |column: usize| {
        told.iter().filter_map(|row| row.get(column)).map(|cell| wrap::width(cell)).max().unwrap_or(0)
    };
    for [id, title, age, messages] in &told {
        let line = [(id, 0), (title, 1), (age, 2)]
            .map(|(cell, column)| format!("{cell}{}", " ".repeat(widest(column) - wrap::width(cell))));
        writeln!(out, "{}", format!("{}  {messages}", line.join("  ")).trim_end())?;
    }
    let path = shown(&target.path);
    writeln!(out, "\n{}; open one with: tv '{path}#ID'", count(heads.len() as u64, "session"))?;
    Ok(true)
}

fn columns(head: &SessionHead, now: Moment) -> [String; 4] {
    let title = head.title.as_ref().map(Text::as_str).or(head.key.as_deref()).unwrap_or_default();
    let title = Text::stub(title.lines().next().unwrap_or_default(), TITLE).to_string();
    let age = head.updated.map(|at| format!("{} ago", age(now.since(at)))).unwrap_or_default();
    let messages = head.messages.map(|messages| count(messages, "message")).unwrap_or_default();
    [Text::clean(&head.id).to_string(), title, age, messages]
}

/// The largest part of a duration is enough: `3d04h` becomes `3d`.
fn age(ms: u64) -> String {
    let exact = duration(ms);
    let end = exact.find(|c: char| c.is_ascii_alphabetic() || c == '.').unwrap_or(exact.len());
    let number = exact.get(..end).unwrap_or_default();
    let unit = match ms {
        0..60_000 => "s",
        60_000..3_600_000 => "m",
        3_600_000..86_400_000 => "h",
        _ => "d",
    };
    format!("{number}{unit}")
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_have_one_unit() {
        let told = [0, 41_200, 112_000, 7_500_000, 200_000_000].map(age);
        assert_eq!(told, ["0s", "41s", "1m", "2h", "2d"]);
    }
}
