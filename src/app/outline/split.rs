//! Division of the pane's lines among sections, and scrolling within a section.

use super::row::PARTS;

/// The first visible row: unchanged, unless the held row would be out of sight; then the held row
/// is in the middle.
pub(crate) fn scrolled(top: usize, held: Option<usize>, lines: usize, total: usize) -> usize {
    let is_in_sight = |held: usize| (top..top + lines).contains(&held);
    let top = match held.filter(|held| !is_in_sight(*held)) {
        // A step beyond the edge scrolls by one.
        Some(held) if held + 1 == top => held,
        Some(held) if held == top + lines => top + 1,
        Some(held) => held.saturating_sub(lines / 2),
        None => top,
    };
    top.min(total.saturating_sub(lines))
}

/// Divides the lines among sections with these numbers of rows; each has a heading, and a blank
/// line above it. Turns get up to half, the others share the rest. Sections without room for two
/// rows are omitted, the last first.
pub(crate) fn split_lines(height: usize, totals: [usize; PARTS]) -> [usize; PARTS] {
    let mut totals = totals;
    loop {
        let shown = totals.iter().filter(|total| **total > 0).count();
        if shown == 0 {
            return totals;
        }
        let needed: usize = totals.iter().map(|total| (*total).min(2)).sum();
        let taken = 2 * shown - 1;
        if shown > 1 && taken + needed > height {
            if let Some(last) = totals.iter_mut().rfind(|total| **total > 0) {
                *last = 0;
            }
            continue;
        }
        return distribute(height.saturating_sub(taken), totals);
    }
}

fn distribute(mut left: usize, totals: [usize; PARTS]) -> [usize; PARTS] {
    let mut given = [0; PARTS];
    if let (Some(turns), Some(total)) = (given.first_mut(), totals.first()) {
        *turns = left.div_ceil(2).min(*total);
        left -= *turns;
    }
    while left > 0 {
        let before = left;
        for (lines, total) in given.iter_mut().zip(totals).skip(1) {
            if left > 0 && *lines < total {
                *lines += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    if let (Some(turns), Some(total)) = (given.first_mut(), totals.first()) {
        *turns = (*turns + left).min(*total);
    }
    given
}

#[cfg(test)]
mod tests {
    use super::{scrolled, split_lines};

    #[test]
    fn sections_share_the_pane() {
        assert_eq!(
            split_lines(20, [40, 0, 0, 0, 0, 0, 0]),
            [19, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(
            split_lines(37, [14, 0, 0, 2, 4, 3, 0]),
            [14, 0, 0, 2, 4, 3, 0]
        );
        let [turns, _, _, branches, checks, files, agents] =
            split_lines(37, [400, 0, 0, 30, 6, 90, 12]);
        assert_eq!(turns + branches + checks + files + agents + 9, 37);
        assert!(turns >= 14 && branches >= 3 && checks >= 3 && files >= 3 && agents >= 3);
        assert_eq!(
            split_lines(8, [400, 0, 0, 30, 6, 90, 12]),
            [3, 0, 0, 2, 0, 0, 0]
        );
        assert_eq!(split_lines(0, [4, 0, 0, 0, 0, 0, 0]), [0; 7]);
    }

    #[test]
    fn a_section_scrolls_no_more_than_it_must() {
        assert_eq!(scrolled(0, Some(3), 10, 40), 0);
        assert_eq!(scrolled(0, Some(10), 10, 40), 1);
        assert_eq!(scrolled(5, Some(4), 10, 40), 4);
        assert_eq!(scrolled(0, Some(30), 10, 40), 25);
        assert_eq!(scrolled(30, None, 10, 12), 2);
    }
}
