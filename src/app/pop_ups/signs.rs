//! The marks and signs of all screens with their meanings; a part of the help.

use crate::render::theme::Theme;

/// Groups of signs, with the meaning of each.
pub(crate) fn signs(theme: &Theme) -> Vec<(String, &'static str)> {
    let glyphs = theme.glyphs();
    let (outcome, lane, time, chart) = (&glyphs.outcome, &glyphs.lane, &glyphs.time, &glyphs.chart);
    let (at_least, at_most) = if theme.ascii {
        (">=", "<=")
    } else {
        ("\u{2265}", "\u{2264}")
    };
    let spine = &glyphs.spine;
    let of = |signs: &[&str], words| (signs.join(" "), words);
    vec![
        of(&[outcome.done, outcome.failed], "ended well, failed"),
        of(&[outcome.refused, outcome.lost], "refused, lost"),
        of(&[outcome.running, time.goes_on], "runs"),
        of(&[outcome.waits, outcome.left], "waits, idle or left"),
        of(&["!"], "a finding: failures"),
        of(&["~$"], "estimated by prices"),
        of(&["$1+", at_least], "at least so much"),
        of(&["$?", "?", at_most], "unknown, at most"),
        of(&[glyphs.rising, glyphs.falling], "tokens in, out"),
        of(&["5m", "1h"], "cache kept so long"),
        of(&["p50", "p95"], "% are less"),
        of(&["6+60"], "failures, other errors"),
        of(&["bad"], "unread records"),
        of(&["96%"], "place in the session"),
        of(&[glyphs.times], "so many times"),
        of(&["r", "e", "w"], "read, edited, wrote"),
        of(&[glyphs.compacted], "compaction"),
        of(&[glyphs.closed, glyphs.open], "closed, open"),
        of(&[glyphs.goes_on, glyphs.cut], "goes on, is cut"),
        of(&[lane.opens, lane.closes, lane.waits], "call, end, no end"),
        of(
            &[spine.window, spine.prompt, spine.mark],
            "sight, prompt, mark",
        ),
        of(&[spine.failure, glyphs.hit], "map: failure, hit"),
        of(&[time.path, time.beside], "waited for, or not"),
        of(&[time.human, time.idle, time.gap], "you, nobody, cut out"),
        of(&[time.model_beside, time.delivery], "model beside, told"),
        of(&[chart.fixed, chart.said], "context: fixed, said"),
        of(&[chart.model, chart.result], "model, results"),
    ]
}
