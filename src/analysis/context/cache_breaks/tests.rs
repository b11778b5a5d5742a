//! Every cause, what is no break, and what breaks cost.

use super::{Between, Cache, CacheBreak, CacheUse, Cause};
use crate::model::entry::EntryId;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

const MINUTE: i64 = 60_000;

/// A request after so many minutes: tokens of input, read, written.
fn asked(minutes: i64, [input, read, write]: [u64; 3]) -> CacheUse {
    CacheUse {
        model: Some(Text::from("claude-opus-4-6")),
        at: Some(Timestamp(1_700_000_000_000 + minutes * MINUTE)),
        prompt: input + read + write,
        read,
        write,
        write_1h: 0,
    }
}

fn new_turn() -> Between {
    Between {
        turn: true,
        ..Between::default()
    }
}

/// The second of two requests, the first of which wrote 100,000 tokens after reading 20,000.
fn second(now: CacheUse, between: &Between) -> Option<CacheBreak> {
    let mut cache = Cache::default();
    assert_eq!(
        cache.add_request(asked(0, [3, 20_000, 100_000]), &new_turn()),
        None,
        "the first has nothing to read"
    );
    cache.add_request(now, between)
}

fn cause(now: CacheUse, between: &Between) -> Cause {
    second(now, between).expect("a break").cause
}

const LOST: [u64; 3] = [3, 0, 121_000];
const SOME: [u64; 3] = [3, 20_000, 101_000];

#[test]
fn what_was_left_in_the_cache_and_is_read_is_no_break() {
    assert_eq!(second(asked(1, [3, 120_000, 900]), &new_turn()), None);
    assert_eq!(
        second(asked(4_000, [3, 120_000, 900]), &new_turn()),
        None,
        "however late"
    );
    // What stood behind the last mark was never in the cache.
    let mut cache = Cache::default();
    cache.add_request(asked(0, [50_000, 0, 10_000]), &new_turn());
    assert_eq!(
        cache.add_request(asked(1, [40_000, 10_000, 11_000]), &Between::default()),
        None
    );
}

#[test]
fn a_few_tokens_less_are_no_break() {
    assert_eq!(second(asked(1, [3, 119_000, 1_900]), &new_turn()), None);
    assert!(
        second(asked(1, [3, 118_976, 1_900]), &new_turn()).is_some(),
        "1,024 are"
    );
}

#[test]
fn a_provider_that_does_not_cache_has_no_breaks() {
    let mut cache = Cache::default();
    for minute in 0..9 {
        assert_eq!(
            cache.add_request(asked(minute * 90, [50_000, 0, 0]), &new_turn()),
            None
        );
    }
}

#[test]
fn without_writes_all_of_the_prompt_may_be_read() {
    let mut cache = Cache::default();
    cache.add_request(asked(0, [40_000, 0, 0]), &new_turn());
    assert_eq!(
        cache.add_request(asked(1, [5_000, 38_912, 0]), &Between::default()),
        None,
        "an incomplete block"
    );
    let found = cache
        .add_request(asked(2, [34_000, 10_240, 0]), &Between::default())
        .unwrap();
    assert_eq!(
        (found.cached, found.repaid, found.cause),
        (43_912, 33_672, Cause::Unknown)
    );
    assert!(!found.is_written && found.is_inside);
    // $5 a million as input, $0.50 from the cache.
    assert!(
        (found.usd.unwrap() - 33_672.0 * 4.5 / 1e6).abs() < 1e-9,
        "{:?}",
        found.usd
    );
}

#[test]
fn a_prompt_that_is_read_whole_is_no_break_however_small() {
    assert_eq!(second(asked(1, [14, 12_000, 0]), &new_turn()), None);
}

