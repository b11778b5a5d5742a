//! Bars, figures and names of rows.

use super::row::token_words;
use super::{percent, row};
use crate::analysis::context::window::TokenCount;
use crate::render::theme::Theme;

#[test]
fn only_what_is_recorded_stands_without_a_sign() {
    let figure = |is_recorded| {
        Some(TokenCount {
            tokens: 148_000,
            is_recorded,
        })
    };
    assert_eq!(
        [
            token_words(figure(true)),
            token_words(figure(false)),
            token_words(None)
        ],
        ["148k", "~148k", "?"]
    );
}

#[test]
fn only_all_is_a_hundred_percent() {
    assert_eq!(
        [percent(999, 1_000), percent(1_000, 1_000), percent(0, 0)],
        [99, 100, 0]
    );
}

#[test]
fn the_legend_names_every_sign_of_the_bars() {
    for theme in [
        Theme::dark(),
        Theme {
            ascii: true,
            ..Theme::dark()
        },
    ] {
        let legend = row::legend(180, &theme).to_string();
        let glyphs = theme.glyphs();
        let flags = [
            glyphs.chart.fixed,
            glyphs.chart.said,
            glyphs.chart.model,
            glyphs.chart.result,
        ];
        for (place, sign) in flags.iter().enumerate() {
            assert!(legend.contains(&sign.repeat(2)), "{legend}");
            assert!(
                !flags.iter().take(place).any(|other| other == sign),
                "{sign} has two meanings"
            );
        }
        assert!(legend.contains("estimates"));
    }
}
