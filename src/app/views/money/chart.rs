//! The chart of a session's cumulative cost: bars that grow from charge to charge.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::render::glyphs::Glyphs;

/// A bar of the chart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bar {
    /// Height from 0 to 1.
    pub(crate) height: f64,
    /// Whether it includes a charge of the chosen row.
    pub(crate) is_chosen: bool,
}

/// Computes the bars of a running sum, one per column of terms. Terms are costs of charges in file
/// order, in pico-dollars; the sum may fall where a run corrects its requests.
pub(crate) fn bars(terms: &[(i128, bool)], width: usize) -> Vec<Bar> {
    let columns = width.min(terms.len().max(1)).max(1);
    let stretch = if terms.len() < width {
        (width / terms.len().max(1)).clamp(1, WIDEST)
    } else {
        1
    };
    let mut sum = 0_i128;
    let mut ends: Vec<(i128, bool)> = vec![(0, false); columns];
    for (number, (term, is_chosen)) in terms.iter().enumerate() {
        sum += term;
        let column = number * columns / terms.len().max(1);
        if let Some(end) = ends.get_mut(column) {
            *end = (sum, end.1 || *is_chosen);
        }
    }
    let most = ends.iter().map(|(sum, _)| *sum).max().unwrap_or(0);
    let height = |sum: i128| {
        if most > 0 {
            (sum as f64 / most as f64).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let bar = |(sum, is_chosen): (i128, bool)| Bar {
        height: height(sum),
        is_chosen,
    };
    ends.into_iter()
        .flat_map(|end| std::iter::repeat_n(bar(end), stretch))
        .collect()
}

/// Maximum width of a bar in columns, so that few bars do not become walls.
const WIDEST: usize = 4;

/// Draws bars with a height of `lines`, the top line first.
pub fn lines(
    bars: &[Bar],
    lines: usize,
    glyphs: &Glyphs,
    (chosen, rest): (Style, Style),
) -> Vec<Line<'static>> {
    let steps = glyphs.chart.ramp.len();
    let line = |from_below: usize| {
        let cell = |bar: &Bar| {
            let sign = glyphs
                .chart
                .ramp
                .get(level(bar.height, lines, from_below, steps).wrapping_sub(1));
            (sign.copied().unwrap_or(" "), bar.is_chosen)
        };
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut run = (String::new(), false);
        for (sign, is_chosen) in bars.iter().map(cell) {
            if is_chosen != run.1 && !run.0.is_empty() {
                spans.push(Span::styled(
                    std::mem::take(&mut run.0),
                    if run.1 { chosen } else { rest },
                ));
            }
            run.1 = is_chosen;
            run.0.push_str(sign);
        }
        spans.push(Span::styled(run.0, if run.1 { chosen } else { rest }));
        Line::from(spans)
    };
    (0..lines).rev().map(line).collect()
}

/// The fill level of a cell of a bar, in steps. Any height above 0 shows at least the lowest step.
fn level(height: f64, lines: usize, from_below: usize, steps: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and the cells of a screen"
    )]
    let filled = (height.clamp(0.0, 1.0) * (lines * steps) as f64).round() as usize;
    let least = usize::from(from_below == 0);
    filled
        .saturating_sub(from_below * steps)
        .min(steps)
        .max(least)
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::{bars, lines};
    use crate::render::glyphs::Glyphs;

    fn drawn(terms: &[i128], width: usize, height: usize, glyphs: &Glyphs) -> Vec<String> {
        let terms: Vec<(i128, bool)> = terms.iter().map(|term| (*term, false)).collect();
        let style = (Style::new(), Style::new());
        lines(&bars(&terms, width), height, glyphs, style)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn the_curve_is_a_running_sum() {
        assert_eq!(drawn(&[1; 8], 8, 1, &Glyphs::UNICODE), ["▁▂▃▄▅▆▇█"]);
        assert_eq!(
            drawn(&[0, 0, 6, 0, 2, 0, 0, 0], 8, 1, &Glyphs::UNICODE),
            ["▁▁▆▆████"]
        );
        assert_eq!(
            drawn(&[1, 1, 1, 1], 4, 2, &Glyphs::UNICODE),
            ["  ▄█", "▄███"]
        );
        assert_eq!(drawn(&[1; 100], 4, 1, &Glyphs::UNICODE), ["▂▄▆█"]);
        assert_eq!(drawn(&[1, 1], 40, 1, &Glyphs::UNICODE), ["▄▄▄▄████"]);
        assert_eq!(drawn(&[4, -2], 8, 1, &Glyphs::UNICODE), ["████▄▄▄▄"]);
        assert_eq!(drawn(&[], 8, 1, &Glyphs::UNICODE), ["▁▁▁▁"]);
        assert_eq!(drawn(&[0, 0], 2, 1, &Glyphs::ASCII), ["__"]);
    }

    #[test]
    fn the_chosen_part_stands_out() {
        let terms = [(1, false), (1, true), (1, true), (1, false)];
        let lines = lines(
            &bars(&terms, 4),
            1,
            &Glyphs::UNICODE,
            (Style::new().bold(), Style::new()),
        );
        let parts: Vec<&str> = lines[0]
            .spans
            .iter()
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(parts, ["▂", "▄▆", "█"]);
    }
}