#[test]
fn idle_is_judged_by_the_tier_that_was_written_last() {
    let idle = |minutes, write_1h| {
        let mut cache = Cache::default();
        cache.add_request(
            CacheUse {
                write_1h,
                ..asked(0, [3, 20_000, 100_000])
            },
            &new_turn(),
        );
        cache
            .add_request(asked(minutes, LOST), &new_turn())
            .expect("a break")
            .cause
    };
    assert_eq!(
        idle(7, 0),
        Cause::Idle {
            ms: 7 * 60_000,
            lifetime: 300_000
        }
    );
    assert_eq!(idle(4, 0), Cause::Unknown);
    assert_eq!(idle(7, 100_000), Cause::Unknown, "an hour has not passed");
    assert_eq!(
        idle(61, 100_000),
        Cause::Idle {
            ms: 61 * 60_000,
            lifetime: 3_600_000
        }
    );
    // The cache had not run out if most of it was read.
    assert_eq!(
        cause(asked(7, [3, 90_000, 31_000]), &new_turn()),
        Cause::History
    );
    // What other sessions use, too, is kept for them.
    assert!(matches!(
        cause(asked(7, SOME), &new_turn()),
        Cause::Idle { .. }
    ));
}

#[test]
fn what_happened_between_is_the_cause() {
    let id = Some(EntryId(7));
    let now = || asked(1, SOME);
    let between = Between {
        compaction: id,
        ..new_turn()
    };
    assert_eq!(
        cause(asked(1, [3, 20_000, 9_000]), &between),
        Cause::Compaction
    );
    assert_eq!(
        cause(
            now(),
            &Between {
                rewind: true,
                ..new_turn()
            }
        ),
        Cause::Rewind
    );
    assert_eq!(
        cause(
            now(),
            &Between {
                resumed: id,
                ..new_turn()
            }
        ),
        Cause::Resumed
    );
    assert_eq!(
        cause(
            now(),
            &Between {
                thinking: id,
                ..new_turn()
            }
        ),
        Cause::Thinking
    );
    assert_eq!(
        cause(
            now(),
            &Between {
                pruned: id,
                ..new_turn()
            }
        ),
        Cause::Pruned { is_recorded: true }
    );
    let between = Between {
        instructions: id,
        ..new_turn()
    };
    assert_eq!(
        cause(now(), &between),
        Cause::Instructions { is_recorded: true }
    );
}

#[test]
fn another_model_has_another_cache() {
    let other = |name| CacheUse {
        model: Some(Text::from(name)),
        ..asked(9, LOST)
    };
    assert_eq!(cause(other("claude-sonnet-4-5"), &new_turn()), Cause::Model);
    assert!(matches!(
        cause(other("anthropic/claude-opus-4.6"), &new_turn()),
        Cause::Idle { .. }
    ));
}

#[test]
fn how_much_of_the_beginning_was_read_shows_what_changed() {
    assert_eq!(
        cause(asked(1, SOME), &new_turn()),
        Cause::History,
        "system prompt and tools were read"
    );
    let less = cause(asked(1, [3, 9_000, 112_000]), &new_turn());
    assert_eq!(less, Cause::Instructions { is_recorded: false });
    assert_eq!(cause(asked(1, LOST), &new_turn()), Cause::Unknown);
    let shorter = cause(asked(1, [3, 20_000, 60_000]), &new_turn());
    assert_eq!(shorter, Cause::Pruned { is_recorded: false });
}

#[test]
fn breaks_within_turns_are_marked() {
    assert!(
        second(asked(1, SOME), &Between::default())
            .unwrap()
            .is_inside
    );
    assert!(!second(asked(1, SOME), &new_turn()).unwrap().is_inside);
}

#[test]
fn a_break_costs_what_is_paid_more_than_for_reading() {
    // $6.25 a million for five minutes, $10 for an hour, $0.50 from the cache.
    let found = second(asked(1, SOME), &new_turn()).unwrap();
    assert_eq!(
        (found.repaid, found.cached - found.read, found.is_written),
        (100_000, 100_000, true)
    );
    assert!((found.usd.unwrap() - 0.575).abs() < 1e-9, "{:?}", found.usd);
    let long = CacheUse {
        write_1h: 101_000,
        ..asked(1, SOME)
    };
    assert!((second(long, &new_turn()).unwrap().usd.unwrap() - 0.95).abs() < 1e-9);
    // What a compaction dropped is not paid again.
    let small = second(asked(1, [3, 20_000, 9_000]), &new_turn()).unwrap();
    assert_eq!((small.cached - small.read, small.repaid), (100_000, 9_003));
    let unknown = CacheUse {
        model: Some(Text::from("unheard-of-5")),
        ..asked(1, SOME)
    };
    assert_eq!(
        second(unknown, &new_turn()).unwrap().usd,
        None,
        "an unknown price is not 0"
    );
}
